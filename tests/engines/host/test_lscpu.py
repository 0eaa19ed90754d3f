"""What lscpu says, as a cluster of one machine."""

import json

import pytest

from streamplace.engines.host.lscpu import read
from streamplace.errors import FormatError
from tests.corpus.engine_documents.clusters import LSCPU, LSCPU_FLAT


def test_cores_that_are_online() -> None:
    found, _ = read(json.dumps(LSCPU), "file")
    (only,) = found.devices
    assert (only.name, only.cores, only.labels) == ("host", 9, ("x86_64",))


def test_threads_of_a_core_are_one_core() -> None:
    found, notes = read(json.dumps(LSCPU_FLAT), "file")
    assert found.devices[0].cores == 8
    assert "16 CPUs are threads of 8 cores, which count" in notes


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"lscpu": []}', r"file: has no field 'CPU\(s\)'; run LC_ALL=C lscpu -J"),
        ('{"lscpu": [{"field": "CPU(s):", "data": "viele"}]}', "has no field"),
        ('{"lscpu": [{"data": "4"}]}', r"file: lscpu\[0\]: missing field 'field'"),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(text, "file")
