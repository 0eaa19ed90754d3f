"""Vehicles: on streets, at their speed, in the numbers that arrivals and trips imply."""

from itertools import pairwise

import numpy as np
import pytest

from streamplace.families.sensor_fusion.scenario import Point, Scenario
from streamplace.families.sensor_fusion.snapshot import (
    Vehicle,
    connected_vehicle,
    connected_vehicles,
    longest_trip_s,
)

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
