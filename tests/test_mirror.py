"""The places of test files: each module has one of its own, or stands in a list that shrinks."""

import pytest

from docs.layers import modules
from tests.support.paths import ROOT

TESTS = ROOT / "tests"
MODULES = {
    name: path
    for name, path in modules().items()
    if path.name not in {"__init__.py", "__main__.py"}
}
"""Dotted name -> file; `sim` is ``streamplace.sim``."""
FILES = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}


def own_file(module: str) -> str:
    """Return where the test file of a module belongs, as a path in `tests`."""
    _, *packages, name = module.split(".")
    return "/".join([*packages, f"test_{name.strip('_')}.py"])


def listed(name: str) -> list[str]:
    """Return the lines of a list in `tests`."""
    return (TESTS / name).read_text().splitlines()


def test_modules_without_a_test_file_are_listed() -> None:
    without = sorted(module for module in MODULES if own_file(module) not in FILES)
    assert listed("without_own_file.txt") == without


def test_test_files_named_after_no_module_are_listed() -> None:
    assert listed("named_after_no_module.txt") == sorted(FILES - set(map(own_file, MODULES)))


@pytest.mark.parametrize(
    ("name", "most"), [("without_own_file.txt", 180), ("named_after_no_module.txt", 163)]
)
def test_lists_only_shrink(name: str, most: int) -> None:
    assert len(listed(name)) <= most


def test_places_of_test_files() -> None:
    assert own_file("streamplace.placers.exact.exact") == "placers/exact/test_exact.py"
    assert own_file("streamplace.sim.engine.operators") == "sim/engine/test_operators.py"
    assert own_file("streamplace.formats.commands.import_") == "formats/commands/test_import.py"
