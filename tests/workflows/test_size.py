"""Tests of `size`: numbers of instances and devices, compared with brute force."""

from math import ceil
from typing import Any, get_args

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.sizes import best_sizes
from streamplace.errors import ClusterError, InfeasibleError, PlacementError, UsageError
from streamplace.workflows.size import size, sizes
from streamplace.workflows.sizing.result import Minimise
from tests.support.share import Share

MOST = 3


def drawn(seed: int) -> tuple[sp.StreamGraph, sp.Cluster, float]:
    """Return a random job of two or three operators, unequal devices, and a target utilisation."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 4))
    operators = [
        sp.Operator(
            f"op{v}",
            float(rng.integers(1, 12)) * 1e5,
            float(rng.choice([0.0, 1e3, 2e4])),
            max_parallelism=int(rng.integers(1, MOST + 1))
            if count == 2
            else int(rng.integers(1, 3)),
            min_parallelism=1,
            partitions=int(rng.integers(2, 6)) if rng.random() < 0.3 else None,
            scaling={"sigma": 0.1} if rng.random() < 0.3 else {},
        )
        for v in range(count)
    ]
    kinds = ["", "hash", "rebalance", "forward", "broadcast"]
    streams = [
        sp.Stream(f"op{v}", f"op{v + 1}", float(rng.choice([0.5, 1.0])), partitioning=kind)
        for v, kind in enumerate(rng.choice(kinds, count - 1).tolist())
    ]
    devices = [
        sp.Device(
            f"d{d}",
            float(rng.choice([500, 1000, 1500])),
            slots=int(rng.integers(1, 4)) if rng.random() < 0.3 else None,
            price=float(rng.integers(1, 4)),
        )
        for d in range(int(rng.integers(2, 4)))
    ]
    network = sp.Network(bandwidth_mbps=float(rng.choice([5.0, 50.0, 1000.0])))
    graph = sp.StreamGraph(operators, streams, source_rate=float(rng.integers(300, 2500)))
    return graph, sp.Cluster(devices, network), float(rng.choice([0.7, 1.0]))


@pytest.mark.long
def test_small_sizes_are_those_of_brute_force(share: Share) -> None:
    """At least 99% are optimal; bounds and claims of infeasibility hold for all."""
    optimal = total = 0
    for seed in share.of(range(1000)):
        graph, cluster, target = drawn(seed)
        best = best_sizes(graph, cluster, target, MOST)
        for minimise in get_args(Minimise):
            least, total = best[minimise], total + 1
            try:
                found = size(
                    graph,
                    cluster,
                    minimise=minimise,
                    target_utilisation=target,
                    evaluations=3_000,
                )
            except InfeasibleError:
                assert least is None, (seed, minimise)
                optimal += 1
                continue
            except PlacementError:
                optimal += least is None
                continue
            assert least is not None, (seed, minimise)
            assert found.bound <= least * (1 + 1e-9), (seed, minimise)
            assert found.value >= least * (1 - 1e-9), (seed, minimise)
            assert found.throughput == pytest.approx(found.source_rate)
            optimal += found.value == pytest.approx(least)
    assert optimal >= 0.99 * total


def job(**changes: Any) -> sp.StreamGraph:
    """Return a source, a heavy operator and a keyed one."""
    rows: dict[str, dict[str, Any]] = {
        "read": {"instructions": 2e4, "partitions": 16},
        "parse": {"instructions": 9e5},
        "count": {"instructions": 4e5, "partitions": 128},
    }
    for name, more in changes.items():
        rows[name] |= more
    operators = [sp.Operator(name, payload_bytes=100.0, **row) for name, row in rows.items()]
    streams = [
        sp.Stream("read", "parse", partitioning="forward"),
        sp.Stream("parse", "count", partitioning="hash"),
    ]
    return sp.StreamGraph(operators, streams, source_rate=2e4)


CLUSTER = "10x2500x4"


def test_the_least_numbers_are_those_of_ds2() -> None:
    found = size(job(), CLUSTER, minimise="instances", target_utilisation=0.7, evaluations=5_000)
    usable = 2500e6 * 0.7
    assert found.parallelism["parse"] == ceil(2e4 * 9e5 / usable)
    assert found.parallelism["read"] == 1
    assert found.parallelism["count"] == 5  # 128 groups on 5: 26 on the busiest
    assert (found.bound, found.gap) == (17.0, 0.0)
    assert found.score is not None
    assert found.score.bottleneck.utilisation <= 0.7 + 1e-9


def test_stated_numbers_are_kept_unless_resized() -> None:
    graph = job(parse={"parallelism": 14}, count={"parallelism": "free"})
    assert size(graph, CLUSTER, evaluations=5_000).parallelism["parse"] == 14
    changed = size(graph, CLUSTER, resize=True, minimise="instances", evaluations=5_000)
    assert changed.parallelism["parse"] == 8


def test_what_cannot_keep_up_is_named_with_its_limit() -> None:
    graph = job(read={"instructions": 1e7})
    message = r"cannot keep up: read: 16 partitions, 4,000 tuples/s at most"
    with pytest.raises(InfeasibleError, match=message):
        size(graph, CLUSTER)
    with pytest.raises(InfeasibleError, match=r"parse: parallelism 3, 8,333\.34 tuples/s at"):
        size(job(parse={"parallelism": 3}), CLUSTER)
    with pytest.raises(InfeasibleError, match="2 devices cannot keep up: together they carry 15,1"):
        size(job(), "2x2500x4")


def test_slots_and_memory_are_respected() -> None:
    devices = [sp.Device(f"d{i}", 2500, 4, memory_bytes=3e9, slots=3) for i in range(10)]
    graph = job(parse={"memory_bytes": 1.5e9})
    found = size(graph, sp.Cluster(devices), target_utilisation=0.8, evaluations=5_000)
    for d in range(10):
        on = [name for name, device in found.assignment.items() if device == f"d{d}"]
        assert len(on) <= 3
        assert sum("parse" in name for name in on) <= 2


def test_catching_up_after_a_restart_adds_capacity() -> None:
    """R / U + R * restart / catch-up tuples/s, as in Flink's autoscaler."""
    options: dict[str, Any] = {"minimise": "instances", "evaluations": 5_000}
    found = size(job(), CLUSTER, target_utilisation=0.5, restart=180, catch_up=900, **options)
    needed = 2e4 / 0.5 + 2e4 * 180 / 900
    assert found.parallelism["parse"] == ceil(needed * 9e5 / 2500e6)
    assert found.source_rate == 2e4


def test_the_devices_survive_a_loss() -> None:
    plain = size(job(), CLUSTER, evaluations=5_000)
    safe = size(job(), CLUSTER, survive=1, evaluations=5_000)
    assert safe.machines == plain.machines + 1
    assert size(job(), CLUSTER, survive=True, evaluations=5_000).survive == 1


def test_money_chooses_cheap_devices() -> None:
    devices = [sp.Device(f"big{i}", 2500, 8, price=9.0) for i in range(3)]
    devices += [sp.Device(f"small{i}", 2500, 4, price=3.0) for i in range(6)]
    cluster = sp.Cluster(devices)
    found = size(job(), cluster, minimise="money", evaluations=5_000)
    assert found.money == 9.0
    assert {name[:5] for name in found.assignment.values()} == {"small"}
    assert size(job(), cluster, evaluations=5_000).machines == 2
    with pytest.raises(ClusterError, match="size: no device has a price"):
        size(job(), CLUSTER, minimise="money")


def test_limits_on_latency_of_other_types_are_refused() -> None:
    with pytest.raises(UsageError, match="max_latency: must be LatencyLimit, not int"):
        size(job(), CLUSTER, max_latency=5)  # type: ignore[arg-type]  # that is the fault


def test_of_equally_many_devices_the_cheapest_are_chosen() -> None:
    devices = [sp.Device(f"d{i}", 2500.0, price=price) for i, price in enumerate((5.0, 9.0, 1.0))]
    graph = sp.StreamGraph([sp.Operator("read", 1e6, 0.0)], source_rate=1000.0)
    found = size(graph, sp.Cluster(devices), evaluations=1_000)
    assert (found.machines, found.money, found.gap) == (1, 1.0, 0.0)
    found = size(graph, sp.Cluster(devices), source_rate=4e3, evaluations=1_000)
    assert (found.machines, found.money, found.gap) == (2, 6.0, 0.0)
    assert {*found.assignment.values()} == {"d0", "d2"}


def test_several_rates_are_rows() -> None:
    table = sizes(job(), CLUSTER, [1e4, 4e4], evaluations=5_000)
    rows = table.to_dict()["rows"]
    assert [row["source_rate"] for row in rows] == [1e4, 4e4]
    assert rows[0]["instances"] < rows[1]["instances"]


def test_instances_are_sized_as_they_are() -> None:
    graph = sp.StreamGraph(
        [
            sp.Operator("a[0]", 1e3, 1.0, instance_of="a"),
            sp.Operator("a[1]", 1e3, 1.0, instance_of="a"),
        ],
        source_rate=10.0,
    )
    assert size(graph, "3x1000", evaluations=1_000).parallelism == {"a[0]": 1, "a[1]": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minimise": "machine"}, "cannot minimise 'machine'.*did you mean 'machines'"),
        ({"survive": 2}, "survive must be 0 or 1"),
        ({"catch_up": 0.0}, "catch_up must be above 0"),
        ({"restart": -1.0}, "restart must be at least 0"),
        ({"model": "engine"}, "does not support the model engine"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        size(job(), CLUSTER, **options)


@pytest.mark.long
def test_a_limit_on_latency_is_kept_with_more_headroom() -> None:
    options: dict[str, Any] = {"target_utilisation": 0.9, "evaluations": 5_000}
    plain = size(job(), CLUSTER, **options)
    found = size(job(), CLUSTER, max_latency="p99=9ms", **options)
    assert found.latency is not None
    assert found.latency.answer == "feasible"
    assert found.latency.simulated_s is not None
    assert found.latency.simulated_s * 1.2 <= 9e-3
    assert found.instances > plain.instances
    assert found.bound == plain.bound
    assert found.to_dict()["latency"]["answer"] == "feasible"
    with pytest.raises(InfeasibleError, match="without any wait, p99 is at least"):
        size(job(), CLUSTER, max_latency="p99=0.1ms", **options)
