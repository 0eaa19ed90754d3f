"""Measured running times: each placement is measured once, and bad values are errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import TrainingError
from streamplace.learning.training.measuring.measure import NamedMeasure
from streamplace.learning.training.measuring.measurement_log import MeasurementLog
from streamplace.learning.training.measuring.measurements import Measurements
from tests.support.measures import Modelled, fails_at, measurements_of, modelled_s, rows_of
from tests.support.stages import small_problems

ROWS = st.lists(st.integers(0, 80), max_size=6)


@given(st.lists(st.tuples(st.integers(0, 5), ROWS), max_size=8))
def test_each_placement_is_measured_once(asked: list[tuple[int, list[int]]]) -> None:
    problems, measure = small_problems(), Modelled()
    measurements = measurements_of(problems, measure)
    best: dict[int, float] = {}
    for number, numbers in asked:
        rows = rows_of(numbers, len(problems[number].graph.names))
        assert measurements(number, rows).tolist() == modelled_s(rows).tolist()
        for seconds in modelled_s(rows):
            best[number] = min(best.get(number, np.inf), seconds)
    assert len(measure.rows) == len(set(measure.rows))
    assert len(measure.rows) == len({(number, k) for number, ks in asked for k in ks})
    fastest = measurements.fastest()
    assert {number: seconds for number, (seconds, _) in fastest.items()} == best
    for seconds, row in fastest.values():
        assert modelled_s(row[None])[0] == seconds


def test_the_new_placements_of_a_call_are_measured_together() -> None:
    measure = Modelled()
    measurements = measurements_of(small_problems(), measure)
    measurements(0, rows_of([1, 2, 2], len(small_problems()[0].graph.names)))
    measurements(0, rows_of([2, 3, 4, 1], len(small_problems()[0].graph.names)))
    assert (measure.calls, len(measure.rows)) == (2, 4)


def test_measurements_of_a_log_are_not_repeated(tmp_path: Path) -> None:
    problems = small_problems()
    shapes = [(len(p.graph.names), 3) for p in problems]
    rows = rows_of([5, 7], shapes[1][0])
    for calls in (1, 0):
        measure = Modelled()
        log = MeasurementLog(tmp_path, {"measure": "modelled"}, shapes)
        found = Measurements(NamedMeasure("modelled", measure), problems, log)(1, rows)
        assert found.tolist() == modelled_s(rows).tolist()
        assert measure.calls == calls


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda k: np.ones(k + 1), r"seconds of shape \(2,\), .* \(got shape \(3,\)\)"),
        (lambda k: np.ones((k, 1)), r"got shape \(2, 1\)"),
        (lambda k: 1.0, r"got shape \(\)"),
        (lambda k: [1.0, float("nan")], r"finite and above 0 \(got nan for placement 1\)"),
        (lambda k: [np.inf, 1.0], "got inf for placement 0"),
        (lambda k: [1.0, 0.0], "got 0.0 for placement 1"),
        (lambda k: [-1, 1], "got -1.0 for placement 0"),
        (lambda k: ["slow", "fast"], "measuring failed: ValueError"),
        (lambda k: None, "measuring failed: TypeError|got shape"),
    ],
)
def test_bad_values_are_errors_and_not_kept(values: Callable[[int], Any], message: str) -> None:
    problems = small_problems()
    bad = NamedMeasure("m:C", lambda problem, placements: values(len(placements)))
    measurements, rows = Measurements(bad, problems), rows_of([1, 2], len(problems[0].graph.names))
    with pytest.raises(TrainingError, match=message) as caught:
        measurements(0, rows)
    assert str(caught.value).startswith(f"measure 'm:C': {problems[0].graph.name}: ")
    assert caught.value.exit_code == 1
    assert len(measurements.unknown(0, rows)) == 2


def test_a_failure_names_its_cause() -> None:
    problems = small_problems()
    measurements = measurements_of(problems, fails_at(1))
    wrong = pytest.raises(TrainingError, match="measuring failed: RuntimeError: the system is down")
    with wrong:
        measurements(0, rows_of([1], len(problems[0].graph.names)))
