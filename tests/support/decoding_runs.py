"""Decodings of random lookahead problems, step by step."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reference.lookahead import Draft
from benchmarks.reference.strategies import problems
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import Flow
from streamplace.sim.lookahead import (
    CANDIDATE_FEATURES,
    LookaheadProblem,
    PartialPlacements,
    candidate_features,
    collate,
    nothing_placed,
    place_next,
)


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
