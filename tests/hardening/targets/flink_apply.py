"""The reader of a job before a restart, with all responses of Flink taken from one file."""

import json
import re
from typing import Any

from streamplace.engines.flink.applying.apply import Options, prepare
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import TRIED
from streamplace.files.reading import read_bytes
from streamplace.formats.profiling.rest import GoneError, Server, parse_answer
from tests.corpus import own_files
from tests.hardening.targets.flink_rest import WHERE

OPERATORS = ("a", "b", "c")
JAR = "8a5c6f1e-8a2f-4c52-b8a4-0d6b4f2f9e11_job.jar"
ROOM = {
    "cpuCores": 1.0,
    "taskHeapMemory": 96,
    "managedMemory": 16,
    "extendedResources": {"dev_d0": 1000.0},
}
ANSWERS: dict[str, Any] = {
    "cluster": [{"key": "execution.checkpointing.savepoint-dir", "value": "file:///s"}],
    "taskmanagers": {
        "taskmanagers": [
            {"id": name, "slotsNumber": 1, "freeSlots": 0} for name in ("tm-1", "tm-2")
        ]
    },
    "taskmanager": {
        "id": "tm-1",
        "slotsNumber": 1,
        "freeSlots": 0,
        "totalResource": ROOM,
        "freeResource": ROOM,
        "allocatedSlots": [{"jobId": "job", "resource": ROOM}],
    },
    "job": {
        "jid": "job",
        "name": "line",
        "state": "RUNNING",
        "schedulerType": "Default",
        "vertices": [
            {"id": name, "status": "RUNNING", "parallelism": 1, "maxParallelism": 128}
            for name in OPERATORS
        ],
        "plan": {
            "name": "line",
            "nodes": [
                {"id": name, "parallelism": 1, "description": f"{name}<br/>"} for name in OPERATORS
            ],
        },
    },
    "job_config": {"execution-config": {"user-config": {"streamplace.mapping": "a=pe0"}}},
    "checkpoints": {
        "latest": {
            "completed": {"external_path": "file:/s/chk-1", "end_to_end_duration": 70},
            "savepoint": {"external_path": "file:/s/1", "checkpoint_type": "SYNC_SAVEPOINT"},
            "restored": {"external_path": "file:/s/0"},
        }
    },
    "checkpoints_config": {"interval": 2000, "timeout": 600000},
    "vertex": {"subtasks": [{"subtask": 0, "taskmanager-id": "tm-1"}]},
    "jars": {"files": [{"id": JAR}]},
}
TEXT = json.dumps(ANSWERS)
KEYS = {
    ".*/plan": "plan",
    ".*/metrics": "metrics",
    ".*/vertices/.*": "vertex",
    "/taskmanagers": "taskmanagers",
    "/taskmanagers/.*": "taskmanager",
    "/jobmanager/config": "cluster",
    "/jars": "jars",
    ".*/checkpoints": "checkpoints",
    ".*/checkpoints/config": "checkpoints_config",
    ".*/config": "job_config",
}
"""Pattern of a path -> part of the file; other paths get the part "job"."""


class Answers(Server):
    """A server whose responses come from a file."""

    def __init__(self, file: str) -> None:
        super().__init__(WHERE)
        self._whole = parse_answer(read_bytes(file), WHERE)

    def get(self, path: str, within_s: float) -> Any:
        """Return the response for a path."""
        if path == "/config":
            return {"flink-version": f"{TRIED[-1]}.0"}
        answers = self._whole if isinstance(self._whole, dict) else {}
        if key_of(path) not in answers:
            raise GoneError(f"{WHERE}: HTTP 404 for {path}")
        return answers[key_of(path)]


def key_of(path: str) -> str:
    """Return the part of a file that is the response for a path."""
    for pattern, key in KEYS.items():
        if re.fullmatch(pattern, path):
            return key
    return "job"


def read(file: str) -> list[str]:
    """Check a job before a restart; return the requests and where its operators run."""
    client, how = Client(Answers(file), 10.0), Options("job", JAR)
    prepared = prepare(own_files.placement(), client, how)
    hosts = client.hosts(prepared.job)
    return [*map(str, prepared.requests(how)), *map(str, hosts.items())]
