"""Answers about limits around what placements reach."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.testbed.latency.answers import FACTORS, answer_all
from benchmarks.testbed.latency.campaign import MOST_PLACEMENTS, chosen
from benchmarks.testbed.latency.devices import MACHINE
from benchmarks.testbed.latency.problems import Case
from tests.support.tuple_latencies import two_paths

AUTO, OTHER = [0, 0, 1, 1, 0], [0, 1, 0, 1, 0]


@pytest.mark.long
def test_answers_are_kept_and_follow_the_limits(tmp_path: Path) -> None:
    starts = {"auto": np.array(AUTO, np.int32), "other": np.array(OTHER, np.int32)}
    case = Case(two_paths().problem.with_source_rate(20.0), "deterministic", starts)
    (about,) = answer_all(tmp_path, [case], MACHINE)
    assert answer_all(tmp_path, [case], MACHINE) == [about]
    assert [one["factor"] for one in about["answers"]] == [*FACTORS, *FACTORS]
    assert {(one["start"], one["quantity"]) for one in about["answers"]} == {
        ("auto", "p99"),
        ("other", "mean"),
    }
    for one in about["answers"]:
        reached_s = about["starts"][one["start"]]["simulated_s"][one["quantity"]]
        assert one["limit_s"] == pytest.approx(one["factor"] * reached_s)
        if one["answer"] == "infeasible":
            assert one["least_s"] > one["limit_s"]
        if one["answer"] == "feasible":
            assert one["simulated_s"] * 1.2 <= one["limit_s"]
        if one["factor"] == 2.0:
            assert one["answer"] == "feasible"


def test_placements_of_most_answers_are_measured() -> None:
    rows = [(0, k) for k in range(5)]
    answers = [{"answer": "feasible", "placement": list(rows[k])} for k in (1, 2, 2, 3, 3, 3)]
    answers += [{"answer": "unproven", "placement": list(rows[4])}] * 9
    starts = {"auto": {"placement": list(rows[0])}}
    assert chosen({"answers": answers, "starts": starts}) == [rows[3], rows[2], rows[1]]
    assert MOST_PLACEMENTS == 3
    assert chosen({"answers": answers[-9:], "starts": starts}) == [rows[0]]
