"""Archives of arrays with false headers, and decompression bombs."""

import io
import struct
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from streamplace.files.archives import read_arrays


def npy(header: str, data: bytes = b"") -> bytes:
    """Return the bytes of an .npy file with this header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(*members: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    """Return the bytes of an archive with these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


def header(shape: str, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def test_arrays_are_read() -> None:
    saved = {"a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.eye(3)), "c": np.zeros(0)}
    for save in (np.savez, np.savez_compressed):
        made = io.BytesIO()
        save(made, **saved)  # type: ignore[arg-type]  # numpy types its own flag as one of them
        found = read_arrays(made.getvalue())
        assert list(found) == list(saved)
        for name, array in saved.items():
            assert np.array_equal(found[name], array)
            assert found[name].dtype == array.dtype


@pytest.mark.parametrize(
    "shape", ["(1000000000000,)", "(2, 3000000000)", "(9223372036854775807, 9)", "(2,)"]
)
def test_a_shape_larger_than_the_data(shape: str) -> None:
    """Memory is allocated only if the archive holds as many numbers as the header promises."""
    with pytest.raises(ValueError, match=r"an array of shape .* cannot have 8 bytes"):
        read_arrays(npz(("a.npy", npy(header(shape), bytes(8)))))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9000,
        "{" * 9000,
        "{'a': 1}",
        "[1if 1else 2]",
        "",
        header("(1,)", "'|O'"),
        header("(-1,)"),
        "'''",
        "{\n",
    ],
)
def test_invalid_headers(text: str) -> None:
    with pytest.raises(ValueError, match=r"^an array's header is not one that numpy writes"):
        read_arrays(npz(("a.npy", npy(text, bytes(8)))))


def test_a_decompression_bomb_is_refused() -> None:
    bomb = npz(("a.npy", bytes(2**26)), kind=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="unzips to"):
        read_arrays(bomb)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_repeated_name_is_refused() -> None:
    array = npy(header("(1,)"), bytes(8))
    with pytest.raises(ValueError, match="two arrays have the same name"):
        read_arrays(npz(("a.npy", array), ("a.npy", array)))


def test_threads_do_not_change_warning_filters() -> None:
    made = io.BytesIO()
    np.savez(made, a=np.zeros(3))
    before = warnings.filters[:]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read_arrays, [made.getvalue()] * 400))
    assert warnings.filters == before
