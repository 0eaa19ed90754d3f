"""Labels of Kubernetes."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.formats.labels import dns_label, label_value

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@given(st.lists(st.text(min_size=1), unique=True), st.sampled_from([dns_label, label_value]))
def test_names_stay_distinct(texts: list[str], name_of: Callable[[str], str]) -> None:
    names = [name_of(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert all(
        len(name) <= 63 and DNS_LABEL.fullmatch(name.lower().replace("_", "-").replace(".", "-"))
        for name in names
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [("word-count", "word-count"), ("a" * 63, "a" * 63), ("7", "7")],
)
def test_valid_names_are_kept(text: str, name: str) -> None:
    assert dns_label(text) == name
    assert label_value("Node_1.example") == "Node_1.example"
