"""Lines of a run's picture."""

import streamplace as sp
from streamplace import runs
from streamplace.report.run import _waiting


def test_streams_between_the_same_operators_are_lines_of_their_own() -> None:
    graph = sp.StreamGraph(
        [("a", 1e4, 10), ("b", 1e4, 10)],
        [("a", "b", 1.0), ("a", "b", 0.5)],
        source_rate=10,
    )
    placement = sp.Placement(sp.Problem(graph), [0, 1])
    found = runs.run(placement, every_s=1.0)
    assert list(_waiting(placement, found)) == ["a → b", "a → b (2)"]
