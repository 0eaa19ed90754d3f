"""Graphs in the format of DREAM as documents, and the input of CEPSim's runner."""

import json

from hypothesis import given

from benchmarks.reference.strategies import Case, cases
from streamplace.files import cepsim
from streamplace.files.graphs import graph_from, graph_to
from streamplace.formats.cepsim import write
from streamplace.problem.placement import Placement
from tests.corpus.documents import CEPSIM, DREAM
from tests.support.documents import read_document, refused_document


def test_dream_and_cepsim_read_the_same_graph() -> None:
    for kind in ("dream", "cepsim"):
        job = read_document(kind, json.dumps(DREAM))
        assert job.graph == graph_from(DREAM, "file")
        assert not job.graph.unknown
        assert job.graph.source_rate == 10_000


def test_placement_is_not_a_graph() -> None:
    message = refused_document("cepsim", json.dumps(CEPSIM))
    assert message == (
        "a CEPSim placement contains no graph; pass it to simulate together with its graph"
    )
    assert refused_document("dream", json.dumps(CEPSIM)).startswith(
        "must have 'operators' and 'connections', not 'streams'"
    )


def test_streamplace_graph_is_not_a_dream_graph() -> None:
    own = json.dumps(graph_to(graph_from(DREAM, "file")))
    assert refused_document("dream", own).startswith(
        "must have 'operators' and 'connections', not 'streams'"
    )
    assert refused_document("dream", "[]") == "must be an object (got a list)"


@given(cases())
def test_round_trip_of_placements(case: Case) -> None:
    placement = Placement(*case)
    again = cepsim.placement_from(json.loads(write(placement)), placement.problem, "file")
    assert again == placement
