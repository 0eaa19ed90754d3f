"""Signatures of kernels as JSON."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, cast

import numba
import numpy as np
import pytest

from streamplace.sim.kernels.signatures import LIST, kernel_named, read_signatures, write_signatures

types = cast("Any", numba.types)


class Pair(NamedTuple):
    """A named tuple of two types."""

    numbers: Any
    others: Any


class Alike(NamedTuple):
    """A named tuple of one type."""

    first: Any
    second: Any


ROOT = Path(__file__).parents[3]
READ_WITH = """
import sys
from importlib.abc import MetaPathFinder


class Only(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        top = name.partition(".")[0]
        if path is None and top not in sys.argv[1:] and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"{name} is no requirement of a build")


sys.meta_path.insert(0, Only())
from streamplace.sim.kernels.signatures import kernel_named, read_signatures
for name in read_signatures():
    kernel_named(name)
"""
FIELDS = [("share", np.float64), ("device", np.uint32)]
KINDS = [
    types.float64,
    types.int32,
    types.uint64,
    types.boolean,
    types.none,
    types.Array(types.float64, 2, "C"),
    types.Array(types.int32, 1, "A", readonly=True),
    types.Array(types.boolean, 1, "F"),
    types.Array(numba.from_dtype(np.dtype(FIELDS, align=True)), 1, "C"),
    types.Array(numba.from_dtype(np.dtype(FIELDS)), 1, "C"),
    types.UniTuple(types.int64, 2),
    types.Tuple((types.int64, types.Array(types.uint8, 1, "C"))),
    types.NamedTuple((types.Array(types.int32, 1, "C"), types.float64), Pair),
    types.NamedUniTuple(types.float64, 2, Alike),
    types.NamedTuple((types.NamedUniTuple(types.float64, 2, Alike), types.none), Pair),
]


def test_every_type_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "signatures.json"
    found = {
        "streamplace.sim.example.all": [tuple(KINDS)],
        "streamplace.sim.example.each": [(kind,) for kind in KINDS],
    }
    write_signatures(found, path)
    again = read_signatures(path)
    assert again["streamplace.sim.example.all"] == found["streamplace.sim.example.all"]
    assert {*again["streamplace.sim.example.each"]} == {*found["streamplace.sim.example.each"]}


def test_other_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="unicode_type: no text for this type of argument"):
        write_signatures(
            {"streamplace.sim.example.text": [(types.unicode_type,)]}, tmp_path / "text.json"
        )


def test_the_list_is_written_as_it_is_and_names_kernels(tmp_path: Path) -> None:
    signatures = read_signatures()
    write_signatures(signatures, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == LIST.read_text()
    assert all(hasattr(kernel_named(name), "py_func") for name in signatures)


def test_kernels_are_found_with_the_requirements_of_a_build_alone() -> None:
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    names = [each.partition(">=")[0] for each in requirements]
    words = [sys.executable, "-c", READ_WITH, "sim", "streamplace", "llvmlite", *names]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
