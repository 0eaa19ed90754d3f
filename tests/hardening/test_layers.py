"""Imports between the sub-packages of benchmarks/hardening."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hardening.__main__ import PARTS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "benchmarks" / "hardening"
LAYERS = ("harness", "corpus", "mutation", "targets", "supply", "campaigns")
"""From bottom to top: a sub-package may import itself and those below it."""
SOURCES = sorted(PACKAGE.glob("*/**/*.py"))
SEARCHED = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "Makefile",
    *(
        path
        for name in ("benchmarks", "docs", "tests", ".github")
        for path in ROOT.glob(f"{name}/**/*.*")
    ),
]
NAME = re.compile(r"benchmarks\.hardening\.[\w.]*\w")


def imported(path: Path) -> Iterator[list[str]]:
    """Yield the modules of the package that a file imports, as names below the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("benchmarks.hardening"):
            for alias in node.names:
                yield f"{node.module}.{alias.name}".split(".")[2:]


def test_the_root_holds_the_command_and_its_results() -> None:
    assert {path.name for path in PACKAGE.glob("*.*")} == {
        "__init__.py", "__main__.py", "RESULTS.md"
    }  # fmt: skip
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == {*LAYERS, "results"}


def test_sub_packages_import_only_those_below_them() -> None:
    faults = []
    for path in SOURCES:
        layer, *inside = path.relative_to(PACKAGE).parts
        for module in imported(path):
            higher = LAYERS.index(module[0]) > LAYERS.index(layer)
            if higher or (module[0] == "campaigns" and module[1] != inside[0]):
                faults.append(f"{path}: {'.'.join(module)}")
    assert faults == []


def test_every_part_is_a_package() -> None:
    assert {path.parent.name for path in PACKAGE.glob("campaigns/*/campaign.py")} == {*PARTS}


def test_named_modules_exist() -> None:
    """Documents and strings in the source refer to modules by their dotted names."""
    for path in SEARCHED:
        if path.suffix not in (".md", ".py", ".yml", ""):
            continue
        for name in NAME.findall(path.read_text()):
            module = ROOT.joinpath(*name.split("."))
            found = [module, module.with_suffix(".py"), module.parent.with_suffix(".py")]
            assert any(place.exists() for place in found), (path, name)
