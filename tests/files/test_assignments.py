"""Assignments without a graph."""

import pytest

from streamplace.errors import FormatError
from streamplace.files.placements import placement_from
from streamplace.problem.makespan import Makespan


def test_an_assignment_without_a_graph_is_refused_with_what_to_do() -> None:
    command = "streamplace place GRAPH --cluster CLUSTER --start x --max-moves 0 -o FILE$"
    with pytest.raises(
        FormatError, match=rf"an assignment holds no graph; to store it .*{command}"
    ):
        placement_from({"assignment": {"a": "d0"}}, "x")
    with pytest.raises(FormatError, match="--objective makespan --start x"):
        placement_from({"assignment": {"a": "d0"}}, "x", objective=Makespan())
    instead = "a CEPSim placement holds no graph; use 'streamplace simulate' with its graph"
    with pytest.raises(FormatError, match=instead):
        placement_from({"placements": [{"idx": 0, "ops": [0]}]}, "x")
