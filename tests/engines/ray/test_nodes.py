"""Nodes of Ray as a cluster."""

import json

import pytest

from streamplace.engines.ray.nodes import read
from streamplace.errors import FormatError
from tests.corpus.engine_documents.clusters import RAY


def test_nodes_that_are_alive_and_have_cores() -> None:
    found, notes = read(json.dumps(RAY), "file")
    (worker,) = found.devices
    assert (worker.name, worker.cores, worker.memory_bytes) == ("worker", 8, 32e9)
    assert worker.resources == {"gpu": 2.0, "licence": 3.0}
    assert worker.labels == (
        "ray.io/availability-zone=eu-1a",
        "tier=fast",
        "accelerator_type:A100",
    )
    assert worker.group == "eu-1a"
    assert notes[:3] == [
        "1 node left out, without a free core: 'head'",
        "1 node left out, in state 'DEAD': '0000'",
        "Ray does not list what runs on nodes, so it is not deducted",
    ]


def test_nodes_of_one_name_have_their_ids() -> None:
    twin = {**RAY[1], "node_id": "c9"}
    assert read(json.dumps([RAY[1], twin]), "file")[0].names == ("b711", "c9")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{}", "file: must be a list; 'ray list nodes --format json' prints it"),
        ("[]", "file: no node can run operators"),
        ('[{"state": "ALIVE"}]', r"file: \[0\]: missing field 'node_id'"),
        (
            json.dumps([RAY[1]] * 2),
            r"file: \[1\].node_id: duplicate name 'b711', see \[0\].node_id",
        ),
        ("[3]", r"file: \[0\]: must be an object"),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(text, "file")
