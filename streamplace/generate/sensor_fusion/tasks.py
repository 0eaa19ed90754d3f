"""Task graphs of snapshots: sensors, their detections, and their fusion in vehicles and RSUs."""

from streamplace.generate.sensor_fusion.scenario import STATE_BYTES
from streamplace.generate.sensor_fusion.snapshot import Machine, Snapshot
from streamplace.generate.sensor_fusion.times import (
    CAMERA,
    CAV_FUSION,
    LIDAR,
    RSU_FUSION,
    TIMES_S,
    instructions_of,
)
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph


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
