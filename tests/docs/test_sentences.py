"""The lengths of sentences and of pages in the documentation."""

import re
from collections.abc import Iterator

from tests.support.paths import ROOT

MOST_WORDS = 40
MOST_WORDS_OF_ALL = 95_000
REFERENCE = ("glossary.md", "limits.md", "training-keys.md")
FOLDERS = ("docs", "sim", "streamplace", "benchmarks", "datasets", "examples")
WRITTEN_BY_STUDIES = ROOT / "benchmarks" / "studies"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(p for f in FOLDERS for p in (ROOT / f).rglob("*.md"))]
    if path.parent.parent != WRITTEN_BY_STUDIES and path.name not in ("RESULTS.md", "LICENSES.md")
)


def sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page without blocks of code; entries of tables count as such."""
    text = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", text))
    text = re.sub(r"^ *(#.*|!!!.*|[-*] |\d+\. )", "\n\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\||;(?=[^\n]*\|$)", text, flags=re.MULTILINE):
        line = " ".join(paragraph.split())
        yield from filter(None, re.split(r'(?<=[.!?])[)*"”]*\s+(?=[A-Z“"(\[*0-9])', line))


def words(sentence: str) -> int:
    """Return the number of words; signs do not count."""
    return len(re.findall(r"\S*\w\S*", sentence))


def test_no_sentence_is_long() -> None:
    found = ((path, each) for path in PAGES for each in sentences(path.read_text()))
    assert [(path.name, each) for path, each in found if words(each) > MOST_WORDS] == []


def test_a_long_sentence_is_found() -> None:
    page = f"# Title\nShort one. W{'ord w' * 40}ord\n\n- a\n\n| b | c d; e |\n"
    assert [words(each) for each in sentences(page)] == [2, 41, 1, 1, 2, 1]


def is_of_figures(row: str) -> bool:
    """Return whether at least half of the cells of a row, without the first, have a digit."""
    cells = row.strip().strip("|").split("|")[1:]
    return bool(cells) and 2 * sum(any(c.isdigit() for c in cell) for cell in cells) >= len(cells)


def length(page: str) -> int:
    """Return the number of words of a page without generated tables and rows of figures."""
    text = re.sub(r"<!-- (\w+): python -m .*?<!-- end of \1 -->", "", page, flags=re.DOTALL)
    lines = text.splitlines()
    return sum(words(x) for x in lines if not (x.lstrip().startswith("|") and is_of_figures(x)))


def test_pages_can_be_read() -> None:
    """Pages outside of the reference, and READMEs, have a limit together."""
    counted = [
        path
        for path in PAGES
        if path.is_relative_to(ROOT / "docs") or path.name == "README.md"
        if path.name not in REFERENCE and "streamplace/sim" not in path.as_posix()
    ]
    assert sum(length(path.read_text()) for path in counted) <= MOST_WORDS_OF_ALL


def test_words_of_a_page_are_counted() -> None:
    page = "Two words\n\n| a | b | c |\n|---|---|---|\n| auto | 1.2 | 3% |\n| one | two words | |\n"
    generated = "<!-- keys: python -m docs.config_keys -->\n| a | b |\n<!-- end of keys -->"
    assert length(page + generated) == 2 + 3 + 3
