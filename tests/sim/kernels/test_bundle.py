"""The file of compiled kernels: whether it serves a process, and what is read of it."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from streamplace.sim.kernels import bundle


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a file with one entry, which is that of this process."""
    path = tmp_path / "compiled" / bundle.PATH.name
    bundle.write_bundle(path, {"a": b"code"})
    monkeypatch.setattr(bundle, "PATH", path)
    bundle._opened.cache_clear()
    bundle._serves.cache_clear()
    return path


def test_an_entry_is_read_as_it_was_written(path: Path) -> None:
    assert bundle.reason_for_none() == ""
    assert bundle.stored("a") == b"code"
    assert bundle.stored("b") is None
    assert bundle.entries(path, {"a", "b"}) == {"a": b"code"}


def test_a_damaged_entry_is_not_used(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"code", b"c0de"))
    assert bundle.stored("a") is None


def test_any_damage_leaves_the_entry_or_none(path: Path) -> None:
    whole = path.read_bytes()
    for at in range(len(whole)):
        for bit in range(8):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            bundle._opened.cache_clear()
            bundle._serves.cache_clear()
            assert bundle.stored("a") in {b"code", None}
            assert bundle.entries(path, {"a"}) in ({"a": b"code"}, {})


@pytest.mark.parametrize("length", [0, 10, 60])
def test_an_incomplete_file_is_not_used(length: int, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:length])
    assert bundle.stored("a") is None
    assert bundle.reason_for_none().startswith(f"{path}: ")
    assert bundle.entries(path, {"a"}) == {}


def test_a_missing_file_is_the_reason(path: Path) -> None:
    path.unlink()
    assert bundle.reason_for_none() == f"none came with the package for {bundle.NAME}"


def test_settings_of_numba_that_change_the_code_are_the_reason(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert bundle.reason_for_none() == "NUMBA_BOUNDSCHECK is set"
    assert bundle.stored("a") is None


@pytest.mark.skipif(bundle.processor() != "x86-64-v3", reason="other machines have no levels")
def test_a_processor_below_the_level_compiles(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "get_host_cpu_features", lambda: {"avx": True})
    assert bundle.reason_for_none().endswith("this processor has no avx2")
    assert bundle.stored("a") is None


def test_forked_processes_read_the_file_at_positions_of_their_own(path: Path) -> None:
    assert bundle.stored("a") == b"code"
    for _ in range(4):
        child = os.fork()
        if not child:
            os._exit(bundle.stored("a") != b"code")
        assert os.waitpid(child, 0)[1] == 0


def test_what_fails_leaves_the_former_file(path: Path) -> None:
    before = path.read_bytes()
    with suppress(OSError), bundle.replacing(path) as file:
        file.write(b"half")
        raise OSError
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]
