"""Snapshots of the map: where devices are, which tasks they may run, and the graphs of these tasks.

The paper's traces come from SUMO and are not used. Here vehicles enter at evenly spaced times
with a random shift, at a random intersection on the edge of the map, drive to random intersections
at a constant speed, and leave the map at the last one. Each vehicle has its own random generator,
so that any moment can be computed without those before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

import numpy as np

from streamplace.families.sensor_fusion.scenario import (
    CAMERA,
    CAV_FUSION,
    LIDAR,
    RSU_FUSION,
    STATE_BYTES,
    TIMES_S,
    Point,
    Scenario,
    instructions_of,
    mips_of,
)
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph

SECONDS_PER_HOUR = 3600.0
RSU_KIND = "C"


@dataclass(frozen=True)
class Vehicle:
    """A connected vehicle and its way.

    Parameters
    ----------
    number
        Its number among all vehicles, in the order of their arrival.
    arrival_s
        Seconds at which it enters the map.
    corners
        The ends of the straight parts of its way.
    """

    number: int
    arrival_s: float
    corners: tuple[Point, ...]

    def at(self, time_s: float, speed: float) -> Point | None:
        """Return its position at a moment; None before it arrives and after it has left."""
        left = (time_s - self.arrival_s) * speed
        if left < 0.0:
            return None
        for one, other in pairwise(self.corners):
            length = abs(other.x - one.x) + abs(other.y - one.y)
            if left <= length > 0.0:
                share = left / length
                return Point(one.x + share * (other.x - one.x), one.y + share * (other.y - one.y))
            left -= length
        return None


def longest_trip_s(scenario: Scenario) -> float:
    """Return the time that no trip exceeds, in seconds."""
    across = 2 * (scenario.side - 1) * scenario.spacing
    return scenario.waypoints * across / scenario.speed


def connected_vehicles(
    scenario: Scenario, seed: int, time_s: float
) -> Iterator[tuple[Vehicle, Point]]:
    """Yield the connected vehicles that are on the map at a moment, with their positions.

    Moments from `longest_trip_s` on are in the steady state: no vehicle that arrived before 0 would
    still be there.
    """
    per_second = scenario.arrivals / SECONDS_PER_HOUR
    first = max(0, floor((time_s - longest_trip_s(scenario)) * per_second) - 1)
    for number in range(first, ceil(time_s * per_second)):
        vehicle = connected_vehicle(scenario, seed, number)
        if vehicle is not None and (point := vehicle.at(time_s, scenario.speed)) is not None:
            yield vehicle, point


def connected_vehicle(scenario: Scenario, seed: int, number: int) -> Vehicle | None:
    """Return a vehicle by its number; None if it is not connected."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1, number])))
    chance, shift, entry, *steps = rng.random(3 + 3 * scenario.waypoints).tolist()
    if chance >= scenario.connected:
        return None
    side, ring = scenario.side, _ring(scenario.side)
    at = ring[int(entry * len(ring))]
    corners = [at]
    for column, row, turn in zip(steps[::3], steps[1::3], steps[2::3], strict=True):
        to = int(column * side), int(row * side)
        corners += [(to[0], at[1]) if turn < 0.5 else (at[0], to[1]), to]  # noqa: PLR2004 - even odds
        at = to
    points = tuple(Point(i * scenario.spacing, j * scenario.spacing) for i, j in corners)
    return Vehicle(number, (number + shift) * SECONDS_PER_HOUR / scenario.arrivals, points)


def _ring(side: int) -> list[tuple[int, int]]:
    """Return the intersections on the edge of the map, as columns and rows."""
    steps = range(side)
    return [(i, j) for j in steps for i in steps if {i, j} & {0, side - 1}]


@dataclass(frozen=True)
class Machine:
    """A device with its position."""

    device: Device
    point: Point


@dataclass(frozen=True)
class Snapshot:
    """The devices at one moment, and the places whose sensors send data.

    Parameters
    ----------
    scenario
        The parameters.
    rsus, vehicles, edge
        The RSUs whose intersections are covered, the connected vehicles within reach of one of
        them, and the other devices within reach of any of these.
    """

    scenario: Scenario
    rsus: tuple[Machine, ...]
    vehicles: tuple[Machine, ...]
    edge: tuple[Machine, ...]

    @property
    def machines(self) -> tuple[Machine, ...]:
        """All devices, in the order of the cluster."""
        return (*self.rsus, *self.edge, *self.vehicles)

    def within_reach(self, point: Point) -> list[str]:
        """Return the names of the devices within reach of a position."""
        reach = self.scenario.reach
        return [m.device.name for m in self.machines if m.point.distance(point) <= reach]

    def nearest_rsu(self, point: Point) -> str:
        """Return the name of the covered RSU that is nearest to a position."""
        return min(self.rsus, key=lambda rsu: rsu.point.distance(point)).device.name

    def cluster(self) -> Cluster:
        """Return the devices as a cluster, with a link for each pair."""
        scenario = self.scenario
        overrides = tuple(
            LinkOverride(
                one.device.name,
                other.device.name,
                bandwidth_mbps=scenario.mbps(one.point.distance(other.point)),
            )
            for one in self.machines
            for other in self.machines
            if one is not other
        )
        network = Network(
            "free",
            bandwidth_mbps=scenario.bandwidth,
            latency_s=scenario.latency,
            overrides=overrides,
        )
        return Cluster([machine.device for machine in self.machines], network)


def snapshot_of(scenario: Scenario, seed: int, number: int) -> Snapshot:
    """Return a snapshot; those with successive numbers are `interval` seconds apart."""
    covered = {*scenario.covered}
    rsus, others = list[Machine](), list[Machine]()
    for i, point in enumerate(scenario.intersections):
        (rsus if i in covered else others).append(_machine(f"rsu{i}", RSU_KIND, point))
    time_s = longest_trip_s(scenario) + number * scenario.interval
    vehicles = [
        _machine(f"cav{vehicle.number}", scenario.on_board, point)
        for vehicle, point in connected_vehicles(scenario, seed, time_s)
        if _is_near(point, rsus, scenario.reach)
    ]
    for i, (kind, point) in enumerate(scenario.edge_devices(seed)):
        others.append(_machine(f"edge{i}", kind, point))
    anchors = [*rsus, *vehicles]
    edge = (machine for machine in others if _is_near(machine.point, anchors, scenario.reach))
    return Snapshot(scenario, tuple(rsus), tuple(vehicles), tuple(edge))


def _machine(name: str, kind: str, point: Point) -> Machine:
    return Machine(Device(name, mips_of(kind), kind=kind), point)


def _is_near(point: Point, machines: list[Machine], reach: float) -> bool:
    return any(machine.point.distance(point) <= reach for machine in machines)


def task_graph(snapshot: Snapshot, name: str) -> StreamGraph:
    """Return the task graph of a snapshot.

    A sensor is an operator that takes no time and is pinned to its RSU or vehicle. It sends its
    data to a task that detects objects. The detections of a vehicle are fused, then those of its
    cameras and vehicles at the nearest covered RSU. A task may run on the devices within reach of
    the RSU or vehicle to which it belongs.
    """
    made = _Graph(snapshot)
    for rsu in snapshot.rsus:
        made.task(rsu, "fusion", RSU_FUSION)
        for i in range(snapshot.scenario.cameras):
            made.detection(rsu, f"camera{i}", CAMERA)
    for vehicle in snapshot.vehicles:
        fusion = made.task(vehicle, "fusion", CAV_FUSION)
        for i in range(snapshot.scenario.vehicle_cameras):
            made.detection(vehicle, f"camera{i}", CAMERA)
        made.detection(vehicle, "lidar", LIDAR)
        nearest = snapshot.nearest_rsu(vehicle.point)
        made.streams.append(Stream(fusion, f"{nearest}-fusion"))
    return StreamGraph(
        made.operators,
        made.streams,
        name=name,
        firing="all",
        constraints=Constraints(pins=made.pins, allowed=made.allowed),
    )


class _Graph:
    """The parts of a task graph."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        scenario = snapshot.scenario
        self.sensor_bytes = {CAMERA: scenario.camera_bytes, LIDAR: scenario.lidar_bytes}
        self.operators: list[Operator] = []
        self.streams: list[Stream] = []
        self.pins: dict[str, str] = {}
        self.allowed: dict[str, list[str]] = {}

    def task(self, owner: Machine, what: str, kind: str) -> str:
        """Add a task and return its name."""
        name, size = f"{owner.device.name}-{what}", STATE_BYTES[kind]
        self.operators.append(
            Operator(
                name,
                instructions_of(kind),
                size,
                memory_bytes=size,
                seconds_on=TIMES_S[kind],
                type=kind,
            )
        )
        self.allowed[name] = self.snapshot.within_reach(owner.point)
        return name

    def detection(self, owner: Machine, what: str, kind: str) -> None:
        """Add a sensor and the task that detects objects in its data, for the owner's fusion."""
        task = self.task(owner, what, kind)
        sensor = f"{task}-sensor"
        self.operators.append(Operator(sensor, 0.0, self.sensor_bytes[kind], type=f"{kind}-sensor"))
        self.pins[sensor] = owner.device.name
        self.streams += [Stream(sensor, task), Stream(task, f"{owner.device.name}-fusion")]
