"""Makespans, bounds and critical paths that the page shows after edits, against Python."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.hardening.campaigns.invariants.page_comparison import (
    PAGE,
    Evaluate,
    called_in_node,
)
from streamplace import Placement
from streamplace.problem.makespan import DispatchOrder
from streamplace.report.data import data_of, entry
from streamplace.report.html import SCHEDULE
from streamplace.scoring.makespan import makespan_score
from streamplace.scoring.makespan_score import MakespanScore
from tests.support.schedule_placements import makespan_placement
from tests.support.schedule_problems import schedule_problem

FILES = ("text", "labels", "model", "limits", *SCHEDULE, "rules", "state")
SHOWN = """(batch) => batch.map(({ data, edits }) => {
  const [row] = data.placements;
  const [graph] = data.graphs;
  const flow = SP.model.flowOf(graph.file);
  const placement = SP.view.placementOf(row, graph, flow, data.schedules[row.schedule]);
  const shown = (setting) => {
    const view = SP.view.viewOf(placement, setting);
    return { ...SP.makespan.scoreObject(view), broken: SP.view.brokenIn(view) };
  };
  return [placement.edits.first, ...edits.map(([v, d]) => {
    placement.edits.set(SP.state.moved(placement.edits.now(), v, d));
    return placement.edits.now();
  })].map(shown);
})"""
EDITS = 10


@pytest.fixture(scope="module")
def shown() -> Iterator[Evaluate]:
    files = (*FILES, "throughput", "makespan", "view")
    script = "\n".join((PAGE / f"{name}.js").read_text() for name in files)
    with called_in_node(script, SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


def edited(placement: Placement, seed: int) -> tuple[list[list[int]], list[Placement]]:
    """Return random moves [operator, device], and the placement before and after each of them."""
    rng, devices = np.random.default_rng(seed), placement.devices.copy()
    moves, placements = [], [placement]
    for _ in range(EDITS):
        v, d = rng.integers(len(devices)), rng.integers(len(placement.problem.cluster.devices))
        devices[v] = d
        moves.append([int(v), int(d)])
        placements.append(Placement(placement.problem, devices.copy()))
    return moves, placements


def can_run(placement: Placement) -> bool:
    """Return whether every operator has a time on its device."""
    graph, devices = placement.problem.graph, placement.problem.cluster.devices
    return all(
        seconds.runs_on(
            devices[placement.devices[v]].kind,
            with_instructions=not np.isnan(graph.instructions[v]),
        )
        for v, seconds in graph.seconds_on.items()
    )


def check_page(page: dict[str, Any], score: MakespanScore) -> None:
    """Check that the page shows a score."""
    table = score.timetable
    assert page["makespan"] == pytest.approx(score.makespan_s, abs=1e-9)
    assert page["start"] == pytest.approx(table.start.tolist(), abs=1e-9)
    assert page["end"] == pytest.approx(table.end.tolist(), abs=1e-9)
    assert page["order"] == score.order
    assert page["bound"] == score.bound_s
    assert page["gap"] == pytest.approx(score.gap, abs=1e-9)
    slr = np.inf if page["slr"] is None else page["slr"]  # JSON has no infinity
    assert slr == pytest.approx(score.slr, rel=1e-9)
    steps = page["critical_path"]
    assert [[*step.values()] for step in steps] == [list(step) for step in table.critical_path]
    assert dict(page["devices"]) == pytest.approx(
        {load.name: load.utilisation for load in score.devices}, abs=1e-9
    )
    assert page["devices_used"] == sum(load.operators > 0 for load in score.devices)


@pytest.mark.parametrize("order", [None, "any"])
@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.long)])
def test_the_page_follows_edits(order: DispatchOrder | None, seeds: range, shown: Evaluate) -> None:
    running = 0
    for seed in seeds:
        placement = makespan_placement(schedule_problem(seed, large=seed % 2 > 0), order)
        moves, placements = edited(placement, seed)
        data = json.loads(json.dumps(data_of([entry("a", placement)]), allow_nan=False))
        [pages] = shown([{"data": data, "edits": moves}])
        for page, expected in zip(pages, placements, strict=True):
            feasible = placement.problem.feasibility.violation(expected.devices) is None
            assert (page["broken"] == []) == feasible, seed
            if not can_run(expected):
                assert page["makespan"] is None
                continue
            running += 1
            check_page(page, makespan_score(expected))
    assert running > 0.7 * len(seeds) * (EDITS + 1)
