"""Suggestions for unknown names."""

import pytest

from streamplace.util.suggest import (
    MAX_LENGTH,
    MAX_NAMES,
    candidates,
    closest_match,
    did_you_mean,
    valid_choices,
)

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
        ("m" * (MAX_LENGTH + 1), None),
    ],
)
def test_the_closest_name(word: str, meant: str | None) -> None:
    assert closest_match(word, NAMES) == meant


def test_messages_with_suggestions() -> None:
    assert did_you_mean("metsi", NAMES) == "; did you mean 'metis'?"
    assert did_you_mean("xyz", NAMES) == ""
    assert candidates("metsi", NAMES) == "; did you mean 'metis'?"
    assert candidates("xyz", NAMES) == "; known: 'metis', 'metis-recursive', 'fuser', 'Auto'"
    assert candidates("x", [f"host{i}" for i in range(1007)]).endswith("'host4' and 1,002 more")
    assert valid_choices("metsi", NAMES, "or a file") == "; did you mean 'metis'?"
    assert valid_choices("xyz", ("a", "b")) == "; choose from a, b"
    assert valid_choices("xyz", ("a", "b"), "or a file") == "; choose from a, b, or a file"


def test_too_many_names_are_not_compared() -> None:
    assert closest_match("operator_7", [f"operator_{i}" for i in range(MAX_NAMES)]) == "operator_7"
    assert closest_match("operator_7", [f"operator_{i}" for i in range(MAX_NAMES + 1)]) is None
