"""Changes of a valid document's encoding, line ends, and padding."""

import gzip
from collections.abc import Callable

ENCODINGS: tuple[Callable[[bytes], bytes], ...] = (
    *(lambda d: _text(d).encode("utf-16"), lambda d: _text(d).encode("utf-16-le")),
    *(lambda d: _text(d).encode("utf-32"), lambda d: _text(d).encode("utf-7")),
    *(
        lambda d: _text(d).replace("a", "\xe4").encode("latin-1", "replace"),
        lambda d: gzip.compress(d, mtime=0),
    ),
    *(lambda d: b"\xef\xbb\xbf" + d, lambda d: b"\xef\xbb\xbf" * 2 + d),
    *(lambda d: d.replace(b"a", b"\xed\xa0\x80"), lambda d: d.replace(b"a", b"\xc0\xaf")),
    *(lambda d: d.replace(b"\n", b"\r"), lambda d: d.replace(b" ", b"\xc2\xa0")),
    *(lambda d: d + b"\0" * 1000, lambda d: b"\0" + d, lambda d: d.replace(b"a", b"\0")),
)
"""Functions that encode a valid document in another way."""


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
