"""Tests of the checks of names and orders for policies with a random order."""

from typing import Any

import pytest

from streamplace.testing import PolicyCase
from streamplace.testing.renaming import check_names, check_numbering


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("encoder-decoder", {"length": 16, "device_length": 4, "devices": 3, "order": "random"}),
        ("rnn", {"hidden": 8, "devices": 3, "operators": 16, "order": "random"}),
        ("placeto", {"devices": 3, "order": "random"}),
        ("device-scorer", {"hidden": 8, "hops": 1, "orders": [0, "random"]}),
    ],
)
def test_policies_with_a_random_order_pass(kind: str, sizes: dict[str, Any]) -> None:
    case = PolicyCase(kind, sizes, ordered_devices=True, repaired=True)
    check_names(case)
    check_numbering(case)
