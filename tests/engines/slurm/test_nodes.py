"""Nodes of Slurm as a cluster, from JSON and from text."""

import json
from typing import Any

import pytest

from streamplace.engines.slurm.nodes import read
from streamplace.errors import FormatError
from tests.corpus.engine_documents.clusters import SLURM, SLURM_TEXT

MIB = 2**20


def of(**node: Any) -> str:
    """Return JSON of one idle node of 16 CPUs."""
    return json.dumps({"nodes": [{"name": "n", "cpus": 16, "state": ["IDLE"], **node}]})


@pytest.mark.parametrize("text", [json.dumps(SLURM), SLURM_TEXT], ids=["JSON", "text"])
def test_what_is_free_of_each_node(text: str) -> None:
    found, notes = read(text, "file")
    n1, n3 = found.devices
    # 24 of 32 CPUs are free, two of which are one core
    assert (n1.name, n1.cores, n1.mips, n1.memory_bytes) == ("n1", 12, 1.0, 49152 * MIB)
    assert n1.labels == ("x86_64", "ib", "partition=main", "partition=long", "gpu:a100")
    assert n1.resources == {"gpu": 3.0}
    assert (n3.name, n3.cores, n3.memory_bytes) == ("n3", 16, None)
    assert "what running jobs hold is deducted: 8 CPUs" in notes
    assert "threads of a core count as one core, on 1 node" in notes
    assert notes[0].startswith("1 node left out, in state 'D")


def test_one_node_per_line() -> None:
    """As ``scontrol -o show nodes`` prints them."""
    lines = [" ".join(part.split()) for part in SLURM_TEXT.split("\n\n")]
    assert read("\n".join(lines), "file") == read(SLURM_TEXT, "file")


@pytest.mark.parametrize(
    ("state", "is_used"),
    [
        ("idle", True),
        (["MIXED", "PLANNED"], True),
        (["IDLE", "POWERED_DOWN"], True),
        ("IDLE~", True),
        ("IDLE*", False),
        (["IDLE", "NOT_RESPONDING"], False),
        ("DRAINING", False),
        (["ALLOCATED", "MAINTENANCE"], False),
        ("FUTURE", False),
    ],
)
def test_states(state: str | list[str], is_used: bool) -> None:
    if is_used:
        assert read(of(state=state), "file")[0].names == ("n",)
        return
    with pytest.raises(FormatError, match="1 node left out, in state"):
        read(of(state=state), "file")


def test_flags_beside_a_state_count() -> None:
    with pytest.raises(FormatError, match="in state 'DRAIN'"):
        read(of(state="idle", state_flags=["DRAIN"]), "file")


def test_cores_without_what_the_system_keeps() -> None:
    found, _ = read(of(effective_cpus=14, real_memory=1000, specialized_memory=200), "file")
    assert (found.devices[0].cores, found.devices[0].memory_bytes) == (14, 800 * MIB)
    number = {"set": True, "infinite": False, "number": 4}
    assert read(of(alloc_cpus=number), "file")[0].devices[0].cores == 12


@pytest.mark.parametrize(
    ("gres", "used", "free"),
    [
        ("gpu:4", "", {"gpu": 4.0}),
        ("gpu", "", {"gpu": 1.0}),
        ("gpu:a100:2(S:0-1),gpu:v100:1(S:1),shard:8", "gpu:a100:1(IDX:0)", {"gpu": 2, "shard": 8}),
        ("mem:2K", "N/A", {"mem": 2048.0}),
        ("(null)", "", {}),
    ],
)
def test_generic_resources(gres: str, used: str, free: dict[str, float]) -> None:
    assert read(of(gres=gres, gres_used=used), "file")[0].devices[0].resources == free


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no such thing", "file: has no node; 'scontrol show nodes' prints them"),
        ('{"nodes": 3}', "file: nodes: must be a list"),
        (of(cpus=0), r"file: nodes\[0\]: cpus: must be at least 1 \(got 0\)"),
        (of(cpus="many"), r"file: nodes\[0\]: cpus: "),
        (
            "NodeName=a CPUTot=4 State=IDLE\nNodeName=a CPUTot=4 State=IDLE",
            "file: node 2: name: duplicate name 'a', see node 1: name; list each node once",
        ),
        ("NodeName=a CPUTot=4", r"file: node 1: missing field 'state'"),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(text, "file")
