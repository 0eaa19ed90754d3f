"""Episodes of GiPH by any value, the placer `giph`, and relocations by earliest end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.giph import earliest_device
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.features import encode
from streamplace.papers.giph.placer import GiphPlacer
from streamplace.papers.giph.questions import WalkState, destinations, sight_of
from streamplace.papers.giph.search import Episodes, least_loss, random_task_eft
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.placers.registry import make_placer, placer_named
from streamplace.placers.search.current import current_devices, moving_seconds
from streamplace.placers.search.moves import with_fewest_moves
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints
from streamplace.util.running_search import counting
from streamplace.workflows.migrate import migrate
from tests.support.cli import Capture, json_of, place_by_cli, refused
from tests.support.giph import costs_between, giph, giph_problem, random_start
from tests.support.graphs import preset_graph


def episodes(problem: sp.Problem, value: object = least_loss) -> Episodes:
    policy = giph()
    return Episodes(policy, policy.encode(problem), value, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("steps", "evaluations"), [(4, 10), (50, 7), (3, 99)])
def test_episodes_make_exactly_the_evaluations_and_never_return_worse(
    steps: int, evaluations: int
) -> None:
    problem = giph_problem(1)
    start = random_start(problem)
    made = episodes(problem)
    with counting() as count:
        best = made.best_from(start, steps, evaluations)
    walks = -(-evaluations // steps)
    assert (count.evaluations or 0) <= evaluations + walks  # each walk scores its start, too
    loss = evaluator(problem).loss
    assert loss(best)[0] <= loss(start)[0]


def test_the_best_placement_is_that_of_the_highest_value() -> None:
    """A value that counts relocations holds on to the start."""
    problem = giph_problem(1)
    start = random_start(problem)

    def stays(rows: Ints, _losses: Floats) -> Floats:
        return np.asarray(-(rows != start).sum(axis=1), np.float64)

    def leaves(rows: Ints, _losses: Floats) -> Floats:
        return -stays(rows, _losses)

    assert (episodes(problem, stays).best_from(start, 5, 20) == start).all()
    assert (episodes(problem, leaves).best_from(start, 5, 20) != start).sum() >= 3


def test_repeated_episodes_start_from_the_best_placement() -> None:
    problem = giph_problem(1)
    start, loss = random_start(problem), evaluator(problem).loss
    one = episodes(problem).repeated(start, 6, 6)
    several = episodes(problem).repeated(start, 6, 60)
    assert loss(several)[0] <= loss(one)[0] <= loss(start)[0]


def test_the_placer_improves_a_start_and_repeats() -> None:
    problem = giph_problem(2)
    start = sp.Placement(problem, random_start(problem))
    placed = [
        make_placer("giph:evaluations=30")(problem, np.random.default_rng(1), start) for _ in "ab"
    ]
    assert (placed[0].devices == placed[1].devices).all()
    loss = evaluator(problem).loss
    assert loss(placed[0].devices)[0] < loss(start.devices)[0]


def test_the_shipped_weights_serve_both_objectives() -> None:
    graph, cluster = preset_graph("dream", 20, 1), sp.Cluster.equal(4)
    reached = sp.place(graph, cluster, placer="giph").score.relative_throughput
    assert reached >= sp.place(graph, cluster, placer="greedy").score.relative_throughput


def stream_problem(memory_bytes: float) -> tuple[sp.Problem, sp.Placement]:
    """Return a problem with state to move, and a bad placement of it on one more device."""
    drawn = sp.Recipe("dream", 1, range(20, 21), seed=4).graph(0)
    operators = [replace(one, memory_bytes=memory_bytes) for one in drawn.operators]
    graph = sp.StreamGraph(operators, drawn.streams)
    whole = sp.Cluster.equal(5)
    old = sp.place(graph, whole, source_rate=2e4, placer="round-robin").placement
    left = sp.Cluster(whole.devices[:4], whole.network)
    return sp.Problem(graph, left, source_rate=2e4), old


@pytest.mark.parametrize("price", [0.0, 0.05, 1e3])
def test_moves_are_worth_their_price(price: float) -> None:
    problem, old = stream_problem(1e7)
    found = migrate(problem, old, move_cost=price, placer="giph:evaluations=60")
    assert found.result.placer == f"giph:evaluations=60:move_cost={price:g}"
    rows = np.stack([found.result.placement.devices, forced_only(problem, old)])
    current, seconds = current_devices(problem, old), moving_seconds(problem)
    paid, least = current.costs(rows, seconds)
    gain = found.result.score.value - found.staying.value
    assert gain / problem.source_rate >= price * (paid - least) - 1e-9
    assert (paid > least) == (price < 1e3), "a gain of 1 never pays for 1e3 per second"
    assert len(found.chosen) > 0 or price == 1e3


def forced_only(problem: sp.Problem, old: sp.Placement) -> Ints:
    """Return the placement after the fewest moves, (V,)."""
    return with_fewest_moves(current_devices(problem, old)).devices


def test_moves_that_cost_more_are_fewer() -> None:
    problem, old = stream_problem(1e7)
    made = [
        len(migrate(problem, old, move_cost=price, placer="giph:evaluations=300").chosen)
        for price in (0.0, 0.2, 1e3)
    ]
    assert made[0] > made[1] > made[2] == 0


def test_only_giph_looks_for_moves_by_their_price() -> None:
    assert isinstance(placer_named("giph").improver, GiphPlacer)
    assert placer_named("climb").improver is None


def test_the_command_line(capsys: Capture, tmp_path: Path) -> None:
    graph = "dataset:real/riotbench-etl.json"
    start = place_by_cli(capsys, graph, tmp_path / "now.json")
    arguments = ("place", graph, "--start", start)
    found = json_of(capsys, *arguments, "--placer", "giph", "--move-cost", "0.1")
    assert found["placer"] == "giph:move_cost=0.1"
    for others in (
        ("--placer", "climb", "--move-cost", "1"),
        ("--placer", "giph", "--max-moves", "1"),
    ):
        message = refused(capsys, *arguments, *others)
        assert "except giph with --move-cost" in message


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("number", range(4))
def test_destinations_are_those_of_a_plain_rule(number: int, waits: bool) -> None:
    problem = giph_problem(number)
    one, devices = encode(problem, GiphSizes()), random_start(problem, number)
    state, scored = WalkState(one, devices), makespan_evaluator(problem)
    sight, table = sight_of(state, scored), scored.score(devices).timetable
    start, finish = np.array(table.start).tolist(), np.array(table.end).tolist()
    pairs = one.pairs

    def seconds(v: int, d: int) -> float:
        return float(pairs.weight[one.pair(v, d)])

    def arrival(v: int, d: int) -> float:
        inputs = np.flatnonzero(pairs.target == v)
        ends = [
            finish[pairs.source[e]]
            + costs_between(problem, pairs.data[e], int(devices[pairs.source[e]]), d)[2]
            for e in inputs
        ]
        return max(ends, default=0.0)

    may, answer = destinations(state, sight, waits)
    for v in range(one.size):
        on = pairs.device[pairs.first[v] : pairs.first[v + 1]].tolist()
        expected = earliest_device(
            v, on, start, finish, devices.tolist(), lambda d, v=v: arrival(v, d),  # type: ignore[misc]
            lambda d, v=v: seconds(v, d), waits,  # type: ignore[misc]
        )  # fmt: skip
        assert pairs.device[answer[v]] == expected
        assert may[v] == (len(on) > 1)


@pytest.mark.parametrize("kind", ["makespan", "throughput"])
def test_relocations_improve_on_their_start_and_stay_feasible(kind: str) -> None:
    if kind == "makespan":
        problem = giph_problem(2)
    else:
        problem = sp.Problem(
            preset_graph("dream", 20, 1), sp.Cluster.parse("5x2500"), source_rate=1e4
        )
    start = random_start(problem)
    best, lowest = random_task_eft(problem, start, 60, np.random.default_rng(0))
    scored = evaluator(problem)
    assert lowest[0] == scored.loss(start)[0]
    assert lowest[-1] < lowest[0]
    assert (np.diff(lowest) <= 0.0).all()
    assert scored.loss(best)[0] == pytest.approx(lowest[-1], rel=1e-12)
    assert problem.feasibility.violation(best) is None


def test_waiting_for_idle_devices_is_better_on_the_released_cases() -> None:
    ratios = []
    for number in range(12):
        problem = giph_problem(number)
        start, budget = random_start(problem), 2 * len(problem.graph.names)
        fair, published = (
            random_task_eft(problem, start, budget, np.random.default_rng(1), waits=waits)[1][-1]
            for waits in (True, False)
        )
        ratios.append(fair / published)
    assert np.mean(ratios) < 1.0


def test_no_evaluation_is_refused() -> None:
    problem = giph_problem()
    with pytest.raises(ValueError, match="at least 1"):
        random_task_eft(problem, random_start(problem), 0, np.random.default_rng(0))
