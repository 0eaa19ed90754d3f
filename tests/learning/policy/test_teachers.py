"""Teachers: the best devices of an expert compared with brute force, and the rules for ties."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import torch

import streamplace as sp
from benchmarks.reference import oracle
from benchmarks.reference.doppler_state import Plain, PlainState
from streamplace import Cluster, Constraints, Makespan, Problem, StreamGraph
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.features import encode
from streamplace.learning.policy.teachers import TEACHERS, CriticalPath, LeastUtilisation, Teacher
from streamplace.util.arrays import Ints
from tests.support.doppler import doppler, flow_problem, pass_problem
from tests.support.graphs import chain_graph
from tests.support.policies import (
    batch_of,
    cluster_of,
    fork_problem,
    layered_problem,
    seeded_generator,
)

CLOSE = 1e-9  # relative difference below which values are tied

On = dict[int, int]  # operator -> device, for the operators placed so far


def part_of(problem: Problem, on: On) -> tuple[Problem, list[int]]:
    """Return the problem of the operators placed so far, and their devices.

    Operators are placed level by level, so their rates are the same as in the full problem.
    """
    graph = problem.graph
    kept = sorted(on)
    names = {graph.names[v] for v in kept}
    shares = {graph.names[v]: float(graph.source_share[v]) for v in kept if graph.source_share[v]}
    total = sum(shares.values())
    part = StreamGraph(
        [graph.operators[v] for v in kept],
        [s for s in graph.streams if {s.source, s.target} <= names],
        source_shares={name: share / total for name, share in shares.items()},
    )
    rate = problem.source_rate * total
    return Problem(part, problem.cluster, source_rate=rate), [on[v] for v in kept]


def utilisations_with(problem: Problem, on: On, operator: int, device: int) -> tuple[float, float]:
    """Return the largest utilisation with an operator on a device: overall, and local.

    The local one is over the device, the links of its streams, and the devices at their other ends.
    """
    part, devices = part_of(problem, {**on, operator: device})
    of_devices, of_links = oracle.utilisations(part, devices)
    own = oracle.own_utilisations(part, devices)
    names = [one.name for one in problem.cluster.devices]
    graph, involved = problem.graph, [of_devices[names[device]]]
    involved.append(own.get(problem.graph.names[operator], Fraction(0)))
    for stream in graph.streams:
        source, target = graph.names.index(stream.source), graph.names.index(stream.target)
        if target == operator and on.get(source, device) != device:
            start, end = names[on[source]], names[device]
            nic = problem.cluster.network.kind == "nic"
            links = (f"{start}->", f"->{end}") if nic else (f"{start}->{end}",)
            involved += [of_devices[start], *(of_links.get(link, Fraction(0)) for link in links)]
    every = [*of_devices.values(), *of_links.values(), *own.values()]
    return float(max(every)), float(max(involved))


def best_devices(problem: Problem, on: On, operator: int) -> list[bool]:
    """Return the devices that are best for an operator, by trying every device."""
    found = [
        utilisations_with(problem, on, operator, d) for d in range(len(problem.cluster.devices))
    ]
    lowest = min(overall for overall, _ in found)
    tied = [overall <= lowest * (1 + CLOSE) for overall, _ in found]
    lowest_local = min(local for (_, local), tie in zip(found, tied, strict=True) if tie)
    return [
        tie and local <= lowest_local * (1 + CLOSE)
        for (_, local), tie in zip(found, tied, strict=True)
    ]


CLUSTERS = {
    "equal": cluster_of(3),
    "equal, interfaces": cluster_of(3, "nic"),
    "unequal": cluster_of(4, seed=1),
    "unequal, interfaces": cluster_of(3, "nic", seed=2),
    "two kinds": Cluster.parse("2x4000,2x1500"),
}


def problems_on(cluster: Cluster) -> Iterator[Problem]:
    """Yield problems of different sizes, largest first."""
    for operators, seed in ((8, 0), (6, 1)):
        yield layered_problem(operators, cluster, seed)
    yield fork_problem(cluster, 4)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_best_devices_agree_with_brute_force(cluster: str) -> None:
    """The rows are two samples of each problem, along random placements."""
    problems, samples = [*problems_on(CLUSTERS[cluster])], 2
    devices = len(problems[0].cluster.devices)
    orders = [encode(problem).orders[0] for problem in problems for _ in range(samples)]
    placed: list[On] = [{} for _ in orders]
    expert, rng = LeastUtilisation(problems, samples), np.random.default_rng(0)
    ties = 0
    for t in range(len(orders[0])):
        rows = [row for row, order in enumerate(orders) if t < len(order)]
        operators: Ints = np.array([orders[row][t] for row in rows], dtype=np.int32)
        chosen = rng.integers(devices, size=len(rows), dtype=np.int32)
        best = expert.judge(operators, chosen)
        for row, operator, device, found in zip(rows, operators, chosen, best, strict=True):
            on = placed[row]
            assert found.tolist() == best_devices(problems[row // samples], on, int(operator))
            ties += found.sum() > 1
            on[int(operator)] = int(device)
    assert ties > 1


def test_all_equal_devices_are_best_at_first() -> None:
    problem = fork_problem(cluster_of(3))
    first = encode(problem).orders[0][:1]
    best = LeastUtilisation([problem], 1).judge(first, np.zeros(1, dtype=np.int32))
    assert best.tolist() == [[True, True, True]]


def test_devices_that_a_problem_lacks_are_never_best() -> None:
    """Problems of a batch have rows as long as the largest cluster."""
    large, small = layered_problem(8, cluster_of(5)), fork_problem(cluster_of(2))
    expert = LeastUtilisation([large, small], 1)
    first = np.array([encode(p).orders[0][0] for p in (large, small)], dtype=np.int32)
    best = expert.judge(first, np.zeros(2, dtype=np.int32))
    assert best.tolist() == [[True] * 5, [True, True, False, False, False]]


def test_constraints_take_precedence() -> None:
    """A pinned operator has one best device, and colocated operators follow the first of them."""
    names = layered_problem(8, cluster_of(3)).graph.names
    rules = Constraints(pins={names[0]: "d2"}, colocate=[[names[1], names[4]]])
    problem = layered_problem(8, cluster_of(3), constraints=rules)
    expert = LeastUtilisation([problem], 1)
    for operator in encode(problem).orders[0]:
        device = {0: 2, 1: 1}.get(int(operator), 0)
        best = expert.judge(operator[None], np.array([device], dtype=np.int32))[0].tolist()
        if operator == 0:
            assert best == [False, False, True]
        if operator == 4:
            assert best == [False, True, False]
        assert any(best)


def test_the_expert_is_registered_by_name() -> None:
    assert TEACHERS["least-utilisation"] is LeastUtilisation


LOGS = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.3, 0.5]]))
BEST = torch.tensor([[True, False, True], [False, False, True], [False, False, False]])


def test_any_counts_the_total_probability_of_best_devices() -> None:
    """The result is 0 for a row without an offered best device."""
    found = Teacher(LeastUtilisation, "any").agreement(LOGS, BEST).tolist()
    assert found == pytest.approx([math.log(0.7), math.log(0.8), 0.0])


def test_each_sums_the_log_probabilities_of_best_devices() -> None:
    found = Teacher(LeastUtilisation, "each").agreement(LOGS, BEST).tolist()
    assert found == pytest.approx([math.log(0.5) + math.log(0.2), math.log(0.8), 0.0])


@pytest.mark.parametrize("ties", ["any", "each"])
def test_gradients_are_finite_where_no_best_device_is_offered(ties: str) -> None:
    logits = torch.zeros(3, 3, requires_grad=True)
    teacher = Teacher(LeastUtilisation, "any" if ties == "any" else "each")
    teacher.agreement(torch.log_softmax(logits, dim=1), BEST).sum().backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[2] == 0).all()
    assert (logits.grad[:2] != 0).any()


def test_least_utilisation_selects_the_candidates_with_the_most_work() -> None:
    """The operators of the fork have rising work."""
    problems = [fork_problem(cluster_of(3), 5), fork_problem(cluster_of(3))]
    candidates = np.zeros((4, 5), np.bool_)
    candidates[0, [1, 3]] = candidates[1, 0] = candidates[2, [1, 2]] = candidates[3, 1] = True
    best = LeastUtilisation(problems, 2).select(candidates)
    assert [np.flatnonzero(row).tolist() for row in best] == [[3], [0], [2], [1]]


def test_makespans_are_refused() -> None:
    problem = fork_problem(cluster_of(3))
    with pytest.raises(UnsuitableError, match="supports only throughput, not makespan"):
        LeastUtilisation([problem.with_objective(Makespan())], 1)


SAMPLES = 2


def test_best_operators_and_devices_equal_the_plain_ones() -> None:
    problems = [pass_problem(10, 1), pass_problem(7, 2)]
    expert, rng = CriticalPath(problems, SAMPLES), np.random.default_rng(0)
    plain = [Plain.of(problem) for problem in problems]
    states = [PlainState(one) for one in plain for _ in range(SAMPLES)]
    for step in range(10):
        now = states if step < 7 else states[:SAMPLES]
        candidates = np.zeros((len(now), 10), np.bool_)
        for row, state in enumerate(now):
            candidates[row, state.candidates()] = True
        best = expert.select(candidates)
        for row, state in enumerate(now):
            levels = {v: state.plain.features[v, 4] for v in state.candidates()}
            highest = [v for v, level in levels.items() if level == max(levels.values())]
            assert np.flatnonzero(best[row]).tolist() == highest
        operators = np.array([rng.choice(state.candidates()) for state in now], np.int32)
        devices = rng.integers(3, size=len(now)).astype(np.int32)
        named = expert.judge(operators, devices)
        for row, (state, v) in enumerate(zip(now, operators.tolist(), strict=True)):
            starts = [features[4] for features in state.device_features(v)]
            expected = [start <= min(starts) * (1 + 1e-9) for start in starts]
            assert named[row].tolist() == expected
            state.place(v, int(devices[row]))


def test_only_allowed_devices_are_best() -> None:
    rules = sp.Constraints(pins={"b": "d1"})
    problem = sp.Problem(
        chain_graph(1e5, 2e5, 3e5), "3x1000", constraints=rules, objective=sp.Makespan()
    )
    pinned = problem.cluster.names.index("d1")
    expert = CriticalPath([problem], 1)
    assert expert.judge(np.array([0], np.int32), np.array([0], np.int32)).all()
    best = expert.judge(np.array([1], np.int32), np.array([pinned], np.int32))
    assert np.flatnonzero(best[0]).tolist() == [pinned]


def test_throughput_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="supports only makespan, not throughput"):
        CriticalPath([flow_problem()], 1)


def test_agreement_has_both_parts() -> None:
    """The log-probability of tied operators and devices is that of any, or the sum over each."""
    problem, policy = pass_problem(9, 3), doppler()
    found = {}
    for ties in ("any", "each"):
        teacher = Teacher(CriticalPath, ties)
        with torch.no_grad():
            made = policy.rollout(
                batch_of(policy, problem), SAMPLES, Sampler(seeded_generator()), teacher=teacher
            )
        assert made.agreement is not None
        found[ties] = made.agreement
    assert (found["any"][..., 0] < 0.0).any()
    assert (found["any"][..., 1] < 0.0).any()
    assert (found["each"] <= found["any"] + 1e-5).all()
    assert (found["each"] < found["any"] - 1e-3).any()
