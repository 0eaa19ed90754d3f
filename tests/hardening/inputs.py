"""Conversion between files and the inputs of a fuzzer.

If a reader has files of several names, the first byte of an input selects the name. The input for a
file of weights leaves out the length in its first 8 bytes, and the file for such an input gets a
correct length and hash, so that the code behind the check of the hash is reached.
"""

import json
import struct

from tests.corpus.document import Document

HASHED = ".safetensors"
LENGTH_BYTES = 8  # before the header of a safetensors file
MAX_BYTES = 2**20  # of tensors


def names_of(documents: tuple[Document, ...]) -> list[str]:
    """Return the names of files."""
    return sorted({document.name for document in documents})


def input_of(names: list[str], document: Document) -> bytes:
    """Return a file as an input."""
    data = document.data[LENGTH_BYTES:] if document.name.endswith(HASHED) else document.data
    return bytes([names.index(document.name)] * (len(names) > 1)) + data


def document_of(names: list[str], data: bytes) -> Document:
    """Return the file of an input; every input is one of a file."""
    name = names[0]
    if len(names) > 1:
        name, data = names[data[0] % len(names) if data else 0], data[1:]
    return Document(name, with_valid_hash(data) if name.endswith(HASHED) else data)


def with_valid_hash(data: bytes) -> bytes:
    """Return a safetensors file with a correct length and hash, given the bytes after the length.

    Parameters
    ----------
    data
        A header as JSON, and the bytes of tensors, which may be too few or too many. For any other
        data, only the length is correct.
    """
    import safetensors.torch  # noqa: PLC0415 - torch is heavy

    from streamplace.learning.policy.tensor_files import METADATA_KEY  # noqa: PLC0415
    from streamplace.learning.policy.weights import pack_tensors  # noqa: PLC0415

    text = data.decode("latin-1")
    try:
        header, end = json.JSONDecoder().raw_decode(text)
        claimed = max(
            (one["data_offsets"][1] for name, one in header.items() if name != METADATA_KEY),
            default=0,
        )
        begin = end + -end % 8  # of the tensors, after padding
        begin = end if data[end:begin].strip() else begin
        body = data[begin : begin + claimed].ljust(min(claimed, MAX_BYTES), b"\0")
        metadata = dict(header[METADATA_KEY])
        metadata.pop("sha256", None)
        file = _file(text[:end].encode("latin-1"), body)
        return pack_tensors(safetensors.torch.load(file), metadata)
    except Exception:  # any error: the reader must report what is wrong
        return _file(data, b"")


def _file(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body
