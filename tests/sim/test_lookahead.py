"""Lookahead features of partial placements, compared with their definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.reference.lookahead import Draft, bent
from benchmarks.reference.strategies import cases
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import crossing_seconds
from streamplace.sim.lookahead import (
    CANDIDATE_FEATURES,
    PartialPlacements,
    candidate_features,
    collate,
    nothing_placed,
    place_next,
    squashed,
)
from streamplace.sim.work import own_utilisations
from tests.support.decoding_runs import (
    DecodingRun,
    decode,
    decoding_runs,
    drafts,
    lookahead_problem,
)

UNSQUASHED = {"empty", "crowd", "last", "placed", "devices"}
"""Features that are not squashed."""


@given(decoding_runs())
def test_features_match_their_definitions(run: DecodingRun) -> None:
    """For "worst device, offered", see `test_the_worst_device_can_be_another_device`.

    "above mean" spreads the operator's work over all devices by capacity, so that the mean does not
    depend on where the operator goes.
    """
    steps, _ = decode(run)
    for r, step, v, draft in drafts(run, steps):
        for d in range(draft.flow.devices):
            expected = draft.candidate_features(v, d)
            assert tuple(expected) == CANDIDATE_FEATURES or set(expected) == set(CANDIDATE_FEATURES)
            for name, x in expected.items():
                if name == "worst device, offered" and draft.flow.taxing:
                    continue
                expected_value = x if name in UNSQUASHED else bent(x)
                got = float(step.features[r, d, CANDIDATE_FEATURES.index(name)])
                assert got == pytest.approx(expected_value, rel=2e-6, abs=2e-6), name


def test_the_worst_device_can_be_another_device() -> None:
    """Sending to b costs the device of a 10 units; the device of b has less load."""
    graph = StreamGraph([Operator("a", 1e6, 0), Operator("b", 1e6, 0)], [Stream("a", "b")])
    ends = (LinkOverride("x", None, overhead_s=1e-2), LinkOverride(None, "y", overhead_s=0.0))
    cluster = Cluster([Device("x", 1000), Device("y", 1000)], Network("nic", overrides=ends))
    job = lookahead_problem(Problem(graph, cluster, source_rate=1000), unit=1.0)
    steps, grown = decode(DecodingRun([job], [0], [[0, 1]], [[0, 1]]))
    found = steps[1].features[0, 1, CANDIDATE_FEATURES.index("worst device, offered")]
    assert found == pytest.approx(bent(11.0))
    assert grown.worst_device == pytest.approx([11.0])


@given(decoding_runs())
def test_offered_devices(run: DecodingRun) -> None:
    steps, _ = decode(run)
    for r, step, v, draft in drafts(run, steps):
        devices = draft.flow.devices
        assert step.offered[r, :devices].tolist() == draft.offered(v)
        assert not step.offered[r, devices:].any()
        assert not step.features[r, devices:].any()


@given(decoding_runs())
def test_loads_are_those_of_the_finished_placement(run: DecodingRun) -> None:
    steps, grown = decode(run)
    for r, p in enumerate(run.rows):
        job = run.jobs[p]
        flow, size = job.flow, job.flow.operators
        placement = grown.on[r, :size]
        chosen = {int(s.operator[r]): int(s.chosen[r]) for s in steps[:size]}
        assert dict(enumerate(placement.tolist())) == chosen
        assert (grown.on[r, size:] == -1).all()
        device, link = bottleneck.utilisations(flow, placement)
        done = Draft(job, chosen)
        busiest = [max((link[i] for i in done.links_of(d)), default=0) for d in range(len(device))]
        worst = max(device.max(), link.max(), own_utilisations(flow, placement).max())
        for column, expected, least in (
            (grown.device, device, worst),
            (grown.link, link, worst),
            (grown.busiest, np.array(busiest), worst),
            (grown.open, np.zeros(len(device)), sum(done.traffic)),
            (grown.operators_on, np.array(done.operators_on), 0.0),
        ):
            values, beyond = np.split(column[r], [len(expected)])
            np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-12 * least)
            assert not beyond.any()
        limits = job.room.shape[1]
        for k in range(limits):
            used = np.bincount(placement, job.needs[:, k], len(device))
            assert grown.used[r, : len(device), k].tolist() == used.tolist()
        assert not grown.used[r, len(device) :].any()
        assert not grown.used[r, :, limits:].any()
        assert grown.worst[r] == pytest.approx(worst, rel=1e-10)
        assert grown.left[r] == pytest.approx(0.0, abs=1e-12 * flow.work.sum())
        assert grown.placed[r] == size


@settings(max_examples=30)
@given(decoding_runs(max_problems=4))
def test_rows_of_a_batch_are_independent(run: DecodingRun) -> None:
    """A row gives the same features to the last bit, alone or in a batch."""
    made, rows, orders, choices = run
    steps, grown = decode(run)
    for r, p in enumerate(rows):
        flow = made[p].flow
        separate, separate_grown = decode(DecodingRun([made[p]], [0], [orders[r]], [choices[r]]))
        for one, among in zip(separate, steps, strict=False):
            np.testing.assert_array_equal(among.features[r, : flow.devices], one.features[0])
            np.testing.assert_array_equal(among.offered[r, : flow.devices], one.offered[0])
        np.testing.assert_array_equal(grown.on[r, : flow.operators], separate_grown.on[0])
        assert grown.worst[r] == separate_grown.worst[0]


@given(decoding_runs(max_problems=1), st.sampled_from([0.01, 0.3, 2.0, 1000.0]))
def test_features_do_not_depend_on_the_source_rate(run: DecodingRun, factor: float) -> None:
    """All loads, and the unit, are proportional to the rate."""
    (job,) = run.jobs
    assume(job.flow.work.sum() > 0)
    grown = []
    for rate in (1.0, factor):
        flow = replace(job.flow, source_tuples=job.flow.source_tuples * rate)
        scaled = job._replace(flow=flow, unit=lowest_utilisation(flow))
        grown.append(decode(run._replace(jobs=[scaled]))[0])
    for before, after in zip(*grown, strict=True):
        np.testing.assert_array_equal(after.chosen, before.chosen)
        np.testing.assert_allclose(after.features, before.features, rtol=1e-5, atol=1e-5)


@given(cases())
def test_lowest_utilisation_is_a_lower_bound(
    case: tuple[Problem, list[int]],
) -> None:
    problem, devices = case
    flow = flow_of(problem)
    assume(flow.work.sum() > 0)
    device, _ = bottleneck.utilisations(flow, np.array(devices))
    own = own_utilisations(flow, np.array(devices))
    lowest = lowest_utilisation(flow)
    assert max(device.max(), own.max()) >= lowest * (1 - 1e-12)
    shared = sum(flow.work.tolist()) / sum(flow.capacity.tolist())
    alone = [
        min(work / (d.mips * 1e6 * min(cores, d.cores)) for d in problem.cluster.devices)
        for work, cores in zip(flow.work.tolist(), flow.operator_cores.tolist(), strict=True)
    ]
    assert lowest == pytest.approx(max(shared, *alone, 0.0))


def test_the_reference_of_a_problem_without_work_is_1() -> None:
    graph = StreamGraph([Operator("a", 0, 1000.0), Operator("b", 0, 0)], [Stream("a", "b")])
    cluster = Cluster.equal(2, network=Network(bandwidth_mbps=8.0))
    job = lookahead_problem(Problem(graph, cluster, source_rate=500))
    assert lowest_utilisation(job.flow) == 1.0
    steps, _ = decode(DecodingRun([job], [0], [[0, 1]], [[0, 0]]))
    link = steps[1].features[0, :, CANDIDATE_FEATURES.index("link")]
    assert link == pytest.approx([0.0, 0.5])


def test_the_average_link_excludes_the_diagonal() -> None:
    """With `pair`, the diagonal contains no links; with `nic`, every entry is a link."""
    other = LinkOverride("d0", "d1", bandwidth_mbps=50.0, gap_s=3e-3)
    network = Network(bandwidth_mbps=100.0, gap_s=1e-3, overrides=(other,))
    graph = StreamGraph([Operator("a", 1, 1)], [], source_rate=1)
    pair = flow_of(Problem(graph, Cluster.equal(2, network=network)))
    assert crossing_seconds(pair) == pytest.approx((2e-3, 1.5e-8))
    sends = replace(other, target=None)
    nic = replace(network, kind="nic", overrides=(sends,))
    ends = flow_of(Problem(graph, Cluster.equal(2, network=nic)))
    assert crossing_seconds(ends) == pytest.approx((1.5e-3, 1.25e-8))


@settings(max_examples=20)
@given(decoding_runs(max_problems=2))
def test_computing_features_changes_nothing_beyond_rounding(run: DecodingRun) -> None:
    """Trying a device leaves the partial placement as it was."""
    made, rows, orders, choices = run
    laid = collate(made)
    grown = nothing_placed(laid, np.array(rows, dtype=np.int32))
    for t in range(len(orders[-1])):
        operator = np.array([order[t] for order in orders], dtype=np.int32)
        before = {name: getattr(grown, name).copy() for name in PartialPlacements._fields}
        shape = (len(rows), grown.device.shape[1])
        features, offered = (
            np.empty((*shape, len(CANDIDATE_FEATURES)), np.float32),
            np.empty(shape, np.bool_),
        )
        candidate_features(laid, grown, operator, features, offered)
        for name, one in before.items():
            slack = 1e-12 * (1 + one.max(initial=0))
            np.testing.assert_allclose(getattr(grown, name), one, rtol=1e-12, atol=slack)
        devices = [made[p].flow.devices for p in rows]
        chosen = [choice[t] % count for choice, count in zip(choices, devices, strict=True)]
        place_next(laid, grown, operator, np.array(chosen, dtype=np.int32))


@given(st.floats(-1e12, 1e12))
def test_squashed(x: float) -> None:
    assert squashed(x) == pytest.approx(bent(x), rel=1e-12)
    assert squashed(-x) == -squashed(x)
    assert squashed(x) <= squashed(x + abs(x) * 1e-3 + 1e-3)


def test_squashed_by_hand() -> None:
    """Beyond LINEAR the function grows logarithmically, starting with slope 1."""
    assert [squashed(x) for x in (0.0, 1.5, -2.0)] == [0.0, 1.5, -2.0]
    assert squashed(2 * math.e) == pytest.approx(4.0)
    assert squashed(-2 * math.e) == pytest.approx(-4.0)
    slope = (squashed(2.0 + 1e-6) - squashed(2.0)) / 1e-6
    assert slope == pytest.approx(1.0, abs=1e-5)
