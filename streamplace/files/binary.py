"""Binary files, recognised where text is expected."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE

ZIP = b"PK\x03\x04"
FIRST_NAME = slice(30, 100)
"""Bytes of a zip archive that begin with the name of its first file."""
KINDS = (
    (b"\x1f\x8b", "is gzip within gzip"),
    (b"\x93NUMPY", "is a NumPy array"),
    (b"PAR1", "is a Parquet file"),
    (b"ARROW1", "is an Arrow file"),
    (b"\x89HDF", "is an HDF5 file"),
    (b"SQLite format 3\0", "is a SQLite database"),
    (b"\xd0\xcf\x11\xe0", "is an Excel or Word file"),
    (b"\xfd7zXZ", "is compressed by xz; only gzip is read"),
    (b"BZh", "is compressed by bzip2; only gzip is read"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd; only gzip is read"),
    (b"\x80\x04\x95", "is a Python pickle, and nothing is unpickled"),
    (b"\x80\x05\x95", "is a Python pickle, and nothing is unpickled"),
    (b"\x7fELF", "is a program"),
    (b"\x89PNG", "is a picture"),
    (b"\xff\xd8\xff", "is a picture"),
    (b"%PDF", "is a PDF"),
)
"""How binary files begin, and what they are."""


def fault_of_zip(data: bytes) -> str:
    """Return what a zip archive is, and what to do."""
    if b".npy" in data[FIRST_NAME]:
        remedy = "or a graph or placement whose name ends in .npz"
        return f"is an .npz file of arrays; text is expected, {remedy}"
    remedy = "save the sheet as CSV with commas, in UTF-8"
    return f"is a zip archive, such as an .xlsx spreadsheet; {remedy}"


def fault_of_bytes(data: bytes) -> str:
    """Return what bytes that are not UTF-8 are, and what to do; an empty string if unknown."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "is UTF-16; save it as UTF-8"
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data):
        return "is a file of weights (safetensors); text is expected"
    if [not byte for byte in data[:4]] in ([False, True] * 2, [True, False] * 2):
        return "is UTF-16; save it as UTF-8"  # without a byte order mark
    for begin, what in KINDS:
        if data.startswith(begin):
            return f"{what}; text is expected"
    return fault_of_zip(data) if data.startswith(ZIP) else ""
