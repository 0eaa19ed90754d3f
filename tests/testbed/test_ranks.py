"""Tables of ranks, and the campaign with its summary."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import result_lines
from benchmarks.testbed import campaign, summary
from benchmarks.testbed.comparing import relation
from benchmarks.testbed.scaling import Machine
from benchmarks.testbed.tables import rows, scaled
from streamplace import Placement
from streamplace.scoring.throughput import simulate


def test_a_difference_of_a_twentieth_is_a_tie() -> None:
    assert [relation(1.0, b) for b in (0.94, 0.96, 1.0, 1.04, 1.07)] == [">", "=", "=", "=", "<"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.table}-{row.case}")
@pytest.mark.parametrize(
    "machine",
    [Machine(), Machine(o_s=6e-5), Machine(delivered=0.96, o_s=1.6e-5, o_s_byte=8e-10)],
    ids=["no costs", "o only", "calibrated"],
)
def test_ranks_hold_in_simulation(row: Any, machine: Machine) -> None:
    problem = scaled(row, machine).problem
    achieved = {
        name: simulate(Placement(problem, np.array(devices))).relative_throughput
        for name, devices in row.placements.items()
    }
    assert row.holds(achieved)
    first, second = achieved["P1"], achieved["P2"]
    backwards = achieved | {"P1": second, "P2": first}
    assert row.holds(backwards) == all(text[2] == "=" for text in row.expected)


def test_a_campaign_has_distinct_graphs_of_its_sizes() -> None:
    made = list(campaign.graphs(24))
    assert len({graph.name for graph in made}) == len({graph.sha256 for graph in made}) == 24
    assert {len(graph.names) in campaign.SIZES for graph in made} == {True}
    assert sum(graph.name.startswith("dream") for graph in made) == 12


def result(graph: str, placer: str, simulated: float, measured: float) -> dict[str, Any]:
    both = {"closed": simulated, "engine": simulated, "measured": measured}
    return {"graph": graph, "placer": placer, **both}


def test_a_summary_counts_ranks_and_winners() -> None:
    placers = ("metis", "fuser", "policy", "auto")
    results = [
        result("a", name, x, x + 0.01) for name, x in zip(placers, (1, 2, 3, 4), strict=True)
    ]
    swapped = zip(placers, (0.1, 0.2, 0.30, 0.31), (0.1, 0.2, 0.31, 0.30), strict=True)
    results += [result("b", *one) for one in swapped]
    results += [result("c", "metis", 1.0, 1.0)]  # not complete
    found = summary.by_graph(results)
    assert set(found) == {"a", "b"}
    assert summary.taus(found, "closed") == pytest.approx([1.0, 4 / 6])
    assert summary.winners(found, "closed") == (1, 2)
    assert summary.clear_pairs(found, "closed") == (11, 11)
    assert summary.differences(found, "engine")[:4] == pytest.approx(0.01)
    assert "| auto | 2.155 | 2.155 | 2.155 | +1.600" in summary.against_metis(found)[-1]


def test_an_incomplete_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"graph": "a"}\n{"graph": "b"}\n{"gra')
    assert [one["graph"] for one in result_lines.read(path)] == ["a", "b"]
    with path.open("a") as file:
        file.write('{"graph": "c"}\n')
    assert [one["graph"] for one in result_lines.read(path)] == ["a", "b", "c"]
    assert result_lines.read(tmp_path / "none") == []


def test_expected_relations_name_placements_of_the_row() -> None:
    for row in rows():
        for text in row.expected:
            assert {text[:2], text[3:]} <= set(row.placements)
        for a, b in pairwise(row.placements.values()):
            assert len(a) == len(b) == len(row.graph.names)
