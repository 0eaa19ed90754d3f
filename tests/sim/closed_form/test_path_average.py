"""The closed form without network backpressure: by hand, against the oracle, and in hard cases."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.strategies import Case, batches, cases, problems
from streamplace.problem.cluster import Cluster, LinkOverride, Network, NetworkKind
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim import crossed as crossings
from streamplace.sim.closed_form import path_average
from tests.support.graphs import MBIT, lettered_graph


def workless_problem(
    payloads_mbit: dict[str, float],
    streams: str,
    devices: int,
    kind: NetworkKind = "pair",
    source_rate: float = 1000,
) -> Problem:
    """Return a problem of one-letter operators without work, on equal devices."""
    payloads = {name: mbit * MBIT for name, mbit in payloads_mbit.items()}
    cluster = Cluster.equal(devices, network=Network(kind))
    graph = lettered_graph(streams, 0.0, payloads)
    return Problem(graph, cluster, source_rate=source_rate, model="path-average")


def throughput(problem: Problem, devices: Sequence[int]) -> float:
    return float(path_average.throughput(flow_of(problem), np.array(devices))[0])


def scales(problem: Problem, devices: Sequence[int]) -> dict[str, float]:
    """Return the solver's scale, the share of traffic passed, of every crossed link."""
    flow, placement = flow_of(problem), np.array(devices, np.int32)
    crossed, room = crossings.nothing_crossed(flow.columns), path_average.unsolved(flow.columns)
    count = crossings.number_links(placement, flow.columns, crossed)
    device, _ = oracle.utilisations(problem, devices)
    own = oracle.own_utilisations(problem, devices)
    start = 1 / float(max([Fraction(1), *device.values(), *own.values()]))
    assert path_average.solve(flow.columns, start, count, crossed, room)
    links = np.flatnonzero(crossed.number)
    ends = [problem.cluster.resource_ends(int(i)) for i in links]
    values = room.scale[crossed.number[links]].tolist()
    return {f"{a or ''}->{b or ''}": s for (a, b), s in zip(ends, values, strict=True)}


def test_only_the_branch_behind_an_overloaded_link_loses_tuples() -> None:
    """One of two sinks is behind a link with an offered utilisation of 2: (1 + 1/2) / 2."""
    problem = workless_problem({"s": 2.0, "x": 0, "y": 0}, "sx sy", devices=2)
    assert throughput(problem, [0, 0, 1]) == pytest.approx(750, rel=1e-11)


def test_a_link_crossed_twice_by_hand() -> None:
    """The link is offered .8 + .8 s s' with s' = 1, so .8 s² + .8 s = 1."""
    problem = workless_problem(dict.fromkeys("abcd", 0.8), "ab bc cd", devices=2)
    s = (-0.8 + np.sqrt(0.64 + 3.2)) / 1.6
    assert throughput(problem, [0, 1, 0, 1]) == pytest.approx(1000 * s * s, rel=1e-11)


def test_a_wider_link_can_hurt_by_hand() -> None:
    """The wider link lets through tuples that displace others of selectivity 3."""
    mbits = {"a": 0.5, "b": 2.0, "c": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
    operators = [Operator(name, 0, mbit * MBIT) for name, mbit in mbits.items()]
    streams = [
        Stream("a", "x"), Stream("x", "y", selectivity=3.0), Stream("b", "c"), Stream("c", "z")
    ]  # fmt: skip
    achieved = []
    for override in (None, 2000.0):
        wider = () if override is None else (LinkOverride("d2", "d0", bandwidth_mbps=override),)
        cluster = Cluster.equal(3, network=Network("pair", overrides=wider))
        graph = StreamGraph(operators, streams)
        problem = Problem(graph, cluster, source_rate=2000, model="path-average")
        devices = [0, 2, 0, 1, 1, 1]
        achieved.append(throughput(problem, devices))
        assert achieved[-1] == pytest.approx(oracle.path_average(problem, devices), rel=1e-9)
    full, shared = 2000 * (3000 + 500) / 4000, 2000 * (2 / 3)
    assert achieved == pytest.approx([full, shared], rel=1e-11)


def test_interfaces_in_series_by_hand() -> None:
    """With nic, sender and receiver each halve the stream; with pair, only one link does."""
    payloads = {"a": 2.0, "b": 2.0, "z": 0}
    kinds: dict[NetworkKind, float] = {"pair": 1000.0, "nic": 500.0}
    for kind, expected in kinds.items():
        problem = workless_problem(payloads, "az bz", devices=3, kind=kind, source_rate=2000)
        assert throughput(problem, [0, 1, 2]) == pytest.approx(expected, rel=1e-11)


def test_slow_devices_throttle_the_sources_by_hand() -> None:
    """A device with utilisation 2 halves all streams, so the link is not full."""
    graph = StreamGraph([Operator("a", 5e6, 1.5 * MBIT), Operator("b", 0, 0)], [Stream("a", "b")])
    problem = Problem(graph, Cluster.equal(2), source_rate=1000, model="path-average")
    assert throughput(problem, [0, 1]) == pytest.approx(500, rel=1e-12)


@pytest.mark.parametrize("kind", ["pair", "nic"])
@given(data=st.data())
def test_agrees_with_the_oracle(kind: NetworkKind, data: st.DataObject) -> None:
    case = data.draw(cases("path-average", kind))
    assert throughput(*case) == pytest.approx(oracle.path_average(*case), rel=1e-9)


@given(cases("path-average", shared=True))
def test_the_equations_hold(case: Case) -> None:
    assert oracle.Equations(*case).residual(scales(*case)) <= 2e-12


@given(st.data(), problems("path-average", shared=True))
def test_placements_of_a_batch_are_independent(data: st.DataObject, problem: Problem) -> None:
    placements, flow = data.draw(batches(problem, min_size=4)), flow_of(problem)
    together = path_average.throughput(flow, placements)
    separate = [path_average.throughput(flow, row)[0] for row in placements]
    np.testing.assert_array_equal(together, separate)
    assert np.all(together <= problem.source_rate * (1 + 1e-9))


def alternating(payloads_mbit: Sequence[float]) -> tuple[Problem, list[int]]:
    """Return a chain whose operators alternate between two devices."""
    count = len(payloads_mbit)
    names = [f"o{v}" for v in range(count)]
    ends = [(v, v + 1) for v in range(count - 1)]
    graph = StreamGraph.from_columns(names, np.zeros(count), np.array(payloads_mbit) * MBIT, ends)
    problem = Problem(graph, Cluster.equal(2), source_rate=1000, model="path-average")
    return problem, [v % 2 for v in range(count)]


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param([0.3] * 30, id="even"),
        pytest.param([0.01] * 28 + [9, 9], id="heavy end"),
        pytest.param([9] + [0.1] * 29, id="heavy start"),
        pytest.param([0.001] * 98 + [9, 9], id="100 heavy end"),
        pytest.param([0.5] * 200, id="200 even", marks=pytest.mark.long),
        pytest.param([0.001] * 198 + [9, 9], id="200 heavy end", marks=pytest.mark.long),
    ],
)
def test_alternating_pipelines(payloads: list[float]) -> None:
    """Every hop affects all later ones, and damping 0.5 does not converge."""
    problem, devices = alternating(payloads)
    assert oracle.Equations(problem, devices).residual(scales(problem, devices)) <= 2e-12
    expected = oracle.path_average(problem, devices)
    assert throughput(problem, devices) == pytest.approx(expected, rel=1e-9)


def crossing(share: float, first: float, second: float) -> tuple[Problem, list[int]]:
    """Return two chains, each of which crosses the last link of the other one twice.

    The first crossings have small payloads; the last one offers 10 times the link's capacity, and
    `share` Mbit are added to each link. The less one link passes, the more the other can pass, so
    there can be several solutions.
    """
    chains = dict.fromkeys("abcdefghijklmnop", 0.0)
    chains |= {"e": first, "k": second, "m": share, "o": share}
    problem = workless_problem(
        chains, "ab bc cd de ef gh hi ij jk kl mn op", devices=4, source_rate=4000
    )
    return problem, [0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize("second", [10.0, 10.000001, 11.0])
def test_the_result_is_one_of_several_solutions(second: float) -> None:
    problem, devices = crossing(0.01, 10.0, second)
    assert oracle.Equations(problem, devices).residual(scales(problem, devices)) <= 2e-12


def test_slow_convergence() -> None:
    """Near a bifurcation, a damping of 0.5 needs 1,183 rounds, and smaller ones need more."""
    problem, devices = crossing(1.35, 10.0, 10.1)
    expected = oracle.path_average(problem, devices)
    assert throughput(problem, devices) == pytest.approx(expected, rel=1e-9)


def repeated_crossings() -> tuple[Problem, list[int]]:
    """Return 2,100 crossings of one link, which need a damping below 1/1050."""
    return alternating([0.0] * 4198 + [1e6, 0])


@pytest.mark.long
def test_newton_solves_what_damping_cannot() -> None:
    """The last hop offers s**2099 * 1e6 to the link, so s**2100 = 1e-6 arrives."""
    problem, devices = repeated_crossings()
    assert throughput(problem, devices) == pytest.approx(1000 * 1e-6, rel=1e-9)


@pytest.mark.long
def test_failure_of_both_methods_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, devices = repeated_crossings()
    placements = np.array([[0] * 4200, devices, [0] * 4200])
    assert path_average.throughput(flow_of(problem), placements)[2] == pytest.approx(1000)
    monkeypatch.setattr(path_average, "MOST_SLOPES", 0)
    with pytest.raises(path_average.ConvergenceError, match=r"^placement 1: .* 100000 rounds"):
        path_average.throughput(flow_of(problem), placements)


@given(cases("path-average", shared=True))
def test_newton_and_damping_agree(case: Case) -> None:
    """Both methods find the solution."""
    problem, devices = case
    flow = flow_of(problem)
    rate = path_average.solve_by_newton(flow, np.array(devices, np.int32), 1e-12)
    assert rate is not None
    achieved = problem.source_rate * rate[flow.sinks].sum() / flow.nominal_sink_tuples
    assert achieved == pytest.approx(throughput(problem, devices), rel=1e-9)


def test_a_flow_without_sink_tuples_is_refused() -> None:
    flow = replace(
        flow_of(workless_problem({"a": 1, "b": 1}, "ab", devices=1)), selectivity=np.zeros(1)
    )
    with pytest.raises(ValueError, match="no tuple reaches a sink"):
        path_average.throughput(flow, np.array([0, 0]))


@pytest.mark.parametrize("device", [-1, 2, 2**31 - 1])
def test_unknown_devices(device: int) -> None:
    flow = flow_of(workless_problem({"a": 1, "b": 1}, "ab", devices=2))
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        path_average.throughput(flow, np.array([[0, 0], [0, device]], np.int32))


def test_no_placements() -> None:
    flow = flow_of(workless_problem({"a": 1, "b": 1}, "ab", devices=2))
    assert path_average.throughput(flow, np.empty((0, 2), np.int32)).shape == (0,)
