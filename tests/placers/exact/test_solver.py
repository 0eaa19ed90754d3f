"""Proofs need both runs of CP-SAT: a run that is wrong alone proves nothing."""

from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.placers.cp_sat import Found, PassModel
from streamplace.makespan.placers.proof import PassProof
from streamplace.placers.budget import Budget
from streamplace.placers.exact import cp_sat
from streamplace.placers.exact.decision import DecisionOutcome, DecisionProblem
from streamplace.placers.exact.exact import Exact
from streamplace.placers.exact.solver import RUNS, Run

HARD = (3, 3, 2, 2, 3)  # seconds; the best of two devices ends after 7 s, the bound says 6.5


def branches(objective: sp.Makespan | None = None) -> sp.Problem:
    """Return five operators without streams on two equal devices."""
    operators = [sp.Operator(n, 1e6 * t, 0.0) for n, t in zip("abcde", HARD, strict=True)]
    graph = sp.StreamGraph(operators, firing="all")
    cluster = sp.Cluster([sp.Device(n, 1.0) for n in "xy"], sp.Network("free"))
    if objective is None:
        return sp.Problem(graph, cluster, source_rate=1.0)
    return sp.Problem(graph, cluster, objective=objective)


def test_the_runs_differ() -> None:
    assert max(run.limit for run in RUNS) < 1 << 30
    assert len({run.limit for run in RUNS}) == len(RUNS)
    assert [run.presolve for run in RUNS] == [True, False]


def test_shares_are_rounded_down_and_what_exceeds_the_limit_is_above_it() -> None:
    run = Run(1000, presolve=True)
    assert [run.rounded(x) for x in (0.0, 0.0019, 1.0, 1.0001, np.inf)] == [0, 1, 1000, 1001, 1001]
    assert run.margin(3) == 0.003


@pytest.mark.parametrize("liar", [0, 1])
def test_one_wrong_run_raises_no_bound_of_a_pass(
    liar: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that nothing is better than all on one device."""
    honest = PassModel.solve

    def solve(self: Any, *args: Any) -> Found:
        return Found(self._limit, None) if self._run is RUNS[liar] else honest(self, *args)

    monkeypatch.setattr(PassModel, "solve", solve)
    proof = PassProof(makespan_evaluator(branches(sp.Makespan())), np.zeros(5, np.int32))
    proof.solve(10.0, 1, 0)
    bound = proof.result().bound
    assert bound is not None
    assert bound <= 7.0 * (1 + 1e-9)


@pytest.mark.parametrize(("liar", "proven"), [(None, True), (0, False), (1, False)])
def test_one_wrong_run_refutes_no_rate(
    liar: int | None, proven: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best placement carries 1/7 of the rate; without a lie, slightly more is refuted."""
    honest = cp_sat.Model.search

    def search(self: Any, *args: Any) -> DecisionOutcome:
        is_lie = liar is not None and self._run is RUNS[liar]
        return DecisionOutcome(proven=True) if is_lie else honest(self, *args)

    monkeypatch.setattr(cp_sat.Model, "search", search)
    rate = (1 + 1e-6 if proven else 1 - 1e-6) / 7.0
    decision = DecisionProblem(branches(), rate)
    outcome = cp_sat.Proof(decision, 1, 0).search(10.0, Budget(10.0))
    assert outcome.proven == proven


def test_exact_states_no_false_bound_where_the_first_run_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = cp_sat.Model.search

    def search(self: Any, *args: Any) -> DecisionOutcome:
        return DecisionOutcome(proven=True) if self._run is RUNS[0] else honest(self, *args)

    monkeypatch.setattr(cp_sat.Model, "search", search)
    for limit in ("QUICK", "SHALLOW", "NODES"):
        monkeypatch.setattr(f"streamplace.placers.exact.exact.{limit}", 0)
    proof = Exact(seconds=5.0).run(branches(), np.random.default_rng(0))
    assert proof.bound == pytest.approx(1 / 7, rel=1e-6)
