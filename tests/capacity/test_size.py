"""The sizes of jobs: numbers of instances, tables, the fluid model, and factored problems."""

from itertools import combinations, count
from math import ceil
from time import process_time
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import streamplace as sp
from benchmarks.reference.sizes import best_sizes
from streamplace.capacity.settings import Minimise
from streamplace.capacity.size import size, sizes
from streamplace.capacity.sizing.result import SizeTable, Unsized
from streamplace.capacity.subset.conditions import Conditions, Kinds
from streamplace.capacity.subset.price_bound import fluid_bound
from streamplace.display.mixins import view_of
from streamplace.display.view import Grid, Line
from streamplace.errors import ClusterError, InfeasibleError, PlacementError, UsageError
from streamplace.problem.instances import devices_of_instances, operator_devices
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


def test_what_is_stated_and_too_few_names_the_option_that_helps() -> None:
    graph = job(parse={"parallelism": 2})
    with pytest.raises(
        sp.StreamplaceError,
        match=r"with --resize, or resize=True in Python, size chooses these, too$",
    ):
        size(graph, CLUSTER)
    with pytest.raises(sp.StreamplaceError, match=r"cannot keep up: parse: .* at most$"):
        size(job(parse={"parallelism": 2, "max_parallelism": 2}), CLUSTER)


def test_operators_stay_whole_if_asked() -> None:
    each = {"instructions": 2.75e5}  # 2.2 of 4 cores, so that no two have room on a device
    graph = job(read=each, parse=each, count=each)
    divided = size(graph, "3x2500x4", evaluations=5_000)
    assert divided.placement is not None
    assert divided.machines == 2
    assert max(len(set(on)) for on in devices_of_instances(divided.placement).values()) > 1
    found = size(graph, "3x2500x4", whole_operators=True, evaluations=5_000)
    assert found.placement is not None
    assert found.machines == 3
    assert operator_devices(found.placement).keys() == {"read", "parse", "count"}
    assert found.throughput == pytest.approx(2e4)
    with pytest.raises(
        PlacementError, match="under whole operators; a longer search may find some"
    ):
        size(job(), CLUSTER, whole_operators=True, evaluations=500)  # parse needs 7.2 of 4 cores


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
        ({"minimise": "machine"}, "minimise: unknown choice 'machine'.*did you mean 'machines'"),
        ({"survive": 2}, "survive: must be 0 or 1"),
        ({"catch_up": 0.0}, "catch_up: must be finite and above 0"),
        ({"restart": -1.0}, "restart: must be finite and at least 0"),
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


READ = sp.StreamGraph([sp.Operator("read", 1e6, 0.0)], source_rate=1000.0)


def test_a_limit_on_latency_says_that_it_holds_without_losses_only() -> None:
    after = "the limit on latency is not examined after the loss of a device"
    for survive in (0, 1):
        found = size(READ, "3x2500", max_latency="p99=1s", survive=survive, evaluations=500)
        texts = [part.text for part in view_of(found).body if isinstance(part, Line)]
        assert [text for text in texts if text.startswith("latency limit")]
        assert (after in texts) == bool(survive)


def test_headroom_is_named_unless_it_was_stated() -> None:
    for target, expected in ((1.0, ["50.0% headroom at the busiest device {} ("]), (0.9, [])):
        found = size(READ, "1x2000", target_utilisation=target, evaluations=500)
        texts = [part.text for part in view_of(found).body if isinstance(part, Line)]
        named = [text for text in texts if "headroom" in text]
        assert [text[: text.index("--")] for text in named] == expected


def table(*rates: float) -> SizeTable:
    return sizes(READ, "3x1000", rates, evaluations=500)


def test_a_rate_that_cannot_be_sustained_is_a_row() -> None:
    found = table(1e3, 9e3, 2e3)
    reason = "3 devices cannot keep up: together they carry 3,000 of 9,000 tuples/s at most"
    assert [row.source_rate for row in found.sized] == [1e3, 2e3]
    failed = found.rows[1]
    assert isinstance(failed, Unsized)
    assert failed.to_dict() == {
        "source_rate": 9e3,
        "error": f"{reason}; add devices",
        "at_most": 3e3,
    }
    rows = found.to_dict()["rows"]
    assert [row["source_rate"] for row in rows] == [1e3, 9e3, 2e3]
    assert rows[2]["parallelism"] == {"read": 2}
    assert f"9,000 tuples/s: {reason}; add devices" in repr(found)


@pytest.mark.parametrize("rates", [(1e3, 9e3), (9e3, 1e3), (1e3, 2e3)])
def test_a_line_below_the_table_has_the_reason_of_a_failed_rate(rates: tuple[float, ...]) -> None:
    grid, *lines = view_of(table(*rates)).body
    assert isinstance(grid, Grid)
    assert {len(row) for row in grid.rows()} == {len(grid.head)}
    failed = [rate for rate in rates if rate == 9e3]
    assert len(grid.rows()) == len(rates) - len(failed)
    assert len(lines) == len(failed)
    for line in lines:
        assert isinstance(line, Line)
        assert line.text.startswith("no size for 9,000 tuples/s: 3 devices cannot keep up")


def test_if_no_rate_can_be_sustained_the_error_is_that_of_the_lowest() -> None:
    with pytest.raises(InfeasibleError, match="3,000 of 5,000"):
        table(9e3, 5e3, 7e3)


DEVICE = st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0.0, 0.5, 1.0, 2.5]))


@settings(max_examples=80, deadline=None)
@given(
    devices=st.lists(DEVICE, min_size=2, max_size=7), needs=st.tuples(*[st.floats(0.2, 0.8)] * 2)
)
def test_no_set_that_survives_a_loss_is_cheaper(
    devices: list[tuple[int, int, float]], needs: tuple[float, float]
) -> None:
    """Devices have two amounts, such as speed and memory, and prices."""
    amounts = np.array([each[:2] for each in devices], dtype=np.float64)
    need = amounts.sum(axis=0) * np.array(needs)

    def carries(chosen: tuple[int, ...]) -> bool:
        return bool((amounts[list(chosen)].sum(axis=0) >= need * (1 + 1e-9)).all())

    sets = [
        each
        for count in range(1, len(devices) + 1)
        for each in combinations(range(len(devices)), count)
        if all(carries(tuple(d for d in each if d != lost)) for lost in each)
    ]
    assume(sets)
    prices = np.array([price for _, _, price in devices])
    graph = sp.StreamGraph([sp.Operator("a", 1e3, 0.0)], source_rate=1.0)
    own = [sp.Device(f"d{i}", 10.0 * a + b) for i, (a, b, _) in enumerate(devices)]
    kinds = Kinds(sp.Problem(graph, sp.Cluster(own)), prices)
    first = [members[0] for members in kinds.members]
    found = fluid_bound(Conditions(np.minimum(amounts[first] / need, 1.0).T, kinds.kept), kinds, 1)
    assert found <= min(prices[list(each)].sum() for each in sets) + 1e-9


def test_a_strong_device_may_be_the_one_that_is_lost() -> None:
    """Without the large device, three small ones are needed, and so are four devices in all."""
    graph = sp.StreamGraph([sp.Operator("count", 1e6, 0.0)], source_rate=5.5e3)
    devices = [sp.Device("big", 1000.0, cores=8)]
    devices += [sp.Device(f"m{i}", 1000.0, cores=2) for i in range(4)]
    found = size(graph, sp.Cluster(devices), survive=1, evaluations=2_000)
    assert (found.machines, found.bound) == (4, 4.0)


def test_a_rate_beyond_all_devices_is_named_before_what_large_sizes_lack() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("read", 1e3, 1.0), sp.Operator("parse", 1e5, 1.0)],
        [sp.Stream("read", "parse", partitioning="hash")],
    )
    with pytest.raises(InfeasibleError, match=r"together they carry .* after the loss of any one"):
        size(graph, "5x2500", source_rate=1e9, survive=1)
    with pytest.raises(UsageError, match="for which it does not support survive"):
        size(graph, "2000x2500x8", source_rate=2e8, survive=1)


@pytest.mark.parametrize(("reads", "machines"), [(170, 25), (85, 30)])
def test_a_time_limit_is_used_whole(
    reads: int, machines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers are given, and the clock goes on by the same step whenever it is read."""
    loads = {f"{kind}{i}": load for i in range(30) for kind, load in (("a", 4e3), ("b", 4.4e3))}
    operators = [sp.Operator(name, load, 2e3, parallelism=1) for name, load in loads.items()]
    streams = [sp.Stream(f"a{i}", f"b{i}") for i in range(30)]
    graph = sp.StreamGraph(operators, streams, source_rate=3e4)
    cluster, steps = sp.Cluster.equal(60, mips=12.0), count()
    size(graph, cluster, evaluations=2_000)  # loads the kernels
    clock = SimpleNamespace(perf_counter=lambda: next(steps) / reads, process_time=process_time)
    monkeypatch.setattr("streamplace.sim.work_clock.time", clock)
    found = size(graph, cluster, seconds=1.0, evaluations=2_000)
    assert found.machines == machines
    assert found.cut_off == (machines > 25)
    assert next(steps) >= reads
