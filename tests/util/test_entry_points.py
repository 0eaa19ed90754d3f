"""Groups of entry points: those that installed packages can add to are documented."""

import re

from streamplace.util.entry_points import FILE, PRIVATE
from tests.support.paths import ROOT


def test_groups_are_documented_or_private() -> None:
    """An installed package is looked at for exactly the groups that are not private."""
    files = (path.read_text() for path in (ROOT / "streamplace").glob(f"*/{FILE}"))
    groups = {group for text in files for group in re.findall(r"^\[(.+)\]$", text, re.MULTILINE)}
    page = (ROOT / "docs" / "own-system.md").read_text()
    documented = {*re.findall(r"streamplace\.[a-z]+(?=[\"`])", page)}
    assert groups - {*PRIVATE} <= documented
    assert not documented & {*PRIVATE}
    assert {*PRIVATE} <= groups
