"""The modules that DESIGN.md tells a new reader to read."""

import re
from pathlib import Path

from tests.support.paths import ROOT

MOST_LINES = 5_000
DESIGN = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
FIRST_SECTION = DESIGN.partition("\n## 2. ")[0]


def module_of(name: str) -> Path:
    """Return the file of a module as DESIGN.md names it: kernels have a folder of their own."""
    return ROOT / name if name.startswith("sim/") else ROOT / "streamplace" / name


def test_the_modules_exist_and_are_short_enough() -> None:
    rows = "".join(line for line in FIRST_SECTION.splitlines() if line.startswith("| "))
    names = re.findall(r"`([\w/]+\.py)`", rows)
    assert f"these {len(set(names))} modules" in FIRST_SECTION
    lines = {name: len(module_of(name).read_text("utf-8").splitlines()) for name in names}
    assert 0 < sum(lines.values()) <= MOST_LINES, lines
