"""Schedules and makespans on the page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem
from streamplace import Placement
from streamplace.problem.makespan import DispatchOrder
from streamplace.reports.data import data_of, entry
from streamplace.reports.html import SCHEDULE
from streamplace.reports.schedules import PASS_SCRIPTS
from streamplace.util.arrays import Ints
from tests.support.browser_engines import (
    PAGE,
    Evaluate,
    called_in_node,
)
from tests.support.makespan_problems import makespan_score, of_total_cost
from tests.support.page_schedules import EDITS, can_run, check_page, edited
from tests.support.page_timetables import PARTS, TIMETABLES, Scheduled, expected, page_input, script
from tests.support.released_data import SHARED
from tests.support.schedule_cases import schedule_form
from tests.support.schedule_tasks import TaskProblem, task_problem
from tests.support.share import Share

GOLDEN = SHARED / "makespan" / "golden.jsonl"
TIMES = ("measured_s", "bits", "startup_s", "latency_s", "gap_s", "overhead_s", "gap_in_s")


@pytest.fixture(scope="module")
def timetables() -> Iterator[Evaluate]:
    with called_in_node(script(), TIMETABLES) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


def scheduled(problem: TaskProblem) -> Scheduled:
    return Scheduled(problem.tasks, problem.order)


def placements_of(problem: TaskProblem, seed: int, count: int) -> Ints:
    """Return the problem's placement, successive random moves of it, and random placements."""
    rng = np.random.default_rng(seed)
    rows = [problem.devices]
    for _ in range(count):
        moved = rows[-1].copy()
        moved[rng.integers(len(moved))] = rng.integers(problem.tasks.devices)
        rows.append(moved)
    shape = count, len(problem.devices)
    return np.vstack([*rows, rng.integers(problem.tasks.devices, size=shape)]).astype(np.int32)


def uneven(problem: TaskProblem, seed: int) -> TaskProblem:
    """Return a problem with times that are not exact in binary."""
    rng, tasks = np.random.default_rng(seed), problem.tasks
    factor = partial(rng.uniform, 0.5, 1.5)
    changed = {name: getattr(tasks, name) * factor(getattr(tasks, name).shape) for name in TIMES}
    return problem._replace(tasks=replace(tasks, **changed))


def differences(problem: TaskProblem, placements: Ints, timetables: Evaluate) -> tuple[int, int]:
    """Check every placement; return the number of those that run, and of steps by channels."""
    run = queued = 0
    [shown] = timetables([page_input(scheduled(problem), placements)])
    for devices, page in zip(placements, shown, strict=True):
        due = expected(scheduled(problem), devices)
        assert page == due
        if due is not None:
            run += 1
            queued += any(step[-1] in ("channel", "receiver") for step in due["path"])
    return run, queued


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 2_000), marks=pytest.mark.long)]
)
def test_schedules_of_random_problems_are_equal(
    large: bool, seeds: Sequence[int], timetables: Evaluate, share: Share
) -> None:
    """All times and critical paths are the same numbers, also where many moments coincide."""
    run = queued = 0
    seeds = share.of(seeds)
    for seed in seeds:
        problem = task_problem(schedule_problem(seed, large=large))
        for one in (problem, uneven(problem, seed)):
            counts = differences(one, placements_of(one, seed, 5), timetables)
            run, queued = run + counts[0], queued + counts[1]
    assert run > 8 * len(seeds)
    assert queued > len(seeds)


def test_golden_cases(timetables: Evaluate) -> None:
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not in ../shared")
    for line in GOLDEN.read_text().splitlines():
        case = json.loads(line)
        form: ScheduleForm = {
            "graph": case["graph"],
            "cluster": case["cluster"],
            "settings": case["settings"],
            "placement": case["placement"],
        }
        problem, due = task_problem(form), case["expected"]
        [[page]] = timetables([page_input(scheduled(problem), problem.devices[None])])
        assert page["makespan"] == due["makespan_s"], case["name"]
        assert page["start"] == [due["start_s"][name] for name in problem.inputs.names]
        assert page["end"] == [due["finish_s"][name] for name in problem.inputs.names]


def test_small_schedules(timetables: Evaluate) -> None:
    """A message waits for a channel, and the critical path names it."""
    form = schedule_form("a:1 b:1@1 c:1@1", "a>b:2 a>c:2", devices=2, network={"kind": "pair"})
    problem = task_problem(form)
    [[page]] = timetables([page_input(scheduled(problem), problem.devices[None])])
    assert page["makespan"] == 6
    assert page["start"] == [0, 3, 5]
    assert [step[0] + str(step[1]) for step in page["path"]] == [
        "operator0",
        "message0",
        "message1",
        "operator2",
    ]
    assert [step[-1] for step in page["path"]] == ["", "", "channel", "input"]
    assert page["division"]["parts"] == dict(zip(PARTS, (2, 2, 0, 0, 2, 0), strict=True))


def test_an_operator_that_cannot_run_has_no_schedule(timetables: Evaluate) -> None:
    form = schedule_form("a:1 b:1", "a>b:2", devices=2)
    problem = task_problem(form)
    measured = problem.tasks.measured_s.copy()
    measured[1, 1] = np.inf
    problem = problem._replace(tasks=replace(problem.tasks, measured_s=measured))
    [shown] = timetables([page_input(scheduled(problem), np.array([[0, 0], [0, 1]], np.int32))])
    assert shown[0]["makespan"] == 2
    assert shown[1] is None


FILES = ("text", "labels", "times", "flow", "links", "model", "limits", *SCHEDULE, "rules", "state")
SHOWN = """(batch) => batch.map(({ data, edits }) => {
  const [row] = data.placements;
  const [graph] = data.graphs;
  const flow = SP.flow.flowOf(graph.file);
  const placement = SP.view.placementOf(row, graph, flow, data.schedules[row.schedule]);
  const shown = (setting) => {
    const view = SP.view.viewOf(placement, setting);
    return { ...placement.problem.objective.scoreObject(view), broken: SP.view.brokenIn(view) };
  };
  const settings = [placement.initial];
  for (const [v, d] of edits) settings.push(SP.state.moved(settings.at(-1), v, d));
  return settings.map(shown);
})"""


@pytest.fixture(scope="module")
def shown() -> Iterator[Evaluate]:
    files = (*FILES, "throughput", *PASS_SCRIPTS.values(), "view")
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
        for page, placed in zip(pages, placements, strict=True):
            feasible = placement.problem.feasibility.violation(placed.devices) is None
            assert (page["broken"] == []) == feasible, seed
            if not can_run(placed):
                assert page["makespan"] is None
                continue
            running += 1
            check_page(page, makespan_score(placed))
    assert running > 0.7 * len(seeds) * (EDITS + 1)


def test_the_page_of_a_total_cost_follows_edits(shown: Evaluate) -> None:
    """Its costs, their parts and the gap are those of Python; the schedule is shown as well."""
    kinds = set[tuple[str, object]]()
    for seed in range(60):
        read = placement_of(**schedule_problem(seed))
        placement = Placement(of_total_cost(read.problem), read.devices)
        moves, placements = edited(placement, seed)
        data = json.loads(json.dumps(data_of([entry("a", placement)]), allow_nan=False))
        [pages] = shown([{"data": data, "edits": moves}])
        for page, placed in zip(pages, placements, strict=True):
            if not can_run(placed):
                assert page["total_cost"] is None
                continue
            score = makespan_score(placed)
            assert page["total_cost"] == pytest.approx(score.value, rel=1e-12)
            parts = {"execution_s": page["execution"], "transfers_s": page["transfers"]}
            assert score.division.to_dict() == pytest.approx(parts, rel=1e-12)
            assert (page["bound"], page["gap"]) == (score.bound_s, pytest.approx(score.gap))
            assert page["makespan"] == pytest.approx(score.makespan_s)
            kinds.add((placed.problem.cluster.network.kind, placed.problem.graph.multicast))
    assert len(kinds) == 12
