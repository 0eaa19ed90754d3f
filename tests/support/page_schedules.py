"""Random edits of pages with schedules, and the comparison of what they show with Python."""

from typing import Any

import numpy as np
import pytest

from streamplace import Placement
from streamplace.makespan.score import MakespanScore
from streamplace.sim.schedule.passes import Division, divide

EDITS = 10


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


def check_division(page: dict[str, Any], expected: Division) -> None:
    """Check that the page divides a makespan as `explain` does."""
    assert page["chain"] == list(expected.chain)
    names = ("work", "messages", "overheads", "devices", "channels", "levels")
    assert list(page["parts"]) == list(names)
    assert list(page["parts"].values()) == pytest.approx(list(expected[1:]), abs=1e-9)


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
    check_division(page["division"], divide(table))
    assert dict(page["devices"]) == pytest.approx(
        {load.name: load.utilisation for load in score.devices}, abs=1e-9
    )
    assert page["devices_used"] == sum(load.operators > 0 for load in score.devices)
