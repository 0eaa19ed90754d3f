"""Lookahead features of partial placements, compared with their definitions.

`Draft` is a partial placement in plain Python. It stores only the devices of operators, so values
that the kernels update from step to step are computed from scratch here.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reference.strategies import cases, problems
from sim.closed_form import bottleneck
from sim.closed_form.bottleneck import lowest_utilisation
from sim.flow import Flow, crossing_seconds
from sim.lookahead import (
    CANDIDATE_FEATURES,
    LINEAR,
    LookaheadProblem,
    PartialPlacements,
    candidate_features,
    collate,
    nothing_placed,
    place_next,
    squashed,
)
from sim.threads import own_utilisations
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of

UNSQUASHED = {"empty", "crowd", "last", "placed", "devices"}
"""Features that are not squashed."""


class Sent(NamedTuple):
    """A message: its producer, and the utilisation of devices and of links by it."""

    producer: int
    on_devices: list[tuple[int, float]]
    on_links: list[tuple[int, float]]


@dataclass
class Draft:
    """A partial placement and the last chosen device."""

    job: LookaheadProblem
    on: dict[int, int] = field(default_factory=dict)
    last: int = -1

    @property
    def flow(self) -> Flow:
        return self.job.flow

    @property
    def operators_on(self) -> list[int]:
        """The number of operators on each device."""
        return [list(self.on.values()).count(d) for d in range(self.flow.devices)]

    @property
    def traffic(self) -> list[float]:
        """The utilisation of an average link by each stream."""
        gap_s, seconds_per_bit = crossing_seconds(self.flow)
        return [
            float(tuples * (gap_s + bits * seconds_per_bit))
            for tuples, bits in zip(self.flow.stream_tuples, self.flow.bits, strict=True)
        ]

    def with_one_more(self, v: int, d: int) -> "Draft":
        return Draft(self.job, {**self.on, v: d}, d)

    def links(self, a: int, b: int) -> list[int]:
        """Return the links on the way from device a to device b."""
        if a == b:
            return []
        if self.flow.egress:
            return [a]
        return [a, self.flow.devices + b] if self.flow.nic else [a * self.flow.devices + b]

    def links_of(self, d: int) -> list[int]:
        """Return the links that begin or end at a device."""
        devices = self.flow.devices
        if self.flow.nic:
            return [d, devices + d]
        if self.flow.egress:
            return [d]
        others = [x for x in range(devices) if x != d]
        return [i for x in others for i in (d * devices + x, x * devices + d)]

    def streams(self) -> Iterator[tuple[int, int, int]]:
        for e, (u, w) in enumerate(zip(self.flow.source, self.flow.target, strict=True)):
            yield e, int(u), int(w)

    def utilisations(self) -> tuple[list[float], list[float]]:
        """Return the utilisations of devices and links from the operators placed so far."""
        flow = self.flow
        device, link = [0.0] * flow.devices, [0.0] * len(flow.gap_s)
        for v, d in self.on.items():
            device[d] += self.work(v, d) / float(flow.capacity[d])
        for message in self.messages():
            for d, share in message.on_devices:
                device[d] += share
            for i, share in message.on_links:
                link[i] += share
        return device, link

    def work(self, v: int, d: int) -> float:
        """Return the instructions/s of operator v on device d; typical ones where it cannot run."""
        flow = self.flow
        if len(flow.timed) and flow.timed[v] >= 0:
            stated = float(flow.timed_instructions[flow.timed[v], flow.class_of[d]])
            if math.isfinite(stated):
                return stated * float(flow.operator_tuples[v])
        return float(flow.work[v])

    def messages(self) -> list["Sent"]:
        """Return the messages between operators placed so far."""
        found: dict[tuple[int, ...], list[int]] = {}
        for e, u, w in self.streams():
            if u in self.on and w in self.on and self.on[u] != self.on[w]:
                key = ((u, e), (u, self.on[w]), (u,))[self.flow.multicast]
                if self.flow.stream_tuples[e] > 0 or not self.flow.multicast:
                    found.setdefault(key, []).append(e)
        return [self.sent(streams) for streams in found.values()]

    def sent(self, streams: list[int]) -> "Sent":
        """Return the message that serves some streams of one producer."""
        flow, u = self.flow, int(self.flow.source[streams[0]])
        a, tuples = self.on[u], max(float(flow.stream_tuples[e]) for e in streams)
        bits = max(float(flow.stream_bits[e]) for e in streams)
        receivers = list(dict.fromkeys(self.on[int(flow.target[e])] for e in streams))
        sends = {b: a if flow.nic else a * flow.devices + b for b in receivers}
        ends = {b: flow.devices + b if flow.nic else sends[b] for b in receivers}

        def busy(link: int) -> float:
            return tuples * float(flow.gap_s[link]) + bits * float(flow.seconds_per_bit[link])

        def cpu(d: int, links: list[int]) -> tuple[int, float]:
            overhead = tuples * max(float(flow.overhead_s[i]) for i in links)
            return d, (overhead + bits * float(flow.overhead_s_per_bit[d])) / float(flow.cores[d])

        on_links = [(sends[b], busy(sends[b])) for b in receivers]
        if flow.nic or flow.egress:
            on_links = [(a, max(share for _, share in on_links))]
        if flow.nic:
            on_links += [(ends[b], busy(ends[b])) for b in receivers]
        on_devices = [cpu(a, [*sends.values()]), *(cpu(b, [ends[b]]) for b in receivers)]
        return Sent(u, on_devices, on_links)

    def own(self, v: int, d: int) -> float:
        """Return the utilisation of the cores that operator v can use on device d, if not all."""
        usable, cores = float(self.flow.operator_cores[v]), float(self.flow.cores[d])
        if usable >= cores:
            return 0.0
        return self.work(v, d) / (float(self.flow.capacity[d]) / cores * usable)

    def own_worst(self) -> float:
        return max((self.own(v, d) for v, d in self.on.items()), default=0.0)

    def worst(self) -> float:
        device, link = self.utilisations()
        return max(*device, *link, self.own_worst())

    def open(self, d: int) -> float:
        """Return the traffic between a device's operators and those not placed yet."""
        return sum(
            self.traffic[e]
            for e, u, w in self.streams()
            if (self.on.get(u) == d and w not in self.on)
            or (self.on.get(w) == d and u not in self.on)
        )

    def candidate_features(self, v: int, d: int) -> dict[str, float]:
        """Return the features of device d for operator v, before squashing."""
        flow, after = self.flow, self.with_one_more(v, d)
        reference, unit = lowest_utilisation(flow), self.job.unit
        device, link = self.utilisations()
        device_after, link_after = after.utilisations()
        near = [(e, w if u == v else u, u == v) for e, u, w in self.streams() if v in (u, w)]
        placed = [(e, self.on[other], out) for e, other, out in near if other in self.on]
        away = [(e, a, out) for e, a, out in placed if a != d]
        touched = {i for _, a, out in away for i in (self.links(d, a) if out else self.links(a, d))}
        touched_devices = {a for _, a, _ in away}
        if flow.multicast:  # everything that the changed messages load
            senders = {u for _, u, w in self.streams() if w == v} | {v}
            changed = [message for message in after.messages() if message.producer in senders]
            touched = {i for message in changed for i, _ in message.on_links}
            touched_devices = {x for message in changed for x, _ in message.on_devices}
        on_links = max((link_after[i] for i in touched), default=0.0)
        highest = max(device_after[d], on_links, *(device_after[a] for a in touched_devices), 0.0)
        highest = max(highest, self.own(v, d))
        local = [self.traffic[e] for e, a, _ in placed if a == d]
        capacity = float(flow.capacity.sum())
        evenly = sum(device) / flow.devices + float(flow.work[v]) / capacity
        left = [float(flow.work[w]) for w in range(flow.operators) if w not in after.on]
        loads = {
            "own": self.work(v, d) / float(flow.capacity[d]),
            "now": device[d],
            "then": device_after[d],
            "above mean": device_after[d] - evenly,
            "above least": device[d] - min(device),
            "highest": highest,
            "link": on_links,
            "worst": self.worst(),
            "rise": max(0.0, after.worst() - self.worst()),
            "local": sum(local),
            "heaviest local": max(local, default=0.0),
            "crossing": sum(self.traffic[e] for e, _, _ in away),
            "ahead": sum(self.traffic[e] for e, other, _ in near if other not in self.on),
            "open": self.open(d),
            "open then": after.open(d),
            "busiest": max((link[i] for i in self.links_of(d)), default=0.0),
            "left": sum(left) / capacity,
        }
        return {name: float(load) / reference for name, load in loads.items()} | {
            "capacity": float(flow.capacity[d]) / float(flow.capacity.mean()),
            "bandwidth": self.bandwidth(d),
            "empty": float(self.operators_on[d] == 0),
            "crowd": self.operators_on[d] / max(1, len(self.on)),
            "last": float(self.last == d),
            "placed": len(self.on) / flow.operators,
            "devices": 1 / flow.devices,
            "then, offered": device_after[d] / unit,
            "link, offered": on_links / unit,
            "worst device, offered": max(*device_after, after.own_worst()) / unit,
            "worst, offered": self.worst() / unit,
        }

    def bandwidth(self, d: int) -> float:
        """Return the mean seconds per bit of a device's links over the mean of all links."""
        of_pairs = Draft(self.job._replace(flow=replace(self.flow, egress=False)))
        per_bit = [
            [float(self.flow.seconds_per_bit[i]) for i in of_pairs.links_of(x)]
            for x in range(self.flow.devices)
        ]
        every = [seconds for links in per_bit for seconds in links]
        if not any(every):
            return 1.0
        return (sum(per_bit[d]) / len(per_bit[d])) / (sum(every) / len(every))

    def offered(self, v: int) -> list[bool]:
        """Return whether each device is a candidate for operator v."""
        job, devices = self.job, range(self.flow.devices)
        for u, on in self.on.items():
            if job.leader[u] == job.leader[v]:
                return [d == on for d in devices]
        allowed = [bool(job.allowed[job.row_of[v], d]) for d in devices]
        limits = range(job.room.shape[1])
        used = [
            [sum(float(job.needs[u, k]) for u in self.on if self.on[u] == d) for k in limits]
            for d in devices
        ]
        fits = [
            allowed[d]
            and all(used[d][k] + job.needs[v, k] <= job.room[d, k] for k in limits)
            and (
                self.operators_on[d] > 0
                or not any(
                    self.operators_on[x] == 0 and job.kind[x] == job.kind[d] for x in range(d)
                )
            )
            for d in devices
        ]
        return fits if any(fits) else allowed


def bent(x: float) -> float:
    """Return the value that `squashed` should return."""
    if abs(x) <= LINEAR:
        return x
    return math.copysign(LINEAR + LINEAR * math.log(abs(x) / LINEAR), x)


def lookahead_problem(
    problem: Problem, unit: float | None = None, **changes: Any
) -> LookaheadProblem:
    """Return a lookahead problem without constraints, with these fields changed."""
    flow = flow_of(problem)
    operators, devices = flow.operators, flow.devices
    free = LookaheadProblem(
        flow=flow,
        unit=lowest_utilisation(flow) if unit is None else unit,
        kind=np.arange(devices, dtype=np.int32),
        leader=np.arange(operators, dtype=np.int32),
        row_of=np.zeros(operators, np.int32),
        allowed=np.ones((1, devices), np.bool_),
        needs=np.zeros((operators, 0)),
        room=np.zeros((devices, 0)),
    )
    return free._replace(**changes)


@st.composite
def lookahead_problems(draw: st.DrawFn, max_size: int = 8) -> LookaheadProblem:
    """Draw a problem in which devices of one kind share a mask and limits, up to two of them."""
    problem = draw(problems(max_size=max_size, shared=True))
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    kind = np.array([draw(st.integers(0, 1)) for _ in range(devices)], dtype=np.int32)
    masks = [np.array(mask) for mask in ([True, True], [True, False], [False, True])]
    allowed = [mask[kind] for mask in masks if mask[kind].any()]
    rows = st.sampled_from([0] * 6 + list(range(len(allowed))))
    count = draw(st.integers(0, 2))
    of_kind = st.lists(st.sampled_from([np.inf, 4e6, 9e6]), min_size=count, max_size=count)
    memory = problem.graph.memory_bytes
    leader = np.arange(operators, dtype=np.int32)
    if draw(st.booleans()):
        followers = draw(st.lists(st.integers(0, operators - 1), max_size=3))
        leader[followers] = draw(st.integers(0, operators - 1))
        leader[leader[followers]] = leader[followers]
    return lookahead_problem(
        problem,
        unit=draw(st.sampled_from([None, 1.0, 0.3])),
        kind=kind,
        leader=leader,
        row_of=np.array([draw(rows) for _ in range(operators)], dtype=np.int32),
        allowed=np.stack(allowed),
        needs=np.stack([memory, np.roll(memory, 1)], axis=1)[:, :count].copy(),
        room=np.array([draw(of_kind), draw(of_kind)]).reshape(2, count)[kind],
    )


class Step(NamedTuple):
    """One decoding step of all rows that have an operator left."""

    operator: NDArray[np.int32]
    features: NDArray[np.float32]
    offered: NDArray[np.bool_]
    chosen: NDArray[np.int32]


class DecodingRun(NamedTuple):
    """Problems, the problem of each row (largest first), and the rows' orders and choices.

    A choice is a number that selects one of the offered devices.
    """

    jobs: Sequence[LookaheadProblem]
    rows: list[int]
    orders: list[list[int]]
    choices: list[list[int]]


@st.composite
def decoding_runs(draw: st.DrawFn, sizes: int = 8, max_problems: int = 3) -> DecodingRun:
    """Draw decoding runs; half of the orders put upstream operators first."""
    made = draw(st.lists(lookahead_problems(sizes), min_size=1, max_size=max_problems))
    rows = draw(st.lists(st.integers(0, len(made) - 1), min_size=1, max_size=4))
    rows = sorted({*rows, *range(len(made))}, key=lambda p: -made[p].flow.operators)
    rows = [p for p in rows for _ in range(draw(st.sampled_from([1, 1, 2])))]
    orders, choices = [], []
    for p in rows:
        flow = made[p].flow
        order = draw(st.permutations(range(flow.operators)))
        if draw(st.booleans()):
            order = upstream_first(flow, order)
        orders.append(order)
        one = st.lists(st.integers(0, 11), min_size=flow.operators, max_size=flow.operators)
        choices.append(draw(one))
    return DecodingRun(made, rows, orders, choices)


def upstream_first(flow: Flow, order: Sequence[int]) -> list[int]:
    """Return the order with every operator moved behind its inputs."""
    inputs = {v: {int(u) for u in flow.source[flow.target == v]} for v in order}
    done: list[int] = []
    while len(done) < len(order):
        done.append(next(v for v in order if v not in done and inputs[v] <= set(done)))
    return done


def decode(run: DecodingRun) -> tuple[list[Step], PartialPlacements]:
    """Place all operators of the rows, each on one of its candidates."""
    made, rows, orders, choices = run
    laid = collate(made)
    grown = nothing_placed(laid, np.array(rows, dtype=np.int32))
    columns, steps = grown.device.shape[1], []
    for t in range(len(orders[0])):
        now = sum(len(order) > t for order in orders)
        operator = np.array([order[t] for order in orders[:now]], dtype=np.int32)
        features = np.full((now, columns, len(CANDIDATE_FEATURES)), np.nan, np.float32)
        offered = np.ones((now, columns), np.bool_)
        candidate_features(laid, grown, operator, features, offered)
        chosen = np.empty(now, np.int32)
        for r in range(now):
            candidates = np.flatnonzero(offered[r])
            assert len(candidates), "at least one device is offered"
            chosen[r] = candidates[choices[r][t] % len(candidates)]
        place_next(laid, grown, operator, chosen)
        steps.append(Step(operator, features, offered, chosen))
    return steps, grown


def drafts(run: DecodingRun, steps: list[Step]) -> Iterator[tuple[int, Step, int, Draft]]:
    """Yield every decision: the row, the step, the operator and the placement before it."""
    made, rows, _, _ = run
    now = [Draft(made[p]) for p in rows]
    for step in steps:
        for r, (v, d) in enumerate(zip(step.operator.tolist(), step.chosen.tolist(), strict=True)):
            yield r, step, v, now[r]
            now[r] = now[r].with_one_more(v, d)


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
