"""Tests for the function `place`: clusters as text, source rates of graphs, results."""

from pathlib import Path

import pytest

import streamplace as sp
from streamplace.errors import ClusterError, ProblemError
from tests.support.graphs import two_operator_graph


def test_a_cluster_may_be_text() -> None:
    by_text = sp.place(two_operator_graph(), "2x2000x2,1x500", placer="greedy")
    cluster = sp.Cluster.parse("2x2000x2,1x500")
    assert by_text.placement.problem.cluster == cluster
    assert by_text.score == sp.place(two_operator_graph(), cluster, placer="greedy").score
    with pytest.raises(ClusterError, match="must be COUNTxMIPS"):
        sp.place(two_operator_graph(), "cluster.json")


def test_defaults_come_from_the_graph_and_the_paper() -> None:
    result = sp.place(two_operator_graph(), placer="greedy")
    assert result.score.source_rate == 1e4
    assert result.placement.problem.cluster == sp.Cluster.equal()
    with pytest.raises(ProblemError, match="the graph has no source rate; set it with --source"):
        sp.place(two_operator_graph(None))


def test_a_result_is_saved_as_a_placement_file(tmp_path: Path) -> None:
    result = sp.place(two_operator_graph(), "2x2000", placer="round-robin", target_utilisation=0.9)
    result.save(tmp_path / "placement.json")
    again = sp.read_placement(tmp_path / "placement.json")
    assert again == result.placement
    assert sp.simulate(again) == result.score
