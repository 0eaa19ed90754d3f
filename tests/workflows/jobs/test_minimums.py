"""Minimum throughputs of several jobs that do not hold: what is proven, and what is not."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reference.two_jobs import keeps_minimums, two_jobs
from streamplace import Cluster, Job, Jobs, place_jobs
from streamplace.errors import InfeasibleError, PlacementError
from tests.support.graphs import chain_graph
from tests.support.jobs import competing_jobs
from tests.support.share import Share


def test_more_than_a_job_carries_alone_is_infeasible() -> None:
    jobs = Jobs([Job("a", chain_graph(5e6), min_throughput=600.0)])
    text = r"^jobs\[0\] \('a'\): min_throughput 600 cannot hold: even alone, the job carries at"
    with pytest.raises(InfeasibleError, match=text):
        place_jobs(jobs, Cluster.equal(1), placer="search")


def test_minimums_that_overload_all_devices_are_infeasible() -> None:
    """Each job alone keeps its minimum, but together they need 1.4 devices."""
    jobs = Jobs(replace(job, min_throughput=job.offered) for job in competing_jobs())
    for placer in ("greedy", "exact"):
        with pytest.raises(InfeasibleError, match="provably no placement keeps all minimums"):
            place_jobs(jobs, Cluster.equal(1), placer=placer)


def test_without_a_proof_only_the_search_has_failed() -> None:
    """Operators of 0.7, 0.4, 0.4 and 0.45 devices do not fit on two, though their sum would."""
    work = {"a": 1.75e6, "b": 1e6, "c": 1e6, "d": 1.125e6}
    jobs = Jobs(Job(name, chain_graph(w), min_throughput=1000.0) for name, w in work.items())
    message = r"min_throughput 1000: no placement was found that keeps it, although one may exist"
    with pytest.raises(PlacementError, match=message):
        place_jobs(jobs, Cluster.equal(2), placer="greedy")
    with pytest.raises(InfeasibleError, match="provably no placement keeps all minimums"):
        place_jobs(jobs, Cluster.equal(2), placer="exact")


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 600), marks=pytest.mark.long)])
def test_claims_hold_for_every_placement(seeds: range, share: Share) -> None:
    """What is claimed to be infeasible is; what is carried is possible."""
    claimed = 0
    for seed in share.of(seeds):
        jobs, cluster = two_jobs(seed)
        rng = np.random.default_rng(seed)
        parts = rng.choice([0.1, 0.3, 0.6, 0.9], len(jobs))
        asked = Jobs(
            replace(job, min_throughput=float(part) * job.offered)
            for job, part in zip(jobs, parts, strict=True)
        )
        try:
            possible = keeps_minimums(asked, cluster)
        except InfeasibleError:
            continue
        for placer in ("search:evaluations=500", "exact"):
            try:
                place_jobs(asked, cluster, placer=placer)
            except InfeasibleError:
                assert not possible, (seed, placer)
                claimed += 1
            except PlacementError:
                assert placer != "exact", seed
            else:
                assert possible, (seed, placer)
    assert claimed > 0
