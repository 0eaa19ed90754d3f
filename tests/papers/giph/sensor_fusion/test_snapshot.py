"""Snapshots of sensor fusion: vehicles, sensors, tasks, devices, and what successive ones share."""

from collections import Counter
from itertools import pairwise
from math import exp

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.families import Recipe
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.sensor_fusion import SensorFusion
from streamplace.papers.giph.sensor_fusion.scenario import (
    STARTUP_S,
    STATE_BYTES,
    TIMES_S,
    Point,
    Scenario,
    relocation_cost,
)
from streamplace.papers.giph.sensor_fusion.snapshot import (
    Vehicle,
    connected_vehicle,
    connected_vehicles,
    longest_trip_s,
    snapshot_of,
)
from streamplace.placers.registry import make_placer
from streamplace.placers.search.current import current_devices
from streamplace.placers.search.moves import with_fewest_moves
from streamplace.problem.relocation import BITS_PER_BYTE

SCENARIO = Scenario()


def length(vehicle: Vehicle) -> float:
    """Return the length of a vehicle's way in metres."""
    return sum(abs(b.x - a.x) + abs(b.y - a.y) for a, b in pairwise(vehicle.corners))


def vehicles(scenario: Scenario, seed: int, count: int) -> list[Vehicle]:
    """Return the connected ones of the first vehicles."""
    drawn = (connected_vehicle(scenario, seed, number) for number in range(count))
    return [vehicle for vehicle in drawn if vehicle is not None]


def test_a_vehicle_drives_along_its_way_at_its_speed() -> None:
    way = (Point(0, 0), Point(200, 0), Point(200, 0), Point(200, 400))
    vehicle = Vehicle(0, 5.0, way)
    assert vehicle.at(4.9, 10) is None
    assert [vehicle.at(5.0 + t, 10) for t in (0, 5, 20, 25, 60)] == [
        Point(0, 0),
        Point(50, 0),
        Point(200, 0),
        Point(200, 50),
        Point(200, 400),
    ]
    assert vehicle.at(65.1, 10) is None


def test_vehicles_stay_on_streets_and_enter_at_the_edge() -> None:
    for vehicle in vehicles(SCENARIO, 1, 1000):
        first = vehicle.corners[0]
        assert {first.x, first.y} & {0.0, 1000.0}
        for a, b in pairwise(vehicle.corners):
            assert a.x == b.x or a.y == b.y
            assert {c % 200 for c in (*a, *b)} == {0.0}
            assert 0 <= min(*a, *b) <= max(*a, *b) <= 1000
        assert length(vehicle) / SCENARIO.speed <= longest_trip_s(SCENARIO)


def test_positions_move_at_the_speed() -> None:
    at = {v.number: p for v, p in connected_vehicles(SCENARIO, 2, 900.0)}
    later = {v.number: p for v, p in connected_vehicles(SCENARIO, 2, 901.0)}
    both = at.keys() & later.keys()
    assert len(both) > 10
    for number in both:
        one, other = at[number], later[number]
        moved = abs(one.x - other.x) + abs(one.y - other.y)
        assert moved <= 10 + 1e-9  # less where the vehicle turns back
    straight = [abs(at[n].x - later[n].x) + abs(at[n].y - later[n].y) for n in both]
    assert np.median(straight) == pytest.approx(10)


def test_arrivals_and_the_connected_share_are_those_of_the_scenario() -> None:
    found = vehicles(SCENARIO, 3, 3980)
    assert len(found) == pytest.approx(398, abs=4 * np.sqrt(398 * 0.9))
    assert [v.arrival_s for v in found] == sorted(v.arrival_s for v in found)
    for vehicle in found:
        assert 0 <= vehicle.arrival_s * 3980 / 3600 - vehicle.number <= 1


def test_their_number_obeys_littles_law() -> None:
    scenario = Scenario(connected=1.0, arrivals=400.0)
    start = longest_trip_s(scenario)
    times = start + 600.0 * np.arange(150)
    counts = [sum(1 for _ in connected_vehicles(scenario, 4, t)) for t in times]
    trips = [length(vehicle) for vehicle in vehicles(scenario, 4, 4000)]
    expected = 400 / 3600 * np.mean(trips) / scenario.speed
    error = np.sqrt(np.var(counts) / len(counts) + np.var(trips) / len(trips) / 90**2)
    assert np.mean(counts) == pytest.approx(expected, abs=4 * error)


def test_a_moment_does_not_depend_on_those_before() -> None:
    once = list(connected_vehicles(SCENARIO, 5, 1234.0))
    list(connected_vehicles(SCENARIO, 5, 100.0))
    assert list(connected_vehicles(SCENARIO, 5, 1234.0)) == once
    assert list(connected_vehicles(SCENARIO, 6, 1234.0)) != once


FAMILY = "sensor-fusion"


def problem(recipe: Recipe, number: int) -> sp.Problem:
    """Return the problem of a snapshot."""
    return sp.Problem(recipe.graph(number), recipe.cluster(number), objective=sp.Makespan())


def types(graph: sp.StreamGraph) -> Counter[str]:
    """Return how many operators each type has."""
    return Counter(graph.type.values())


def test_the_map_has_the_devices_of_the_paper() -> None:
    recipe = Recipe(FAMILY, 30, seed=1)
    for number in range(0, 30, 7):
        cluster = recipe.cluster(number)
        kinds = Counter((d.name.rstrip("0123456789"), d.kind) for d in cluster.devices)
        cavs = kinds.pop(("cav", "A"))
        assert kinds == {
            ("rsu", "C"): 36,
            ("edge", "A"): 10,
            ("edge", "B"): 10,
            ("edge", "C"): 20,
        }
        assert 8 < cavs < 60
        assert {d.kind for d in cluster.devices} == {"A", "B", "C"}


def test_the_graph_has_the_sensors_and_tasks_of_its_places() -> None:
    recipe = Recipe(f"{FAMILY}:cameras=3:vehicle_cameras=2", 20, seed=2)
    for number in (0, 9):
        graph, cluster = recipe.graph(number), recipe.cluster(number)
        cavs = sum(d.name.startswith("cav") for d in cluster.devices)
        cameras = 3 * 36 + 2 * cavs
        assert types(graph) == {
            "camera-sensor": cameras,
            "camera": cameras,
            "lidar-sensor": cavs,
            "lidar": cavs,
            "cav-fusion": cavs,
            "rsu-fusion": 36,
        }
        assert len(graph.streams) == 2 * (cameras + cavs) + cavs
        ends = {graph.type[int(v)] for v in graph.sinks}
        assert ends == {"rsu-fusion"}
        assert {graph.type[int(v)] for v in graph.sources} <= {"camera-sensor", "lidar-sensor"}


def test_a_block_covers_the_middle_of_the_map() -> None:
    assert Scenario(block=2).covered == (14, 15, 20, 21)
    assert Scenario(side=3, block=1).covered == (4,)
    assert Scenario().covered == tuple(range(36))
    graph = Recipe(f"{FAMILY}:block=1", 1, seed=1).graph(0)
    assert types(graph)["rsu-fusion"] == 1
    assert "rsu14-fusion" in graph.names


@pytest.mark.parametrize("options", ["", ":block=1:on_board=B:reach=250"])
def test_tasks_run_within_reach_and_links_follow_the_distance(options: str) -> None:
    recipe = Recipe(FAMILY + options, 20, seed=3)
    scenario = SensorFusion(block=1, on_board="B", reach=250) if options else SensorFusion()
    for number in (0, 13):
        graph, cluster = recipe.graph(number), recipe.cluster(number)
        at = {m.device.name: m.point for m in snapshot_of(scenario, 3, number).machines}
        assert at.keys() == {*cluster.names}
        for task, devices in graph.constraints.allowed.items():
            owner = at[task.partition("-")[0]]
            near = [d for d in cluster.names if at[d].distance(owner) <= scenario.reach]
            assert list(devices) == near
            assert task.partition("-")[0] in near
        mbps = cluster.link_column("bandwidth_mbps")
        for link in range(0, len(mbps), 37):
            one, other = cluster.link_ends(link)
            if one != other:
                d = at[str(one)].distance(at[str(other)])
                assert mbps[link] == pytest.approx(max(60 * exp(-d / 100), 1e-6), rel=1e-5)
        square = mbps.reshape(len(at), len(at))
        np.testing.assert_array_equal(square, square.T)
        assert mbps.max() <= 60


def test_placements_are_feasible_and_have_the_measured_times() -> None:
    recipe = Recipe(f"{FAMILY}:block=1", 10, seed=4)
    for number in range(0, 10, 3):
        of = problem(recipe, number)
        placement = make_placer("heft")(of, np.random.default_rng(0))
        assert of.feasibility.violation(placement.devices) is None
        trace = makespan_evaluator(of).trace(placement.devices)
        took = trace.finish_s[0] - trace.start_s[0]
        for v, d in enumerate(placement.devices):
            kind = str(of.cluster.devices[d].kind)
            expected = TIMES_S.get(of.graph.type[v], {}).get(kind, 0.0)  # sensors take no time
            assert took[v] == pytest.approx(expected, abs=1e-12)


def test_successive_snapshots_share_names_and_relocations_are_defined() -> None:
    recipe, cost = Recipe(f"{FAMILY}:block=2", 60, seed=5), relocation_cost()
    rng, total = np.random.default_rng(0), 0.0
    numbers = range(0, 60, 12)
    problems = [problem(recipe, number) for number in numbers]
    for old, new in pairwise(problems):
        shared = {*old.graph.names} & {*new.graph.names}
        assert len(shared) >= 36
        allowed = old.feasibility.allowed[old.feasibility.unit_of]
        before = sp.Placement(old, [rng.choice(np.flatnonzero(row)) for row in allowed])
        after = with_fewest_moves(current_devices(new, before))
        moves = cost.moves(new, before, after)
        expected = sum(_plain(new, before, after, name) for name in new.graph.names)
        assert sum(move.seconds for move in moves) == pytest.approx(expected)
        total += expected
    assert total > 0


def _plain(new: sp.Problem, before: sp.Placement, after: sp.Placement, name: str) -> float:
    """Return what the relocation of one operator costs."""
    source, target = before.assignment.get(name), after.assignment[name]
    if source is None or source == target:
        return 0.0
    cluster, what = new.cluster, new.graph.type[new.graph.index[name]]
    seconds = STARTUP_S[str(cluster.devices[cluster.index[target]].kind)][what]
    for override in cluster.network.overrides:
        if (override.source, override.target) == (source, target):
            assert override.bandwidth_mbps is not None
            seconds += STATE_BYTES[what] * BITS_PER_BYTE / (override.bandwidth_mbps * 1e6)
    return seconds


def test_consecutive_snapshots_are_an_interval_apart() -> None:
    slow, fast = SensorFusion(interval=5), SensorFusion(interval=10)
    assert snapshot_of(slow, 1, 6).vehicles == snapshot_of(fast, 1, 3).vehicles
    names = [{m.device.name for m in snapshot_of(fast, 1, n).vehicles} for n in range(12)]
    for one, other in pairwise(names):
        assert len(one & other) > 0.7 * len(one)
    assert names[0] != names[11]


def test_static_bytes_are_sent_only_on_request() -> None:
    assert relocation_cost().static_bytes == {}
    assert relocation_cost(static=True).static_bytes["camera"] == 72_173_525


@pytest.mark.parametrize(
    ("family", "sizes", "message"),
    [
        (FAMILY, range(5, 9), "the traffic determines the number of operators; use block=N"),
        (f"{FAMILY}:block=7", None, "block must be 1 to 6 (got 7)"),
        (f"{FAMILY}:side=1", None, "side must be 2 to 20 (got 1)"),
        (f"{FAMILY}:on_board=D", None, "unknown on_board 'D'"),
        (f"{FAMILY}:connected=1.5", None, "connected must be 0 to 1 (got 1.5)"),
        (f"{FAMILY}:speed=0", None, "speed must be 0.1 to 100 (got 0)"),
    ],
)
def test_what_is_refused(family: str, sizes: range | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Recipe(family, 1, sizes)
    assert message in str(caught.value)
