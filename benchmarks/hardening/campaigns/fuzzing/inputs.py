"""Conversion between the files of a reader and the inputs of a fuzzer.

If a reader has files of several names, the first byte of an input selects the name. The input for a
file with a hash leaves out the length in its first 8 bytes. The file for such an input gets a
correct length and hash, so that the code behind the check of the hash is reached.
"""

from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.targets.parsers import Parser

HASHED_SUFFIX = ".safetensors"
LENGTH_BYTES = 8  # before the header of a safetensors file


def names_of(parser: Parser) -> list[str]:
    """Return the names of a reader's files."""
    return sorted({document.name for document in parser.documents()})


def input_of(names: list[str], document: Document) -> bytes:
    """Return a file as an input."""
    data = document.data[LENGTH_BYTES:] if document.name.endswith(HASHED_SUFFIX) else document.data
    return bytes([names.index(document.name)] * (len(names) > 1)) + data


def document_of(names: list[str], data: bytes) -> Document:
    """Return the file of an input; every input corresponds to a file."""
    name = names[0]
    if len(names) > 1:
        name, data = names[data[0] % len(names) if data else 0], data[1:]
    if name.endswith(HASHED_SUFFIX):
        from benchmarks.hardening.mutation.valid_hashes import with_valid_hash  # noqa: PLC0415 - torch is heavy

        data = with_valid_hash(data)
    return Document(name, data)
