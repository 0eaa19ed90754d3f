"""The conformance check of placers: what passes, and defects."""

import re
from traceback import format_exception
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.testing import check_placer

DRAWN = np.random.default_rng(0)


@pytest.mark.parametrize("name", ["greedy", "random", "search:evaluations=50", "metis"])
def test_built_in_placers_pass(name: str) -> None:
    check_placer(name)


def stateful_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Draw random numbers from a generator of its own."""
    devices = DRAWN.integers(len(problem.cluster.devices), size=len(problem.graph.names))
    return sp.Placement(problem, devices)


def careless_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Ignore constraints."""
    return sp.Placement(problem, np.zeros(len(problem.graph.names), dtype=np.int32))


def broken_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Raise an error with two lines."""
    raise ZeroDivisionError("no\ndevices left")


@pytest.mark.parametrize(
    ("placer", "fault"),
    [
        (
            broken_placer,
            r"graph layered_0: it raised ZeroDivisionError in test_placers\.py, line \d+: no devi",
        ),
        (3, "a value of type int is not a placer"),
        (stateful_placer, "the same seed gives two placements; draw random numbers only from rng"),
        (careless_placer, "may not run on device 'a'"),
        ("nobody", "unknown placer"),
    ],
)
def test_defects_of_placers_are_named(placer: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_placer(placer)
    assert len(str(caught.value).splitlines()) == 1
    assert len("".join(format_exception(caught.value)).split("Traceback")) == 2


def float_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Return device indices that are not integers."""
    return sp.Placement(problem, np.zeros(len(problem.graph.names)))


def test_a_defect_names_the_placer_once() -> None:
    for placer in (careless_placer, float_placer, f"{__name__}:broken_placer"):
        with pytest.raises(AssertionError, match=r"^graph layered_") as caught:
            check_placer(placer)
        assert len(re.findall(r"_placer\b", str(caught.value))) == 1
