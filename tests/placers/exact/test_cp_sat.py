"""Proofs by CP-SAT on random problems of both objectives, against brute force and other placers."""

from collections.abc import Iterable

import numpy as np
import pytest

from benchmarks.false_proofs import checked, wide_pass
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.placers.proof import PassProof
from streamplace.placers.registry import placer_of
from tests.support.makespan_problems import makespan_of
from tests.support.share import Share


def bounded(seeds: Iterable[int]) -> int:
    """Check that no proof is false; return the number of problems on which CP-SAT proves a bound.

    CP-SAT is asked alone, and then `exact` runs with all of its bounds; see the benchmark.
    """
    found = 0
    for seed in seeds:
        outcome = checked(seed)
        assert not outcome["false"], seed
        found += outcome["bounded by CP-SAT"]
    return found


def test_a_schedule_that_cp_sat_overlooked() -> None:
    """With integers up to 2^40 and presolve, version 9.15.6755 says that none is below 92.47 s."""
    problem = wide_pass(9)
    scored = makespan_evaluator(problem)
    start = placer_of("heft")(problem, np.random.default_rng(0))
    proof = PassProof(scored, start.devices)
    proof.solve(60.0, 1, 0)
    found = proof.result()
    assert found.optimal
    assert makespan_of(found.placement) == pytest.approx(91.97412, rel=1e-6)
    assert found.bound == pytest.approx(91.97412, rel=1e-6)


def test_no_proof_is_false() -> None:
    assert bounded(range(1, 13)) >= 3


@pytest.mark.long
def test_no_proof_of_many_is_false(share: Share) -> None:
    assert bounded(share.of(range(20_000, 20_600))) > share.least(150)
