"""Makespan problems of files."""

from pathlib import Path

import pytest

import streamplace as sp
from streamplace.errors import ClusterError, FormatError
from streamplace.formats.documents import problem_of_file, read_document
from tests.corpus.engine_documents.neural_networks import PIPEDREAM


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "graph.txt"
    path.write_text(PIPEDREAM)
    return path


def test_the_problem_has_the_graph_and_devices_of_the_reader(profile: Path) -> None:
    found = read_document(str(profile), "pipedream")
    problem = problem_of_file(profile, "pipedream")
    assert (problem.graph, problem.cluster) == (found.graph, found.cluster)
    assert problem.makespan_objective == sp.Makespan()


def test_the_number_of_devices(profile: Path) -> None:
    assert len(problem_of_file(profile, "pipedream", 3).cluster.devices) == 3
    with pytest.raises(ClusterError, match="at most"):
        problem_of_file(profile, "pipedream", 10**9)


def test_a_format_without_devices(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"nodes": [{"id": "a", "parallelism": 1, "description": "Source: a"}]}')
    with pytest.raises(FormatError, match=r"plan\.json: the format flink-plan has no devices"):
        problem_of_file(path, "flink-plan")
