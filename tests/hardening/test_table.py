"""The README's table is what was counted."""

from benchmarks.hardening.__main__ import BEGIN, END, FOLDER, table
from tests.cli.command import ROOT


def test_the_readme_tells_what_was_counted() -> None:
    told = (ROOT / "README.md").read_text().partition(BEGIN)[2].partition(END)[0]
    text, good = table(FOLDER)
    assert told == text
    assert good
