"""The settings of `compare`."""

from dataclasses import fields
from inspect import getdoc, signature
from typing import Any

import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.util.settings import meanings
from streamplace.workflows.settings import CompareSettings


def test_each_setting_of_compare_is_a_keyword_with_its_meaning() -> None:
    names = [each.name for each in fields(CompareSettings)]
    expected = ["graphs", "placers", "source_rates", *names]
    assert [*signature(sp.compare).parameters] == expected
    text = " ".join(str(getdoc(sp.compare)).split())
    missing = [
        name for name, about in meanings(CompareSettings).items() if f"{name} {about}" not in text
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"jobs": 0}, "compare: jobs: must be at least 1 (got 0)"),
        ({"seed": "x"}, "compare: seed: must be a whole number (got 'x')"),
        ({"target_utilisation": 80}, "compare: target_utilisation: must be above 0 and at most 1"),
    ],
)
def test_settings_that_are_not_valid_are_refused(changes: dict[str, Any], fault: str) -> None:
    graph = sp.StreamGraph([sp.Operator("a", 1, 1)], [], source_rate=1)
    with pytest.raises(UsageError) as caught:
        sp.compare(graph, "greedy", **changes)
    assert str(caught.value).startswith(fault)
