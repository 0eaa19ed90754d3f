"""Invariance of scores under changes of names, order of rows, and units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.changes import in_other_time, in_other_units, renamed, restreamed
from benchmarks.reference.strategies import Case, cases
from streamplace.problem.objective import MODELS, Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, throughput

models = pytest.mark.parametrize("model", MODELS)
closed_forms = pytest.mark.parametrize("model", CLOSED_FORMS)


def assert_same(one: Case, other: Case, factor: float = 1.0) -> None:
    """Check throughput and bound of two cases; the rates of `other` are `factor` times as high."""
    for value in (lambda c: throughput(c[0], np.array(c[1]))[0], lambda c: bound(c[0])):
        assert value(other) == pytest.approx(factor * value(one), rel=1e-9)


@models
@given(data=st.data())
def test_names_and_order_of_operators_and_devices(model: Model, data: st.DataObject) -> None:
    problem, placement = data.draw(cases(model))
    operators = data.draw(st.permutations(range(len(placement))))
    devices = data.draw(st.permutations(range(len(problem.cluster.devices))))
    other = renamed(problem, operators, devices)
    moved = [devices.index(placement[v]) for v in operators]
    assert_same((problem, placement), (other, moved))


@models
@given(data=st.data())
def test_order_of_streams(model: Model, data: st.DataObject) -> None:
    problem, placement = data.draw(cases(model))
    streams = data.draw(st.permutations(list(problem.graph.streams)))
    assert_same((problem, placement), (restreamed(problem, streams), placement))


@closed_forms  # the engine's queues and ticks have absolute sizes in tuples and seconds
@given(data=st.data(), factor=st.sampled_from([0.125, 3.0, 1000.0]))
def test_unit_of_time(model: Model, data: st.DataObject, factor: float) -> None:
    """If everything is `factor` times as fast, so is the throughput."""
    problem, placement = data.draw(cases(model))
    assert_same((problem, placement), (in_other_time(problem, factor), placement), factor)


@models
@given(data=st.data(), factor=st.sampled_from([0.125, 3.0, 1000.0]))
def test_units_of_work_and_data(model: Model, data: st.DataObject, factor: float) -> None:
    """Units of instructions and MIPS, and of bytes and bandwidth, change together."""
    problem, placement = data.draw(cases(model))
    assert_same((problem, placement), (in_other_units(problem, factor), placement))
