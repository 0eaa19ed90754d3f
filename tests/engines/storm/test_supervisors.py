"""Supervisors of Storm as a cluster."""

import json
from typing import Any

import pytest

from streamplace.engines.storm.supervisors import read
from streamplace.errors import FormatError
from tests.corpus.engine_documents.clusters import STORM, supervisor

MIB = 2**20


def of(*rows: dict[str, Any]) -> str:
    """Return the answer of the UI with these supervisors."""
    return json.dumps({"supervisors": rows})


def test_what_is_free_of_each_supervisor() -> None:
    found, notes = read(json.dumps(STORM), "file")
    a, b = found.devices
    assert (a.name, a.cores, a.memory_bytes) == ("s1", 8, 4096 * MIB)
    assert a.resources == {"gpu.count": 2.0, "nic": 1.0}
    assert (b.name, b.cores, b.memory_bytes) == ("s2", 6, 3072 * MIB)
    assert notes[:3] == [
        "1 supervisor left out, without a free slot: 's3'",
        "1 supervisor left out, blacklisted: 's4'",
        "what running topologies hold is deducted: 7 slots",
    ]


def test_several_supervisors_of_a_host_have_their_ids() -> None:
    found, _ = read(of(supervisor("s", id="x"), supervisor("s", id="y"), supervisor("t")), "file")
    assert found.names == ("x", "y", "t")


def test_the_capacity_that_nobody_set_is_doubted() -> None:
    sample = supervisor("s1", totalCpu=400.0, usedCPU=160)
    found, notes = read(of(sample), "file")
    assert found.devices[0].cores == 2
    assert any(note.startswith("totalCpu is 400 everywhere") for note in notes)
    _, notes = read(of(sample, supervisor("s2")), "file")
    assert not any("everywhere" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (of(), "file: no supervisor can run operators: the list is empty"),
        (
            of({"id": "a", "host": "h", "slotsTotal": 1}),
            r"supervisors\[0\]: missing field 'totalCpu'",
        ),
        (
            of(supervisor("a"), supervisor("b"), supervisor("b")),
            r"supervisors\[2\].id: duplicate name 'id-b', see supervisors\[1\].id; list each",
        ),
        (of(supervisor("a", totalCpu="much")), r"\[0\].totalCpu: must be a number \(got 'much'\)"),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(text, "file")
