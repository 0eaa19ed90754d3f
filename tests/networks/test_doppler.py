"""The reader of DOPPLER's computation graphs."""

import pytest

from streamplace.problem.cluster import Device, Network
from tests.corpus.engine_documents.neural_networks import DOPPLER
from tests.support.documents import edges, read_document, refused_document


def test_operators_streams_and_cluster() -> None:
    found = read_document("doppler", DOPPLER)
    graph = found.graph
    assert graph.names == ("op_0", "op_1", "op_2", "op_3")
    assert graph.instructions.tolist() == [100, 30, 20, 5]
    assert graph.payload_bytes.tolist() == [400, 120, 80, 20]
    assert graph.type == {0: "einsummable", 1: "formation", 3: "complexer"}
    assert edges(found) == [("op_0", "op_1"), ("op_0", "op_2"), ("op_1", "op_3"), ("op_2", "op_3")]
    assert (graph.firing, graph.multicast) == ("all", "none")
    assert found.cluster is not None
    assert found.cluster.devices == tuple(Device(f"d{d}", 1e-6) for d in range(4))
    assert found.cluster.network == Network("free", 8e-6, 0.0)


def test_times_are_the_files_integers() -> None:
    """A second is one FLOP and one byte of a transfer, without any rounding."""
    found = read_document("doppler", DOPPLER)
    assert found.cluster is not None
    assert found.cluster.capacity.tolist() == [1.0] * 4
    network = found.cluster.network
    assert network.bandwidth_mbps is not None
    assert network.bandwidth_mbps * 1e6 == 8.0


def test_notes_name_units_and_inputs() -> None:
    unit, inputs = read_document("doppler", DOPPLER).notes
    assert "a second is one FLOP" in unit
    assert inputs == "left out: 2 inputs, which are on every device from the start"
    assert len(read_document("doppler", DOPPLER.replace("6\n0, 1,", "4\n")).notes) == 1


def test_an_index_without_a_space_before_it_is_noted() -> None:
    """Wrong edges of two published files look like this."""
    wrong = DOPPLER.replace("1, 2, 3, 3", "1, 2,3, 3")
    assert read_document("doppler", wrong).notes[2:] == [
        "line 4: '2,3' lacks the space that separates other indices; the edge may be wrong"
    ]
    without_spaces = DOPPLER.replace("1, 2, 3, 3", "1,2,3,3")
    assert len(read_document("doppler", without_spaces).notes) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6\n", "7\n", "line 1: expected 6, the number of input vertices in line 2 and of lines"),
        ("6\n", "x\n", "line 1: must be a whole number of at most 15 digits (got 'x')"),
        ("0, 1,\n", "0, -1,\n", "line 2: must be a whole number of at most 15 digits (got '-1')"),
        ("1, 2, 3, 3", "1, 2, 3", "line 4: expected 4 targets, as many as line 3 has sources"),
        ("1, 2, 3, 3", "1, 2, 3, 4", "line 4: operators are numbered 0 to 3 (got 4)"),
        ("1, 2, 3, 3", "1,, 3, 3", "line 4: must be a whole number of at most 15 digits (got '')"),
        ("30,120,formation", "30", "line 6: must be FLOPs,transfer[,type] (got '30')"),
        ("20,80", "20,8e3", "line 7: must be a whole number of at most 15 digits (got '8e3')"),
        ("20,80", "20,80,a,b", "line 7: must be FLOPs,transfer[,type]"),
        ("1, 2, 3, 3", "1, 2, 3, 0", "cycle"),
        (DOPPLER, "6\n1\n2\n3\n", "not a DOPPLER graph: expected at least 5 lines"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str) -> None:
    assert message in refused_document("doppler", DOPPLER.replace(old, new, 1))
