"""The conformance check of families: what passes, and defects."""

from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.testing import check_family

CALLS = count()


@pytest.mark.parametrize("name", ["dream", "layered", "series-parallel"])
def test_built_in_families_pass(name: str) -> None:
    check_family(name)


def chain(length: int, work: float, name: str) -> sp.StreamGraph:
    """Return a chain in which every operator has the same work."""
    names = [f"op{v}" for v in range(length)]
    streams = [(one, other, 1.0) for one, other in pairwise(names)]
    operators = [(each, work, 1e3) for each in names]
    return sp.StreamGraph(operators, streams, name=name, source_rate=1e4)


def counting_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Keep state between calls."""
    return chain(operators, 1e5 + next(CALLS), name)


def fixed_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Draw nothing, not even the number of operators."""
    return chain(8, 1e5, name)


def broken_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Raise an error."""
    raise ZeroDivisionError("no operators left")


@pytest.mark.parametrize(
    ("family", "fault"),
    [
        (counting_family, "graphs depend on the order in which they are drawn"),
        (fixed_family, "graphs do not depend on the seed"),
        (broken_family, "no operators left"),
    ],
)
def test_defects_of_families_are_named(family: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_family(family)
    assert len(str(caught.value).splitlines()) == 1
