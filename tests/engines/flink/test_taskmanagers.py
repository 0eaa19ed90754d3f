"""TaskManagers of Flink as a cluster."""

import json
from typing import Any

import pytest

from streamplace.engines.flink.taskmanagers import read
from streamplace.errors import StreamplaceError
from tests.corpus.engine_documents.clusters import FLINK, task_manager

MIB = 2**20


def of(*rows: dict[str, Any]) -> str:
    """Return the answer of the server with these TaskManagers."""
    return json.dumps({"taskmanagers": rows})


def test_what_is_free_of_each_task_manager() -> None:
    found, notes = read(json.dumps(FLINK), "file")
    a, b = found.devices
    assert (a.name, a.cores, a.mips, a.memory_bytes) == ("10.0.0.1:6122-aa", 2, 1.0, 512 * MIB)
    assert a.resources == {"gpu": 1.0}
    # a machine of one core for TaskManagers of two, of which half is free
    assert (b.name, b.cores, b.mips, b.memory_bytes) == ("10.0.0.2:6122-bb", 1, 0.5, 256 * MIB)
    assert notes[0] == "1 TaskManager left out, without a free slot: '10.0.0.2:6123-cc'"
    assert notes[1].startswith("what running jobs hold is deducted: 3 slots;")
    assert "several TaskManagers on a host share its cores: '10.0.0.2'" in notes


def test_a_list_without_resources_has_a_core_per_slot() -> None:
    """As of Flink before 1.12."""
    row = {"id": "old", "slotsNumber": 4, "freeSlots": 3, "hardware": {"cpuCores": 8}}
    found, notes = read(of(row), "file")
    (only,) = found.devices
    assert (only.cores, only.memory_bytes) == (3, None)
    assert "no resources are stated, so a core is assumed per slot: 'old'" in notes


def test_blocked_task_managers_are_left_out() -> None:
    row = {**task_manager("b", 1, 1), "blocked": True}
    found, notes = read(of(row, task_manager("a", 1, 1)), "file")
    assert found.names == ("a",)
    assert notes[0] == "1 TaskManager left out, blocked: 'b'"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (of(), "file: no TaskManager can run operators: the list is empty"),
        (of(task_manager("a", 2, 0)), "2 slots; 'profile flink --cluster-out' writes the cluster"),
        (of({"id": "a", "freeSlots": 1}), r"file: taskmanagers\[0\]: missing field 'slotsNumber'"),
        ('{"taskmanagers": {}}', "file: taskmanagers: must be a list"),
        (
            of(task_manager("b", 1, 1), task_manager("a", 1, 1), task_manager("a", 1, 1)),
            r"file: taskmanagers\[2\].id: duplicate name 'a', see taskmanagers\[1\].id; list each",
        ),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(StreamplaceError, match=fault):
        read(text, "file")
