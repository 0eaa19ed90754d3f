"""Bad weights files with correct lengths and a correct hash.

Nearly every other change would be refused because of a wrong hash, and the code behind the check of
the hash would never run.
"""

import json
import struct

import safetensors.torch

from streamplace.policy.tensor_files import METADATA_KEY
from streamplace.policy.weights import packed

MAX_BYTES = 2**20  # of tensors


def with_valid_hash(data: bytes) -> bytes:
    """Return a safetensors file with a correct length and hash, given the bytes after the length.

    Parameters
    ----------
    data
        A header as JSON, and the bytes of tensors, which may be too few or too many. For any other
        data, only the length is correct.
    """
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
        file = _file(text[:end].encode("latin-1"), body)
        metadata = dict(header[METADATA_KEY])
        metadata.pop("sha256", None)
        return packed(safetensors.torch.load(file), metadata)
    except Exception:  # any error: the reader must report what is wrong
        return _file(data, b"")


def _file(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body
