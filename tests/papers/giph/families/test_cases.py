"""The families giph-paper and giph-code: the released code's draws, and the paper's ranges."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from streamplace import Cluster, Recipe, StreamGraph
from streamplace.errors import UsageError
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from tests.support.paths import ROOT

GOLDEN = ROOT.parent / "shared" / "data" / "makespan"
SHUFFLE = 123445  # the seed of the released protocol
needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="needs ../shared/data/makespan")


def golden(setting: str) -> Iterator[tuple[StreamGraph, Cluster]]:
    """Yield the problems of a golden file."""
    with gzip.open(GOLDEN / f"giph-{setting}.jsonl.gz", "rt") as lines:
        for line in lines:
            value = json.loads(line)
            yield graph_from(value["graph"], "graph"), cluster_from(value["cluster"], "cluster")


def feasible_devices(graph: StreamGraph, cluster: Cluster) -> list[int]:
    """Return the number of devices that each task may run on."""
    return [
        sum(set(graph.requires[v]) <= set(device.labels) for device in cluster.devices)
        for v in range(len(graph.names))
    ]


def links(cluster: Cluster, name: str) -> np.ndarray:
    """Return a number of the links between different devices."""
    count = len(cluster.devices)
    return cluster.link_column(name)[~np.eye(count, dtype=bool).ravel()]


@needs_golden
@pytest.mark.parametrize("setting", ["single", "several"])
def test_giph_code_makes_the_draws_of_the_released_code(setting: str) -> None:
    recipe = Recipe(f"giph-code:cases={setting}", 60, seed=SHUFFLE)
    for number, (graph, cluster) in enumerate(golden(setting)):
        ours, network = recipe.graph(number), recipe.cluster(number)
        assert ours.names == graph.names
        assert ours.requires == graph.requires
        assert ours.firing == graph.firing == "all"
        np.testing.assert_array_equal(ours.instructions, graph.instructions)
        np.testing.assert_array_equal(ours.stream_source, graph.stream_source)
        np.testing.assert_array_equal(ours.stream_target, graph.stream_target)
        np.testing.assert_array_equal(ours.stream_payload_bytes, graph.stream_payload_bytes)
        assert network.network.kind == cluster.network.kind == "free"
        assert [(d.mips, d.labels) for d in network.devices] == [
            (d.mips, d.labels) for d in cluster.devices
        ]
        for name in ("bandwidth_mbps", "latency_s"):
            np.testing.assert_array_equal(links(network, name), links(cluster, name))


@needs_golden
def test_other_draws_have_the_distribution_of_the_golden_cases() -> None:
    """Compare means with those of the golden cases, within 4 standard errors of the difference."""
    recipe = Recipe("giph-code", 400, seed=3)
    drawn = [_measures(recipe.graph(i)) for i in range(400)]
    known = [_measures(graph) for setting in ("single", "several") for graph, _ in golden(setting)]
    a, b = np.array(drawn), np.array(known)
    error = np.sqrt(a.var(0, ddof=1) / len(a) + b.var(0, ddof=1) / len(b))
    assert (np.abs(a.mean(0) - b.mean(0)) < 4 * error).all()


def _measures(graph: StreamGraph) -> tuple[float, ...]:
    count, streams = len(graph.names), len(graph.streams)
    return (
        count,
        streams,
        streams / count,
        float(graph.instructions.mean()),
        float(graph.stream_payload_bytes.mean()),
    )


@pytest.mark.parametrize(("family", "part"), [("giph-paper", 1.0), ("giph-code", 0.5)])
def test_numbers_fill_their_ranges(family: str, part: float) -> None:
    recipe = Recipe(family, 40, seed=1)
    work = np.concatenate([recipe.graph(i).instructions for i in range(40)]) / 1e6
    data = np.concatenate([recipe.graph(i).stream_payload_bytes for i in range(40)]) / 125_000
    speed = np.array([d.mips for i in range(40) for d in recipe.cluster(i).devices])
    for numbers, mean, spread in ((work, 100, 0.4), (data, 100, 0.4), (speed, 5, 0.8)):
        low, high = mean * (1 - spread * part), mean * (1 + spread * part)
        margin = 0.02 * (high - low)
        assert low <= numbers.min() < low + margin
        assert high - margin < numbers.max() <= high
        assert numbers.mean() == pytest.approx(mean, rel=0.03)
    bandwidth = np.concatenate([links(recipe.cluster(i), "bandwidth_mbps") for i in range(40)])
    ends = (20, 180) if family == "giph-paper" else (1 / 0.014, 1 / 0.006)
    assert (bandwidth.min(), bandwidth.max()) == pytest.approx(ends, rel=0.01)
    # uniform bandwidths have the mean 100, uniform reciprocals a larger one
    mean = 100 if family == "giph-paper" else np.log(0.014 / 0.006) / 0.008
    assert bandwidth.mean() == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize("family", ["giph-paper", "giph-code"])
def test_a_graph_has_one_entry_one_exit_and_a_feasible_device_for_each_task(family: str) -> None:
    for devices in (1, 3, 20):
        recipe = Recipe(f"{family}:devices={devices}", 30, seed=2)
        for i in range(30):
            graph, cluster = recipe.graph(i), recipe.cluster(i)
            assert len(cluster.devices) == devices
            assert graph.sources.tolist() == [0]
            assert graph.sinks.tolist() == [len(graph.names) - 1]
            assert (graph.stream_source < graph.stream_target).all()
            assert all(feasible_devices(graph, cluster))
            for name in ("bandwidth_mbps", "latency_s"):
                square = cluster.link_column(name).reshape(devices, devices)
                np.testing.assert_array_equal(square, square.T)


@pytest.mark.long
def test_the_single_setting_has_one_network_and_the_several_setting_ten() -> None:
    for setting, networks in (("single", 1), ("several", 10)):
        for split, count in (("test", 300 if networks == 1 else 1200), ("train", 300)):
            recipe = Recipe(f"giph-code:cases={setting}:split={split}", count, seed=5)
            clusters = {recipe.cluster(i) for i in islice(range(count), 0, None, 5)}
            assert len(clusters) == networks


def test_seeds_and_numbers_determine_graphs_and_clusters() -> None:
    one, same, other = (Recipe("giph-paper", 5, seed=s) for s in (1, 1, 2))
    assert [one.graph(i) for i in range(5)] == [same.graph(i) for i in range(5)]
    assert one.cluster(3) == same.cluster(3)
    assert one.graph(0).sha256 != other.graph(0).sha256
    assert one.cluster(0) != one.cluster(1)
    assert Recipe("giph-paper", 9, seed=1).cluster(4) == one.cluster(4)


@pytest.mark.parametrize(
    ("family", "count", "sizes", "message"),
    [
        ("giph-code", 1, range(5, 9), "the settings determine the number of operators; use v=N"),
        ("giph-code:cases=singel", 1, None, "unknown cases 'singel'; did you mean 'single'"),
        ("giph-code:split=all", 1, None, "unknown split 'all'"),
        ("giph-paper:cases=single", 301, None, "count must be 1 to 300 with cases=single:split"),
        ("giph-paper:cases=several:v=10", 1, None, "cannot combine cases=several with v"),
        ("giph-paper:v=0", 1, None, "v must be 1 to 10000 (got 0)"),
        ("giph-paper:alpha=0.01", 1, None, "alpha must be 0.05 to 20 (got 0.01)"),
        ("giph-paper:connect=1.5", 1, None, "connect must be 0 to 1 (got 1.5)"),
        ("giph-paper:devices=2049", 1, None, "devices must be 1 to 2048 (got 2049)"),
    ],
)
def test_what_giph_refuses(family: str, count: int, sizes: range | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Recipe(family, count, sizes)
    assert message in str(caught.value)


def test_families_without_clusters_say_so() -> None:
    with pytest.raises(UsageError, match="family 'layered' has no clusters; giph-paper, giph-c"):
        Recipe("layered", 1).cluster(0)
