"""Shares of named keys."""

import pytest

from streamplace.files.graphs import graph_from
from streamplace.problem.logical import (
    group_of,
    key_shares_of,
)
from streamplace.problem.parallelism import KeyShares


def test_shares_of_named_keys_go_to_their_instances() -> None:
    shares = key_shares_of(128, KeyShares({"hello": 0.5}), 4)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[group_of("hello", 128) * 4 // 128] == pytest.approx(0.5 + 0.125)


def test_an_empty_text_is_a_key() -> None:
    """It is often that of tuples that lack the field of the key; its hash code is 0."""
    keys = KeyShares({"": 0.5})
    assert key_shares_of(128, keys, 2)[group_of("", 128) * 2 // 128] > 0.7
    value = {"name": "a", "instructions": 1, "payload_bytes": 1}
    stream = {"source": "a", "target": "b", "partitioning": "hash", "key_shares": {"": 0.5}}
    graph = {"operators": [value, {**value, "name": "b"}], "streams": [stream]}
    assert graph_from(graph, "x").key_shares == {0: keys}
