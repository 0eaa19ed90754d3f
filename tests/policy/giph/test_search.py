"""Episodes of GiPH by any value of placements, and the placer `giph`."""

from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.placers.registry import improver_of, make_placer
from streamplace.placers.search.current import current_devices, moving_seconds
from streamplace.policy.giph.placer import GiphPlacer
from streamplace.policy.giph.search import Episodes, least_loss
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints
from streamplace.util.evaluation_count import counting
from streamplace.workflows.migrate import migrate
from tests.support.cli import Capture, json_of, place_by_cli, refused
from tests.support.giph import giph, giph_problem, random_start
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


def stream_problem() -> tuple[sp.Problem, sp.Placement]:
    """Return a problem with state to move, and a placement of it on one more device."""
    recipe = sp.Recipe("dream", 1, range(20, 21), seed=4)
    graph = recipe.graph(0)
    whole = sp.Cluster.equal(5)
    old = sp.place(graph, whole, source_rate=2e4, placer="search:evaluations=3000").placement
    left = sp.Cluster(whole.devices[:4], whole.network)
    return sp.Problem(graph, left, source_rate=2e4), old


@pytest.mark.parametrize("price", [0.0, 0.05, 1e9])
def test_moves_are_worth_their_price(price: float) -> None:
    problem, old = stream_problem()
    found = migrate(problem, old, move_cost=price, placer="giph:evaluations=60")
    assert found.result.placer == f"giph:evaluations=60:move_cost={price:g}"
    current = current_devices(problem, old)
    placement = found.result.placement
    seconds = moving_seconds(problem)
    gain = found.result.score.value - found.staying.value
    paid = current.costs(placement.devices[None], seconds)[0]
    assert gain / problem.source_rate >= price * paid - 1e-9 or not found.chosen
    if price == 1e9 and seconds.any():
        assert not found.chosen


def test_only_giph_looks_for_moves_by_their_price() -> None:
    assert isinstance(improver_of("giph"), GiphPlacer)
    assert improver_of("climb") is None


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
