"""The files that the documentation names, and the modules that DESIGN.md tells a reader to read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.reference import pages
from tests.support.paths import ROOT

MOST_LINES = 5_000
PACKAGE = ROOT / "streamplace"
DESIGN = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
FIRST_SECTION = DESIGN.partition("\n## 2. ")[0]
FOLDERS = ("docs", "sim", "streamplace", "benchmarks", "datasets", "examples")
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#:]+\.\w+)(?:#[^)]*)?\)")  # not to other sites, nor within a page
MODULE = re.compile(r"`([\w/]+\.py)`")
SCRIPTED = re.compile(r"\b((?:sim|streamplace)/[\w/]+\.py)\b")
FILE = re.compile(r"`((?:tests|docs|benchmarks)/(?!a/|sim/a/)[\w/-]+\.\w+)`")  # a/ is an example


def module_of(name: str) -> Path:
    """Return the file of a module as DESIGN.md names it: kernels have a folder of their own."""
    return ROOT / name if name.startswith("sim/") else ROOT / "streamplace" / name


def missing(folder: Path, page: str) -> Iterator[str]:
    """Yield the files that a page in a folder links to or names, and that do not exist."""
    yield from (each for each in LINK.findall(page) if not (folder / each).exists())
    for each in FILE.findall(page):
        if not any((start / each).exists() for start in (ROOT, folder)):
            yield each


def test_the_modules_exist_and_are_short_enough() -> None:
    rows = "".join(line for line in FIRST_SECTION.splitlines() if line.startswith("| "))
    names = re.findall(r"`([\w/]+\.py)`", rows)
    assert f"these {len(set(names))} modules" in FIRST_SECTION
    lines = {name: len(module_of(name).read_text("utf-8").splitlines()) for name in names}
    assert 0 < sum(lines.values()) <= MOST_LINES, lines


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "CHANGELOG.md"],  # which names what there was
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_files_that_pages_name_exist(page: Path) -> None:
    found = missing(page.resolve().parent, page.read_text(encoding="utf-8"))
    assert [each for each in found if each.removeprefix("../") not in pages()] == []


def missing_modules(folder: Path, page: str) -> Iterator[str]:
    """Yield the modules that the page of a package names, and that are not below its folder."""
    for each in MODULE.findall(page):
        found = any((start / each).exists() for start in (folder, PACKAGE, ROOT))
        if not found and ("/" in each or not any(folder.rglob(each))):
            yield each


@pytest.mark.parametrize(
    "page",
    [*PACKAGE.rglob("README.md")],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_modules_that_pages_of_packages_name_exist(page: Path) -> None:
    assert [*missing_modules(page.parent, page.read_text(encoding="utf-8"))] == []


def test_modules_that_the_design_names_exist() -> None:
    assert [*missing_modules(PACKAGE, DESIGN)] == []


def test_modules_that_scripts_of_the_report_name_exist() -> None:
    scripts = (PACKAGE / "reports" / "page").glob("*.js")
    named = ((script, each) for script in scripts for each in SCRIPTED.findall(script.read_text()))
    assert [(script.name, each) for script, each in named if not (ROOT / each).exists()] == []


def test_a_module_of_another_package_is_missing() -> None:
    page = "`style.py` `display/formats.py` `formats.py` `display/style.py`"
    assert [*missing_modules(PACKAGE / "pictures", page)] == ["formats.py", "display/style.py"]


def test_a_missing_file_is_found() -> None:
    page = (
        "[a](README.md#b) [c](no.md#d) [e](https://f.g/h.md) `tests/no/test_no.py` `tests/a/b.py`"
    )
    assert [*missing(ROOT, page)] == ["no.md", "tests/no/test_no.py"]
