"""Figures of the campaign of latencies."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.testbed.latency import summary
from benchmarks.testbed.latency.answers import ANSWERS
from benchmarks.testbed.latency.campaign import RESULTS


def answer(kind: str, limit_s: float, placement: int, factor: float = 1.0) -> dict[str, Any]:
    return {
        "answer": kind,
        "quantity": "p99",
        "limit_s": limit_s,
        "factor": factor,
        "placement": [placement],
    }


def run(placement: int, measured_s: float, graph: str = "g") -> dict[str, Any]:
    """Return a run of which half of the short simulations are 1 s, and half 3 s."""
    values = dict.fromkeys(("mean", "p50", "p99"), 2.0)
    return {
        "graph": graph,
        "placement": [placement],
        "measured_s": dict.fromkeys(values, measured_s),
        "simulated_s": values,
        "same_arrivals_s": values,
        "short_s": {quantity: [1.0, 3.0] for quantity in values},
    }


def test_answers_are_compared_with_their_placements() -> None:
    """The third answer has no measurement; the last one is contradicted by the second placement."""
    answers = [
        answer("feasible", 2.0, 0),
        answer("feasible", 2.0, 1),
        answer("feasible", 2.0, 2),
        answer("infeasible", 1.0, 0),
        answer("infeasible", 1.8, 1, factor=0.5),
        answer("unproven", 1.0, 0),
    ]
    abouts, runs = [{"graph": "g", "answers": answers}], [run(0, 2.5), run(1, 1.5)]
    found = summary.figures(abouts, runs)
    assert found.answers == {"feasible": 3, "infeasible": 2, "unproven": 1}
    assert (found.feasible, found.held, found.held_expected) == (2, 1, 0.5)
    assert (found.infeasible, found.missed) == (2, 1)
    assert found.ratios["simulated_s"]["p99"] == pytest.approx((0.775, 1.0, 1.225))
    assert not found.good
    rows = summary.by_factor(abouts, runs)
    assert "| 0.5 | 0 | 0 of 0 | 1 | 0 of 1 | 0 |" in rows
    assert "| 1 | 3 | 1 of 2 | 1 | 1 of 1 | 1 |" in rows


@pytest.mark.parametrize(("held", "good"), [(9, True), (8, False)])
def test_nine_of_ten_must_hold(held: int, good: bool) -> None:
    runs = [run(k, 1.0 if k < held else 3.0) for k in range(10)]
    answers = [answer("feasible", 2.0, k) for k in range(10)]
    assert summary.figures([{"graph": "g", "answers": answers}], runs).good is good


def test_a_report_needs_results_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summary.run(tmp_path) == 1
    assert "run the campaign first" in capsys.readouterr().out
    about = {"graph": "g", "answers": [answer("feasible", 2.0, 0)]}
    (tmp_path / ANSWERS).write_text(json.dumps(about) + "\n")
    (tmp_path / RESULTS).write_text(json.dumps(run(0, 1.0)) + "\n")
    assert summary.run(tmp_path) == 0
    assert "| as good as required | yes |" in capsys.readouterr().out
    assert json.loads((tmp_path / summary.SUMMARY).read_text())["figures"]["good"]
