"""Files of a reader as a fuzzer's inputs, and back.

Where a reader takes files of several names, the first byte of an input says which. A file that
carries a hash is an input without it, so that what is behind the hash is reached.
"""

from benchmarks.hardening.parsers import Parser
from benchmarks.hardening.spoiling import Document

SIGNED = ".safetensors"


def names_of(parser: Parser) -> list[str]:
    """Return the names that files of a reader have."""
    return sorted({document.name for document in parser.documents()})


def input_of(names: list[str], document: Document) -> bytes:
    """Return a file as an input."""
    data = document.data[8:] if document.name.endswith(SIGNED) else document.data
    return bytes([names.index(document.name)] * (len(names) > 1)) + data


def document_of(names: list[str], data: bytes) -> Document:
    """Return the file that an input stands for; every input does."""
    name = names[0]
    if len(names) > 1:
        name, data = names[data[0] % len(names) if data else 0], data[1:]
    if name.endswith(SIGNED):
        from benchmarks.hardening.signing import signed  # noqa: PLC0415 - torch is heavy

        data = signed(data)
    return Document(name, data)
