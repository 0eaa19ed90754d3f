"""Tests for orders that coincide, and for trials that share a run."""

from itertools import combinations

import numpy as np
import pytest

from streamplace import Cluster, Makespan, Problem
from streamplace.papers.orders.study import coincidence
from streamplace.papers.orders.study.coincidence import SharedTrials, coinciding, sentence
from streamplace.papers.orders.study.registered import ALL_ORDERS, FULL, problem_of
from streamplace.papers.placeto.trials import PUBLISHED, Trial, run_trial
from streamplace.scoring.orders import traversal_order
from tests.support.graphs import chain_graph

TWINS = ("reversed-topo-lifo", "dfs-postorder")


@pytest.mark.parametrize("family", FULL.families)
def test_two_backward_orders_coincide_on_the_graphs_of_the_study(family: str) -> None:
    problems = [problem_of(family, number, 3, seed=0) for number in range(2)]
    assert coinciding(problems, ALL_ORDERS)[TWINS] == 2


def test_pairs_are_counted_and_the_random_order_is_left_out() -> None:
    chain = Problem(chain_graph(1.0, 1.0, 1.0), Cluster.equal(2), objective=Makespan())
    forward = ("lexico", "topo-lifo", "dfs-preorder", "bfs", "topo-level")
    assert coinciding([chain, chain], ALL_ORDERS) == {
        pair: 2 for group in (forward, TWINS) for pair in combinations(ALL_ORDERS, 2)
        if {*pair} <= {*group}
    }  # fmt: skip
    assert coinciding([], ALL_ORDERS) == {}


def test_the_sentence_names_frequent_pairs_only() -> None:
    assert sentence("nmt", {}, 4) == "nmt: no two orders coincide."
    pairs = {("a", "b"): 4, ("c", "d"): 2, ("a", "c"): 1}
    expected = (
        "nmt: a and b coincide on 4 of 4 graphs; c and d coincide on 2 of 4 graphs; "
        "1 other pair on fewer than half."
    )
    assert sentence("nmt", pairs, 4) == expected


def test_orders_that_coincide_share_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(chain_graph(3.0, 1.0, 2.0, 1.0), Cluster.equal(3), objective=Makespan())
    stage = PUBLISHED.model_copy(update={"epochs": 2})
    runs: list[Trial] = []

    def counted(trial: Trial, *rest: object) -> "np.typing.NDArray[np.float64]":
        runs.append(trial)
        return run_trial(trial, stage)

    monkeypatch.setattr(coincidence, "run_trial", counted)
    trials = SharedTrials(stage)
    for order in ALL_ORDERS:
        for seed, uniform in ((1, False), (2, False), (1, True)):
            trial = Trial(problem, order, seed, uniform)
            assert (trials.run(trial) == run_trial(trial, stage)).all()
    visited = {
        (seed, uniform, traversal_order(problem, order, seed).tobytes())
        for order in ALL_ORDERS
        for seed, uniform in ((1, False), (2, False), (1, True))
    }
    assert len(runs) == len(visited) < 3 * len(ALL_ORDERS)
