"""The placer `contiguous`: brute force over all splits, published optima, constraints."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from benchmarks.makespans.pipelines import CONTIGUOUS, workload
from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.errors import UnsuitableError, UsageError
from streamplace.placers.contiguous import costs, placer
from streamplace.placers.contiguous.placer import Contiguous
from streamplace.placers.registry import make_placer
from streamplace.placers.running import run_placer
from streamplace.placers.search.chains import splits_well
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from tests.support.contiguous_splits import (
    OVERLOAD,
    best_split,
    is_contiguous,
    random_split_problem,
    seconds_per_sample,
)
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng
from tests.support.released_data import SHARED

WORKLOADS = SHARED / "dnn" / "throughput"
needs_workloads = pytest.mark.skipif(
    not WORKLOADS.exists(), reason="the workloads of dnn-partitioning are not in ../shared"
)


def split(problem: Problem, ideals: int = 5_000) -> Placement:
    return Contiguous(ideals)(problem, seeded_rng())


def seconds(placement: Placement) -> float:
    return seconds_per_sample(placement.problem, placement.devices)


@pytest.mark.parametrize("multicast", ["none", "all"])
@pytest.mark.parametrize("seed", range(12))
def test_the_split_is_the_best_of_all(seed: int, multicast: Multicast) -> None:
    problem = random_split_problem(seed, multicast=multicast)
    found = split(problem)
    assert is_contiguous(problem, found.devices)
    assert seconds(found) == pytest.approx(best_split(problem))


@pytest.mark.parametrize("network", ["egress", "nic"])
@pytest.mark.parametrize("seed", range(8))
def test_the_interface_of_a_device_counts(seed: int, network: str) -> None:
    problem = random_split_problem(seed, network)
    assert seconds(split(problem)) == pytest.approx(best_split(problem))


def test_memory_and_colocation_limit_the_split() -> None:
    compared = 0
    for seed in range(30):
        problem = random_split_problem(seed, memory=True, colocated=seed % 2 == 0)
        best = best_split(problem)
        if best < inf and _units_form_no_cycle(problem):
            compared += 1
            assert seconds(split(problem)) == pytest.approx(best), seed
    assert compared >= 15


def _units_form_no_cycle(problem: Problem) -> bool:
    """Return whether the reversal of a backward pass plays no part."""
    unit = problem.feasibility.unit_of
    a, b = unit[problem.graph.stream_source], unit[problem.graph.stream_target]
    reach = np.zeros((unit.max() + 1, unit.max() + 1), dtype=np.int64)
    reach[a[a != b], b[a != b]] = 1
    for _ in range(len(reach)):
        reach = np.minimum(1, reach + reach @ reach)
    return not reach.diagonal().any()


@pytest.mark.parametrize("seed", range(8))
def test_the_split_is_the_best_with_a_pin(seed: int) -> None:
    pinned = Constraints(pins={"v2": "slow"})
    problem = random_split_problem(seed).with_constraints(pinned)
    assert seconds(split(problem)) == pytest.approx(best_split(problem))


@pytest.mark.parametrize("rule", ["exlocate", "apart_groups"])
@pytest.mark.parametrize("seed", range(8))
def test_the_split_is_the_best_with_operators_apart(seed: int, rule: str) -> None:
    """A repair of the split without the constraint is often worse; each device is a group."""
    drawn = random_split_problem(seed)
    devices = [replace(device, group=device.name) for device in drawn.cluster.devices]
    cluster = Cluster(devices, drawn.cluster.network)
    apart = Constraints(**{rule: [["v1", "v2", "v5"], ["v0", "v4"]]})  # type: ignore[arg-type]
    problem = Problem(drawn.graph, cluster, source_rate=OVERLOAD, constraints=apart)
    assert seconds(split(problem)) == pytest.approx(best_split(problem))


@pytest.mark.parametrize("multicast", ["device", "all"])
@pytest.mark.parametrize("seed", range(6))
def test_a_message_is_as_large_as_what_leaves_a_piece(seed: int, multicast: Multicast) -> None:
    """On two devices, the split is the best of all with streams of different sizes."""
    drawn, rng = random_split_problem(seed, "egress"), np.random.default_rng(seed)
    names = drawn.graph.names
    streams = [
        Stream(names[a], names[b], payload_bytes=float(rng.integers(1, 40)))
        for a, b in zip(drawn.graph.stream_source, drawn.graph.stream_target, strict=True)
    ]
    graph = StreamGraph(drawn.graph.operators, streams, firing="all", multicast=multicast)
    cluster = Cluster(drawn.cluster.devices[1:], drawn.cluster.network)
    problem = Problem(graph, cluster, source_rate=OVERLOAD)
    assert seconds(split(problem)) == pytest.approx(best_split(problem))


@pytest.mark.parametrize("multicast", ["device", "all"])
def test_a_large_stream_within_a_piece_keeps_no_other_operator(multicast: Multicast) -> None:
    """{a, b} | {c} carries 10,000, where one device carries 5,000; only a -> b is large."""
    work = {"a": 50.0, "b": 50.0, "c": 100.0}
    graph = StreamGraph(
        [Operator(name, instructions, 1.0) for name, instructions in work.items()],
        [Stream("a", "b", payload_bytes=1e6), Stream("a", "c", payload_bytes=1.0)],
        firing="all",
        multicast=multicast,
    )
    cluster = Cluster([Device("x", 1.0), Device("y", 1.0)], Network("nic", bandwidth_mbps=1.0))
    problem = Problem(graph, cluster, source_rate=1e5)
    a, b, c = split(problem).devices.tolist()
    assert a == b != c
    assert seconds(split(problem)) == pytest.approx(1e-4)


def test_an_operator_uses_its_own_cores_only() -> None:
    """Both on the device with four cores take 1.5 s of it, but the first needs a core for 4 s."""
    cluster = Cluster([Device("fast", 2.0), Device("wide", 1.0, cores=4)])
    problem = Problem(chain_graph(4e6, 2e6), cluster, source_rate=1e3)
    assert seconds(split(problem)) == pytest.approx(best_split(problem))
    assert split(problem).assignment == {"a": "fast", "b": "wide"}


@pytest.mark.parametrize("seed", range(8))
def test_orders_give_a_split_where_the_ideals_are_many(seed: int) -> None:
    problem = random_split_problem(seed, operators=7)
    along_orders = split(problem, ideals=1)
    assert is_contiguous(problem, along_orders.devices)
    assert seconds(along_orders) >= seconds(split(problem)) * (1 - 1e-9)


def test_a_chain_needs_no_ideals() -> None:
    """All closed sets of a chain are prefixes of its only order."""
    problem = Problem(chain_graph(*range(1, 9)), "3x1", source_rate=1e9)
    assert seconds(split(problem, ideals=1)) == pytest.approx(best_split(problem))
    loads = np.bincount(split(problem).devices, weights=np.arange(1, 9), minlength=3)
    assert loads.max() == 15.0  # 1 to 5, 6 and 7, 8


@pytest.mark.parametrize("seed", range(6))
def test_many_classes_of_devices_are_used_fastest_first(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "MAX_STATES", 1)
    problem = random_split_problem(seed)
    order = tuple(problem.cluster.fastest_first.tolist())
    assert seconds(split(problem)) == pytest.approx(best_split(problem, [order]))


def test_blocks_of_operators_still_give_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placer, "MOST_BLOCKS", 20)
    problem = Problem(chain_graph(*[1.0] * 200), "4x1", source_rate=1e9)
    assert np.bincount(split(problem, ideals=1).devices).tolist() == [50, 50, 50, 50]


def test_pins_that_allow_no_split_are_satisfied() -> None:
    pins = Constraints(pins={"a": "d0", "b": "d1", "c": "d0"})
    problem = Problem(chain_graph(1, 1, 1), "2x1", source_rate=1.0, constraints=pins)
    assert split(problem).devices.tolist() == [0, 1, 0]


def test_it_refuses_makespans_and_options_out_of_range() -> None:
    problem = Problem(chain_graph(1, 1), "2x1", objective=Makespan())
    with pytest.raises(UnsuitableError, match="'contiguous' supports only throughput"):
        run_placer(problem, "contiguous", np.random.default_rng(0))
    with pytest.raises(UsageError, match=r"ideals must be at least 1 \(got 0\)"):
        make_placer("contiguous:ideals=0")


@needs_workloads
@pytest.mark.parametrize("name", CONTIGUOUS)
def test_published_optima(name: str) -> None:
    """Those of the authors' dynamic programme over ideals, which are rounded to 1 us."""
    found = seconds(split(workload(name))) * 1e3
    assert found == pytest.approx(CONTIGUOUS[name], abs=1e-3)


@needs_workloads
@pytest.mark.parametrize("name", ["auto:evaluations=1", "search:evaluations=1"])
def test_searches_start_from_the_split(name: str) -> None:
    """Annealing alone stays 12% above it in ten seconds: single moves do not leave its optimum."""
    problem = workload("layer-bert24_inference")
    found = make_placer(name)(problem, seeded_rng())
    assert seconds(found) <= seconds(split(problem)) * (1 + 1e-9)


@needs_workloads
def test_auto_starts_from_the_split_on_large_graphs() -> None:
    """On more than 5,000 operators x devices, auto runs no search from the usual starts."""
    problem = workload("operator-resnet50_training")
    found = make_placer("auto:evaluations=1")(problem, seeded_rng())
    assert seconds(found) <= seconds(split(problem)) * (1 + 1e-9)


def test_searches_of_streams_do_not_start_from_a_split() -> None:
    assert not splits_well(Problem(chain_graph(1, 1), "2x1", source_rate=1.0))
    assert splits_well(random_split_problem(0))
