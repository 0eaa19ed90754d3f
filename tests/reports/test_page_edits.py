"""What the page shows at first and after edits, computed in Node.js, against Python."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.changes import remade
from benchmarks.reference.message_problems import with_message_fields
from benchmarks.reference.random_problems import random_problem
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from streamplace import Cluster, Constraints, Device, Operator, Placement, Problem, StreamGraph
from streamplace.errors import GraphError, InfeasibleError
from streamplace.problem.losses import Losses
from streamplace.reports.data import data_of, operator_rows, throughput_entry
from streamplace.reports.loads import streams_on
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import bound, simulate
from streamplace.workflows.explain_losses import shares_left
from tests.support.browser_engines import (
    PAGE,
    Evaluate,
    called_in_node,
)
from tests.support.graphs import chain_graph
from tests.support.page_scores import difference
from tests.support.share import Share

FILES = [
    "text",
    "labels",
    "times",
    "flow",
    "links",
    "model",
    "limits",
    "rules",
    "without",
    "state",
    "throughput",
    "view",
]
SHOWN = """(batch) => batch.map(({ data, settings }) => {
  const [row] = data.placements;
  const [graph] = data.graphs;
  const flow = graph.file && SP.flow.flowOf(graph.file);
  const placement = SP.view.placementOf(row, graph, flow);
  const { problem } = placement;
  return settings.map((edit) => {
    const view = SP.view.viewOf(placement, edit ?? placement.initial);
    const links = view.score.links.map((load) => [
      SP.links.linkName(load, problem.cluster),
      load.utilisation,
    ]);
    return {
      ...view.score,
      links,
      bound: view.bound,
      work: problem.flow.work,
      losses: problem.cluster.devices.map((_, d) => SP.without.lossOf(view, d)),
      streams: view.score.links.map(({ link }) => [
        link,
        SP.model.streamsOn(link, problem.flow, problem.network, view.setting),
      ]),
      broken: SP.rules.broken(problem, problem.flow, view.setting.assignment),
    };
  });
})"""
TARGETS = (1.0, 0.7)


@pytest.fixture(scope="module")
def shown() -> Iterator[Evaluate]:
    script = "\n".join((PAGE / f"{name}.js").read_text() for name in FILES)
    with called_in_node(script, SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


def slowed(cluster: Cluster, rng: np.random.Generator) -> Cluster:
    """Return a cluster of which some devices are slow, and some of these slower still."""
    for _ in range(2):
        slow = {d: float(rng.choice([0.5, 0.3, 1e-5])) for d in cluster.names if rng.random() < 0.4}
        cluster = Losses((), slow).cluster(cluster)
    return cluster


def drawn(seed: int) -> Problem | None:
    """Return a random problem with times by kind, slow devices, headroom and several rates."""
    rng = np.random.default_rng((seed, 60))
    make = resource_problem if seed % 2 else random_problem
    base = make(seed, max_placements=2_000)
    rates = [float(rng.integers(3, 30)) * 100.0 for _ in range(int(rng.integers(1, 4)))]
    try:
        timed = with_message_fields(base, rng)
        cluster = slowed(timed.cluster, rng)
        target = float(rng.choice(TARGETS))
        problem = remade(timed, None, cluster, source_rate=rates, target_utilisation=target)
        flow(problem)
    except (GraphError, InfeasibleError):
        return None
    return problem


def edited(placement: Placement, rng: np.random.Generator) -> tuple[Placement, dict[str, Any]]:
    """Return a placement after random edits of everything that the page can edit, and these."""
    problem, count = placement.problem, len(placement.problem.cluster.devices)
    mips = [d.mips * rng.choice([1.0, 0.4, 2.5]) for d in problem.cluster.devices]
    bandwidth = [problem.cluster.network.bandwidth_mbps, None, 3.0][rng.integers(3)]
    assignment = rng.integers(count, size=len(placement.devices))
    factor = rng.choice([1.0, 0.1, 7.0])
    cluster = Cluster(
        [replace(d, mips=m) for d, m in zip(problem.cluster.devices, mips, strict=True)],
        replace(problem.cluster.network, bandwidth_mbps=bandwidth),
    )
    rates = [rate * factor for rate in problem.source_rates]
    after = Problem(
        problem.graph,
        cluster,
        objective=problem.throughput_objective.with_changes(rates),
        constraints=problem.constraints,
    )
    setting = {
        "assignment": assignment.tolist(),
        "rate": max(rates),
        "mips": mips,
        "bandwidth": bandwidth,
    }
    return Placement(after, assignment), setting


def left_without(placement: Placement, stopped: set[int]) -> float:
    """Return the share of the source rate that is carried while some operators are stopped."""
    problem, graph = placement.problem, placement.problem.graph
    streams = list(zip(graph.stream_source, graph.stream_target, graph.selectivity, strict=True))
    blocked = {v for v in stopped if graph.flowing[v]}
    for _ in graph.names:
        blocked |= {int(u) for u, w, tuples in streams if tuples > 0 and w in blocked}
    if blocked and graph.firing == "all":
        return 0.0
    left = {graph.names[v]: graph.source_share[v] for v in graph.sources if v not in blocked}
    share = float(sum(left.values()))
    if share <= 0:
        return 0.0
    own = {graph.names[v]: left.get(graph.names[v], 0.0) / share for v in graph.sources}
    rest = remade(problem, graph.with_numbers(source_shares=own)[0], None)
    objective = problem.throughput_objective
    rates = [rate * share for rate in problem.source_rates]
    rest = rest.with_objective(objective.with_changes(rates))
    return share * simulate(Placement(rest, placement.devices)).relative_throughput


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.long)])
def test_losses_of_devices_and_streams_on_links(
    seeds: Sequence[int], shown: Evaluate, share: Share
) -> None:
    """What is left without a device, what waits and is bound to it, and what loads each link."""
    partly = bound_somewhere = several = 0
    for seed in share.of(seeds):
        problem = drawn(seed)
        if problem is None:
            continue
        devices = np.random.default_rng(seed).integers(
            len(problem.cluster.devices), size=len(problem.graph.names)
        )
        placement = Placement(problem, devices)
        data = data_of([throughput_entry("t", placement)])
        [page] = shown([{"data": data, "settings": [None]}])[0]
        everywhere = np.arange(len(problem.cluster.devices))
        left = shares_left(placement, devices == everywhere[:, np.newaxis])
        assert [loss["left"] for loss in page["losses"]] == pytest.approx(left), seed
        for d, loss in enumerate(page["losses"]):
            stopped = np.flatnonzero(devices == d).tolist()
            assert loss["stopped"] == stopped, seed
            assert loss["left"] == pytest.approx(left_without(placement, {*stopped})), seed
            partly += 0 < loss["left"] < 1
            bound_somewhere += bool(loss["bound"])
            if loss["bound"]:
                assert d in data["placements"][0]["irreplaceable"], seed
        known = streams_on(placement)
        for link, streams in page["streams"]:
            several += len(streams) > 1
            if problem.graph.multicast == "none" and link in known:
                shares = [each for *_, each in known[link]["rows"]]
                assert known[link]["count"] == len(streams), seed
                assert [each for _, each in streams[: len(shares)]] == pytest.approx(
                    shares, abs=1e-4
                )
    assert min(partly, bound_somewhere, several) > 0


def test_operators_that_are_kept_together_are_bound_together(shown: Evaluate) -> None:
    """Each may run on one other device, but not on the same one."""
    rules = Constraints(colocate=[["a", "b"]], allowed={"a": ["d0", "d1"], "b": ["d0", "d2"]})
    problem = Problem(chain_graph(1e5, 1e5), Cluster.equal(3), constraints=rules)
    data = data_of([throughput_entry("t", Placement(problem, np.zeros(2, np.int64)))])
    [page] = shown([{"data": data, "settings": [None]}])[0]
    assert data["placements"][0]["irreplaceable"] == [0]
    assert page["losses"][0]["bound"] == [0, 1]


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 1040), marks=pytest.mark.long)]
)
def test_what_is_shown_at_first_and_after_edits(
    seeds: Sequence[int], shown: Evaluate, share: Share
) -> None:
    checked = 0
    for seed in share.of(seeds):
        problem = drawn(seed)
        if problem is None:
            continue
        rng = np.random.default_rng(seed)
        devices = rng.integers(len(problem.cluster.devices), size=len(problem.graph.names))
        before = Placement(problem, devices)
        after, setting = edited(before, rng)
        entry = throughput_entry("t", before)
        data = data_of([entry])
        first, second = shown([{"data": data, "settings": [None, setting]}])[0]
        assert difference(first, simulate(before)) < 1e-12, seed
        assert first["bound"] == pytest.approx(entry.bound), seed
        assert difference(second, simulate(after)) < 1e-12, seed
        assert second["bound"] >= bound(after.problem) * (1 - 1e-9), seed
        obeys = obeying(problem, np.stack([devices, after.devices]))
        assert [not page["broken"] for page in (first, second)] == obeys.tolist(), seed
        work = np.array(first["work"])
        shares = {problem.graph.names[v]: w / (work.sum() or 1.0) for v, w in enumerate(work)}
        expected = {row.name: row.share for row in operator_rows(before)}
        assert shares == pytest.approx(expected), seed
        checked += 1
    assert checked > 0.5 * len(share.of(seeds))


def test_a_slow_kind_takes_the_time_of_its_kind_divided_by_its_share(shown: Evaluate) -> None:
    """2 ms at full speed are 4 ms at half of it, and 8 ms if half of that is left."""
    graph = StreamGraph(
        [Operator("a", np.nan, 100.0, seconds_on={"gpu": 0.002})], source_rate=400.0
    )
    cluster = Cluster([Device("g", 100.0, kind="gpu"), Device("h", 100.0)])
    for slow, used in (({}, 0.8), ({"g": 0.5}, 1.6), ({"g": 0.25}, 3.2)):
        placement = Placement(Problem(graph, Losses((), slow).cluster(cluster)), [0])
        data = data_of([throughput_entry("t", placement)])
        other = {"assignment": [1], "rate": 400.0, "mips": [50.0, 50.0], "bandwidth": None}
        first, second = shown([{"data": data, "settings": [None, other]}])[0]
        assert first["bottleneck"]["utilisation"] == pytest.approx(used)
        assert first["broken"] == []
        assert len(second["broken"]) == 1
