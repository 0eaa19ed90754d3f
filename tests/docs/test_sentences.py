"""The lengths of sentences in the documentation."""

import re
from collections.abc import Iterator

from tests.support.paths import ROOT

MOST_WORDS = 40
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
