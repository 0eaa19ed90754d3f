"""Snapshots of the map: which devices are where, and which tasks they may run."""

from dataclasses import dataclass

from streamplace.generate.sensor_fusion.scenario import Point, Scenario
from streamplace.generate.sensor_fusion.times import mips_of
from streamplace.generate.sensor_fusion.traffic import connected_vehicles, longest_trip_s
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network

RSU_KIND = "C"


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
