"""Shares of named keys."""

import pytest

from streamplace.problem.logical import (
    group_of,
    key_shares_of,
)
from streamplace.problem.parallelism import KeyShares


def test_shares_of_named_keys_go_to_their_instances() -> None:
    shares = key_shares_of(128, KeyShares({"hello": 0.5}), 4)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[group_of("hello", 128) * 4 // 128] == pytest.approx(0.5 + 0.125)
