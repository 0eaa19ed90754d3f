"""Figures of the campaign of passes, and its graphs and placements."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.testbed.passes import summary
from benchmarks.testbed.passes.campaign import RESULTS
from benchmarks.testbed.passes.executors import KINDS
from benchmarks.testbed.passes.overheads import Overheads
from benchmarks.testbed.passes.problems import NEAR, PLACERS, placements, predicted, problems
from benchmarks.testbed.passes.scaling import scale_pass


def result(simulated: list[float], measured: list[list[float]]) -> dict[str, Any]:
    rows = zip(simulated, measured, strict=True)
    return {
        "run": 1,
        "placements": {
            f"p{i}": {"simulated_s": s, "measured_s": m} for i, (s, m) in enumerate(rows)
        },
    }


def test_figures_of_two_graphs() -> None:
    first = result([1.0, 2.0, 4.0], [[1.1, 0.9, 1.1], [2.0, 2.0, 2.0], [4.0, 4.4, 4.4]])
    second = result([1.0, 2.0], [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    found = summary.figures([first, second])
    assert (found.graphs, found.placements) == (2, 5)
    assert (found.median_rank, found.least_rank) == pytest.approx((0.0, -1.0))
    assert found.error == pytest.approx((0.1 + 0.0 + 0.1 + 1.0 + 0.5) / 5)
    assert found.bias == pytest.approx((0.1 + 0.0 + 0.1 + 1.0 - 0.5) / 5)
    assert found.largest_error == pytest.approx(1.0)
    assert not found.good
    assert summary.figures([first, first]).least_rank == pytest.approx(1.0)


def test_simulated_makespans_that_agree_are_ties() -> None:
    apart = summary.rank(np.array([1.0, 1.0 + 1e-9, 2.0]), np.array([1.2, 1.1, 2.0]))
    assert apart == summary.rank(np.array([1.0 + 1e-9, 1.0, 2.0]), np.array([1.2, 1.1, 2.0]))


def test_a_report_without_results_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summary.run(tmp_path) == 1
    assert "run the campaign first" in capsys.readouterr().out


def test_a_report_ignores_an_incomplete_line(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    whole = '{"run": 1, "placements": {"a": {"simulated_s": 1.0, "measured_s": [1.0]}, '
    whole += '"b": {"simulated_s": 2.0, "measured_s": [2.0]}}}\n'
    path.write_text(whole + whole[:40])
    assert summary.run(tmp_path) == 0
    assert path.read_text() == whole


def test_a_campaign_has_distinct_graphs_on_both_networks() -> None:
    made = list(problems(24))
    assert len({problem.graph.name for problem in made}) == 24
    assert len({problem.graph.sha256 for problem in made}) == 24
    assert sum(problem.cluster.network.kind == KINDS[0] for problem in made) == 12
    assert made[5].graph == list(problems(24))[5].graph
    combinations = {
        (p.graph.name.split("_")[0], p.cluster.network.kind, p.cluster.capacity.min()) for p in made
    }
    assert len(combinations) == 3 * 2 * 2


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_placements_differ_and_some_are_of_similar_quality(number: int) -> None:
    """In the second problem, HEFT finds the placement of `auto`."""
    scaled = scale_pass(list(problems(number + 1))[number])
    chosen = placements(scaled)
    assert {name.removesuffix("+moves") for name in chosen} == {*PLACERS, *NEAR}
    problem = scaled.problem(Overheads.none(4))
    seconds = dict(zip(chosen, predicted(problem, np.array(list(chosen.values()))), strict=True))
    for name, aim in NEAR.items():
        assert seconds[name] / seconds["auto"] == pytest.approx(aim, abs=0.02)
    assert (np.diff(sorted(seconds.values())) > 1e-4).all()
    assert ("heft+moves" in chosen) == (number == 1)
