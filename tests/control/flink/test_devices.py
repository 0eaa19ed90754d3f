"""Names of devices for TaskManagers."""

from streamplace.control.flink.windows import Devices
from streamplace.integrations.flink.cluster import Room, TaskManager


def cluster(**labels: tuple[str, ...]) -> tuple[TaskManager, ...]:
    rows = {name: Room(labels=dict.fromkeys(each, 1.0)) for name, each in labels.items()}
    return tuple(TaskManager(name, room, room, 1, 1) for name, room in rows.items())


def test_labels_name_devices() -> None:
    devices = Devices(["a", "b c"])
    assert devices.update(cluster(x=("dev_b_c",), y=("dev_a", "parts_f"))) == {"x": "b c", "y": "a"}


def test_others_keep_the_device_that_they_got() -> None:
    devices = Devices(["a", "b", "c"])
    assert devices.update(cluster(x=(), y=())) == {"x": "a", "y": "b"}
    assert devices.update(cluster(y=())) == {"y": "b"}
    assert devices.update(cluster(w=(), y=(), z=())) == {"y": "b", "w": "a", "z": "c"}


def test_labels_come_before_the_order() -> None:
    devices = Devices(["a", "b"])
    assert devices.update(cluster(x=(), y=("dev_a",))) == {"x": "b", "y": "a"}


def test_more_task_managers_than_devices() -> None:
    assert Devices(["a"]).update(cluster(x=(), y=())) == {"x": "a"}
