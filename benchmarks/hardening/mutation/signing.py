"""Bad files of weights with correct lengths and a correct hash.

Without them nearly every change would be refused for its hash, and the code behind that check would
not be reached.
"""

import json
import struct

import safetensors.torch

from streamplace.policy.signed_tensors import METADATA_KEY, packed

MOST_BYTES = 2**20  # of tensors


def signed(data: bytes) -> bytes:
    """Return a safetensors file with a correct length and hash, given the bytes after the length.

    Parameters
    ----------
    data
        A header as JSON, and the bytes of tensors, which may be too few or too many. Other data
        becomes a file with a correct length alone.
    """
    text = data.decode("latin-1")
    try:
        header, end = json.JSONDecoder().raw_decode(text)
        claimed = max(
            (one["data_offsets"][1] for name, one in header.items() if name != METADATA_KEY),
            default=0,
        )
        begin = end + -end % 8  # of tensors, behind padding
        begin = end if data[end:begin].strip() else begin
        body = data[begin : begin + claimed].ljust(min(claimed, MOST_BYTES), b"\0")
        whole = _file(text[:end].encode("latin-1"), body)
        words = dict(header[METADATA_KEY])
        words.pop("sha256", None)
        return packed(safetensors.torch.load(whole), words)
    except Exception:  # of any kind; reporting it is the reader's task
        return _file(data, b"")


def _file(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body
