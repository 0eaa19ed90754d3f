"""A pass as JSON: columns of equal numbers, and numbers that JSON lacks."""

from dataclasses import replace

import numpy as np

import streamplace as sp
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.page import tasks_to
from tests.support.graphs import chain_graph


def test_a_pass_as_json() -> None:
    graph, aim = chain_graph(1.0, 2.0, 3.0), sp.Makespan(order="any")
    scored = makespan_evaluator(sp.Problem(graph, sp.Cluster.equal(2), objective=aim))
    value = scored.as_json()
    assert [order["name"] for order in value["orders"]] == ["fifo", "b-level", "topological"]
    assert value["orders"][2]["position"] == [0, 1, 2]
    written = tasks_to(replace(scored.tasks, work=np.array([1.0, np.inf, np.nan])))
    assert written["work"] == [1.0, "Infinity", None]
    assert written["cores"] == 1
    assert value["tasks"].keys() == written.keys()
