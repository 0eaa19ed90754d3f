"""What is proposed in place of a name that does not exist."""

import pytest

from streamplace.nearest import LONGEST, MOST_NAMES, hint, instead, nearest

NAMES = ("metis", "metis-recursive", "fuser", "Auto")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("metsi", "metis"),
        ("METIS", "metis"),
        ("auto", "Auto"),
        ("metis-recursiv", "metis-recursive"),
        ("xyz", None),
        ("", None),
        ("m" * (LONGEST + 1), None),
    ],
)
def test_the_nearest(word: str, meant: str | None) -> None:
    assert nearest(word, NAMES) == meant


def test_what_is_said() -> None:
    assert hint("metsi", NAMES) == "; did you mean 'metis'?"
    assert hint("xyz", NAMES) == ""
    assert instead("metsi", NAMES, "or a file") == "; did you mean 'metis'?"
    assert instead("xyz", ("a", "b")) == "; there are a, b"
    assert instead("xyz", ("a", "b"), "or a file") == "; there are a, b, or a file"


def test_too_many_names_are_not_compared() -> None:
    assert nearest("operator_7", [f"operator_{i}" for i in range(MOST_NAMES)]) == "operator_7"
    assert nearest("operator_7", [f"operator_{i}" for i in range(MOST_NAMES + 1)]) is None
