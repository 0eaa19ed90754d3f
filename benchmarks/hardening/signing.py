"""Bad files of weights made whole again but for what is bad: lengths and hash are what they hold.

Without it nearly every change ends at the hash, and what is behind it is never read.
"""

import json
import struct

import safetensors.torch

from streamplace.policy.weights import WORDS, packed

MOST_BYTES = 2**20  # that tensors may claim here


def signed(data: bytes) -> bytes:
    """Return what follows the length in a file of safetensors as a file, with a hash that is right.

    Parameters
    ----------
    data
        JSON of a header, and the bytes of tensors, of which any number may be missing or too many.
        What is no header becomes a file as it is, of a length that is right.
    """
    text = data.decode("latin-1")
    try:
        header, end = json.JSONDecoder().raw_decode(text)
        claimed = max(
            (one["data_offsets"][1] for name, one in header.items() if name != WORDS),
            default=0,
        )
        begin = end + -end % 8  # of tensors, where spaces are between
        begin = end if data[end:begin].strip() else begin
        body = data[begin : begin + claimed].ljust(min(claimed, MOST_BYTES), b"\0")
        whole = _file(text[:end].encode("latin-1"), body)
        words = dict(header[WORDS])
        words.pop("sha256", None)
        return packed(safetensors.torch.load(whole), words)
    except Exception:  # of many kinds: whatever is wrong with it, the reader is to say so
        return _file(data, b"")


def _file(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body
