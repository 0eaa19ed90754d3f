"""Objects of users: how a path is told from a name with options."""

import pytest

from streamplace.util.plugins import is_custom, parts_of


@pytest.mark.parametrize(
    ("text", "own", "parts"),
    [
        ("mine:Last", True, ("mine:Last", [])),
        ("mine:Last:before=1:loud=true", True, ("mine:Last", ["before=1", "loud=true"])),
        ("a.b_c:D.E", True, ("a.b_c:D.E", [])),
        ("metis", False, ("metis", [])),
        ("metis:parts=3", False, ("metis", ["parts=3"])),
        ("policy:file=run:best", False, ("policy", ["file=run", "best"])),
        ("metis-oracle:parts", False, ("metis-oracle", ["parts"])),
        ("metis:", False, ("metis", [""])),
        ("../mine:Last", False, ("../mine", ["Last"])),
        ("3d:Last", False, ("3d", ["Last"])),
    ],
)
def test_a_class_is_told_from_an_option(text: str, own: bool, parts: tuple[str, list[str]]) -> None:
    assert is_custom(text) == own
    assert parts_of(text) == parts
