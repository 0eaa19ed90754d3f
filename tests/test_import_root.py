"""The import root `streamplace.sim`, alike in a checkout, an editable install, sdist and wheel."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from hatch_build import PORTABLE

ROOT = Path(__file__).parents[1]
PROGRAM = """
import streamplace.sim.flow as flow
print(flow.__name__, flow.__file__)
"""


def _imported(folder: Path, **environment: str) -> list[str]:
    """Return the name and the file of a module of sim.

    Own paths of the program are left out (-P), so that nothing but the installation is found.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    return done.stdout.split()


def _built(folder: Path, kind: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, PORTABLE: "1"}
    )
    (built,) = folder.iterdir()
    return built


def test_a_checkout(tmp_path: Path) -> None:
    """Through the link, and only so: nothing imports the folder by its own name."""
    assert (ROOT / "streamplace" / "sim").resolve() == ROOT / "sim"
    name, file = _imported(tmp_path, PYTHONPATH=str(ROOT))
    assert name == "streamplace.sim.flow"
    assert Path(file) == ROOT / "streamplace" / "sim" / "flow.py"


def test_an_editable_install(tmp_path: Path) -> None:
    """The environment of the tests has one, so this shows what its link to the checkout gives."""
    name, file = _imported(tmp_path, PYTHONPATH="")
    assert name == "streamplace.sim.flow"
    assert Path(file).parts[-3:] == ("streamplace", "sim", "flow.py")


@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_a_distribution_has_one_package(tmp_path: Path, kind: str) -> None:
    built, tree = _built(tmp_path / "built", kind), tmp_path / "tree"
    if kind == "sdist":
        with tarfile.open(built) as archive:
            archive.extractall(tree, filter="data")
        (tree,) = tree.iterdir()
    else:
        with ZipFile(built) as archive:
            archive.extractall(tree)
    assert not (tree / "sim").exists()
    assert not [*tree.glob("streamplace/sim/kernels/compiled/*")]
    name, file = _imported(tmp_path, PYTHONPATH=str(tree))
    assert (name, Path(file)) == ("streamplace.sim.flow", tree / "streamplace" / "sim" / "flow.py")
