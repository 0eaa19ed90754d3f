"""The rule that tests share helpers through tests/support, not by importing each other."""

import ast
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT


def imported_names(source: str) -> Iterator[str]:
    """Yield the dotted names that a module imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)


def imported_test_files(source: str) -> list[str]:
    """Return the imports of test files and conftests."""
    return [
        name
        for name in imported_names(source)
        if any(part.startswith("test_") or part == "conftest" for part in name.split("."))
    ]


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_no_module_imports_a_test_file(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    imports = {str(f.relative_to(ROOT)): imported_test_files(f.read_text()) for f in files}
    assert imports
    assert {file: names for file, names in imports.items() if names} == {}


def test_benchmarks_import_no_tests() -> None:
    """Shared code is in benchmarks/reference, which imports neither tests nor other benchmarks."""
    for file in sorted((ROOT / "benchmarks").rglob("*.py")):
        for name in imported_names(file.read_text()):
            assert not name.startswith("tests."), (file, name)
            if "reference" in file.parts and name.startswith("benchmarks."):
                assert name.startswith("benchmarks.reference"), (file, name)


@pytest.mark.parametrize(
    "source",
    [
        "import tests.cli.conftest",
        "from tests.cli import test_json",
        "from tests.cli.test_json import printed",
        "def late():\n    from .conftest import job",
    ],
)
def test_imports_of_test_files_are_found(source: str) -> None:
    assert len(imported_test_files(source)) == 1
    assert imported_test_files("from tests.support.cli import run\nimport pytest") == []
