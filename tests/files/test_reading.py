"""Garbage collection while JSON is parsed."""

import gc

import pytest

from streamplace.errors import FormatError
from streamplace.files.reading import parse


@pytest.mark.parametrize("enabled", [True, False])
def test_collections_are_as_before(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        assert parse("[[], {}]", "text") == [[], {}]
        assert gc.isenabled() is enabled
        with pytest.raises(FormatError):
            parse("[[], {]", "text")
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_a_text_of_many_lists_causes_no_collection() -> None:
    before = [generation["collections"] for generation in gc.get_stats()]
    value = parse(f"[{','.join(['[]'] * 50_000)}]", "text")
    after = [generation["collections"] for generation in gc.get_stats()]
    assert len(value) == 50_000
    assert sum(after) - sum(before) <= 1
