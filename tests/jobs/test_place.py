"""Placements of several jobs, and their minimums."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from rich.console import Console

from benchmarks.reference.random_problems import random_problem
from benchmarks.reference.two_jobs import best_shares, keeps_minimums, ordered, two_jobs
from streamplace import Cluster, Job, Jobs, Network, place_jobs
from streamplace.errors import InfeasibleError, PlacementError, UsageError
from streamplace.jobs.result import JobsResult
from tests.support.graphs import chain_graph, preset_graph
from tests.support.jobs import competing_jobs
from tests.support.placements import solve
from tests.support.share import Share

ROUNDING = 2e-9
SEARCH = "search:evaluations=2000"
FAST = Cluster.equal(2, network=Network(bandwidth_mbps=None))


def vector_of(result: JobsResult) -> tuple[float, ...]:
    """Return the shares of two jobs as `best_shares` does."""
    shares = result.allocation.shares
    vector: list[float] = ordered(result.joint.jobs, shares[:1], shares[1:])[0].tolist()
    return tuple(vector)


@pytest.mark.parametrize(
    "seeds", [range(15), pytest.param(range(15, 1015), marks=pytest.mark.long)]
)
def test_two_jobs_against_brute_force(seeds: range, share: Share) -> None:
    """At least 98% of the vectors are the best of all joint placements, and none is better."""
    best_found, tried = 0, 0
    for seed in share.of(seeds):
        jobs, cluster = two_jobs(seed)
        try:
            best = best_shares(jobs, cluster)
        except InfeasibleError:
            best = None
        if best is None:
            with pytest.raises((InfeasibleError, PlacementError)):
                place_jobs(jobs, cluster, placer=SEARCH)
            continue
        found = vector_of(place_jobs(jobs, cluster, placer=SEARCH))
        assert found <= tuple(entry + ROUNDING for entry in best)
        best_found += found == pytest.approx(best, abs=ROUNDING, rel=0)
        tried += 1
    assert best_found >= 0.98 * tried
    assert tried > 0.8 * len(share.of(seeds))


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 300), marks=pytest.mark.long)])
def test_exact_is_the_best_of_all(seeds: range, share: Share) -> None:
    for seed in share.of(seeds):
        jobs, cluster = two_jobs(seed)
        try:
            best = best_shares(jobs, cluster)
        except InfeasibleError:
            continue
        if best is not None:
            result = place_jobs(jobs, cluster, placer="exact")
            assert result.status == "OPTIMAL"
            assert vector_of(result) == pytest.approx(best, abs=ROUNDING, rel=0)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 200), marks=pytest.mark.long)])
def test_a_job_of_lower_priority_costs_nothing(seeds: range, share: Share) -> None:
    """Without memory limits and minimums, the higher job keeps what it has alone."""
    for seed in share.of(seeds):
        jobs, cluster = two_jobs(seed)
        roomy = [replace(device, memory_bytes=None) for device in cluster.devices]
        higher, lower = replace(jobs[0], priority=1), replace(jobs[1], priority=0)
        room = Cluster(roomy, cluster.network)
        alone = place_jobs(Jobs([higher]), room, placer="exact").jobs[0].throughput
        both = place_jobs(Jobs([lower, higher]), room, placer="exact").jobs[1].throughput
        assert both >= alone - 1e-9 * higher.offered


def test_a_job_of_lower_priority_costs_nothing_beyond_enumeration() -> None:
    cluster = Cluster.equal(4, 300.0)
    higher = Job("a", preset_graph("dream", 8, 3), 3000.0, priority=1)
    lower = Job("b", preset_graph("dream", 8, 4), 3000.0)
    alone = place_jobs(Jobs([higher]), cluster, placer="exact:seconds=3").jobs[0]
    both = place_jobs(Jobs([higher, lower]), cluster, placer="exact:seconds=3")
    assert both.status == "FEASIBLE"
    assert both.jobs[0].throughput >= alone.throughput - 1e-9 * higher.offered


@pytest.mark.parametrize("seed", range(5))
def test_one_job_is_placed_as_without_jobs(seed: int) -> None:
    problem = random_problem(seed)
    job = Job("a", problem.graph, problem.source_rate, constraints=problem.constraints)
    found = place_jobs(Jobs([job]), problem.cluster, placer=SEARCH, seed=seed)
    alone = solve(job.problem(problem.cluster), SEARCH, seed)
    assert found.placements["a"] == alone.placement
    assert found.jobs[0].throughput == pytest.approx(alone.score.throughput)
    assert found.jobs[0].lost == 0


def test_what_is_lost_to_which_job() -> None:
    """The jobs load the only device by 0.6 and 0.8, so that the lower one has half of its rate."""
    result = place_jobs(competing_jobs(), Cluster.equal(1), placer="search")
    orders, clicks = result.jobs
    assert (orders.throughput, orders.lost, orders.limited_by) == (1000.0, 0.0, None)
    assert clicks.throughput == pytest.approx(500.0)
    assert clicks.alone == clicks.source_rate
    assert clicks.lost == pytest.approx(500.0)
    assert clicks.lost_to == pytest.approx({"orders": 500.0})
    assert clicks.limited_by is not None
    assert (clicks.limited_by.kind, clicks.limited_by.name) == ("device", "d0")
    assert clicks.limited_by.utilisation == pytest.approx(1.0)


def test_no_job_loses_if_everything_is_carried() -> None:
    result = place_jobs(competing_jobs(), FAST, placer="search")
    assert [job.relative_throughput for job in result.jobs] == [1.0, 1.0]
    assert [job.lost_to for job in result.jobs] == [{}, {}]


def test_a_minimum_is_taken_from_a_higher_priority() -> None:
    result = place_jobs(competing_jobs(min_throughput=750.0), Cluster.equal(1), placer="search")
    orders, clicks = result.jobs
    assert clicks.throughput == pytest.approx(750.0)
    assert orders.throughput == pytest.approx(1000.0 * 0.4 / 0.6)
    assert orders.lost_to == pytest.approx({"clicks": orders.lost})


def test_the_search_makes_room_for_a_minimum() -> None:
    """Alone, the higher job would use both devices; the minimum needs all of one of them."""
    higher = Job("a", chain_graph(2e6, 2e6), priority=1)
    lower = Job("b", chain_graph(2.5e6), min_throughput=1000.0)
    result = place_jobs(Jobs([higher, lower]), FAST, placer="greedy")
    assert [job.throughput for job in result.jobs] == pytest.approx([625.0, 1000.0])


@pytest.mark.parametrize(("weights", "wanted"), [((1, 1), (5 / 7, 5 / 7)), ((3, 1), (1, 0.5))])
def test_weights_within_a_priority(
    weights: tuple[float, float], wanted: tuple[float, float]
) -> None:
    jobs = competing_jobs(priority=0)
    weighted = Jobs(replace(job, weight=w) for job, w in zip(jobs, weights, strict=True))
    found = place_jobs(weighted, Cluster.equal(1), placer="search").allocation.shares
    assert found == pytest.approx(wanted)


def test_shared_memory_is_respected() -> None:
    graphs = [chain_graph(1e5, 1e5).with_numbers(memory_bytes=[4e6, 4e6])[0] for _ in "ab"]
    cluster = Cluster([replace(device, memory_bytes=8e6) for device in Cluster.equal(2).devices])
    jobs = Jobs(Job(name, graph) for name, graph in zip("ab", graphs, strict=True))
    for placer in ("greedy", SEARCH, "exact"):
        result = place_jobs(jobs, cluster, placer=placer)
        assert np.bincount(result.devices).tolist() == [2, 2]
        assert [row["used_bytes"] for row in result.to_dict()["memory"]] == [8e6, 8e6]
    with pytest.raises(InfeasibleError, match="memory"):
        place_jobs(jobs, Cluster(cluster.devices[:1]), placer="greedy")


def test_renamed_and_reordered_jobs_have_the_same_shares() -> None:
    jobs = competing_jobs(priority=0)
    shares = place_jobs(jobs, "2x1000", placer="exact").allocation.shares
    turned = Jobs([replace(jobs[1], name="x"), replace(jobs[0], name="y")])
    assert place_jobs(turned, "2x1000", placer="exact").allocation.shares[::-1] == pytest.approx(
        shares
    )


def test_results_are_those_of_the_seed() -> None:
    jobs = competing_jobs()
    first, again = (place_jobs(jobs, "3x600", placer=SEARCH, seed=3) for _ in range(2))
    assert (first.devices == again.devices).all()


def test_three_priorities_are_served_in_order() -> None:
    """Brute force over the eight placements of three single operators on two devices."""
    priorities = {"a": 1, "b": 3, "c": 2}
    jobs = Jobs(Job(name, chain_graph(2e6), priority=p) for name, p in priorities.items())
    result = place_jobs(jobs, Cluster.equal(2), placer=SEARCH)
    rows = np.array(list(product(range(2), repeat=3)), dtype=np.int32)
    shares = [result.joint.allocation(row).shares[[1, 2, 0]].round(9).tolist() for row in rows]
    assert result.allocation.shares[[1, 2, 0]].round(9).tolist() == max(shares)


def test_a_bad_placer_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown placer 'nothing'"):
        place_jobs(competing_jobs(), placer="nothing")


def test_the_view_names_jobs_and_devices() -> None:
    result = place_jobs(competing_jobs(), Cluster.equal(1), placer="search")
    assert "2 jobs on 1 device, 1 job loses throughput" in repr(result)
    console = Console(width=120, record=True)
    console.print(result)
    text = console.export_text()
    assert "clicks" in text
    assert "orders 60.0%, clicks 40.0%" in text


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
