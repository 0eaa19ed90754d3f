"""Indented JSON text, which equals that of the standard library."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.files import json_text
from streamplace.files.json_text import json_pieces, to_json

PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(["},\n  {", "},{", "{", "]"]),
)
OBJECTS = st.dictionaries(st.text(max_size=3), PLAIN, max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAIN,
    lambda within: st.one_of(
        st.lists(within, max_size=4),
        st.lists(OBJECTS, max_size=4),
        st.dictionaries(st.text(max_size=3), within, max_size=4),
        st.tuples(within, OBJECTS),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_the_text_is_that_of_the_standard_library(value: Any) -> None:
    assert to_json(value) == json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def test_a_long_list_of_objects_is_encoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"rows": [{"a": i, "b": "},\n  {"} for i in range(7)]}
    at_once = [*json_pieces(value)]
    monkeypatch.setattr(json_text, "ROWS", 2)
    assert len([*json_pieces(value)]) > len(at_once)
    assert to_json(value) == json.dumps(value, indent=1) + "\n"
