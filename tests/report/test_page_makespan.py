"""Makespans, bounds and critical paths that the page shows after edits, against Python."""

import json
from collections.abc import Iterator, Sequence

import pytest

from benchmarks.hardening.campaigns.invariants.browser_engines import (
    PAGE,
    Evaluate,
    called_in_node,
)
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.problem.makespan import DispatchOrder
from streamplace.report.data import data_of, entry
from streamplace.report.html import SCHEDULE
from streamplace.scoring.makespan import makespan_score
from tests.support.page_schedules import EDITS, can_run, check_page, edited
from tests.support.share import Share

FILES = ("text", "labels", "times", "flow", "links", "model", "limits", *SCHEDULE, "rules", "state")
SHOWN = """(batch) => batch.map(({ data, edits }) => {
  const [row] = data.placements;
  const [graph] = data.graphs;
  const flow = SP.flow.flowOf(graph.file);
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


@pytest.fixture(scope="module")
def shown() -> Iterator[Evaluate]:
    files = (*FILES, "throughput", "makespan", "view")
    script = "\n".join((PAGE / f"{name}.js").read_text() for name in files)
    with called_in_node(script, SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


@pytest.mark.parametrize("order", [None, "any"])
@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.long)])
def test_the_page_follows_edits(
    order: DispatchOrder | None, seeds: Sequence[int], shown: Evaluate, share: Share
) -> None:
    running, seeds = 0, share.of(seeds)
    for seed in seeds:
        form = schedule_problem(seed, large=seed % 2 > 0)
        form["settings"]["order"] = order or form["settings"]["order"]
        placement = placement_of(**form)
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
