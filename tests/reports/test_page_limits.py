"""Violated rules, memory and resources on the page, computed in Node.js, against Python."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from streamplace import Cluster, Device, Operator, Placement, Problem, StreamGraph
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import constraints_to, graph_to
from streamplace.reports.loads import sums_of
from streamplace.scoring.loads import memory_use, resource_use
from streamplace.util.arrays import Ints
from tests.support.browser_engines import (
    PAGE,
    Evaluate,
    called_in_node,
)
from tests.support.share import Share

SHOWN = """(batch) => batch.map(({ file, cluster, constraints, assignments, sums }) => {
  const flow = SP.flow.flowOf(file);
  const problem = {
    file,
    cluster,
    constraints,
    network: SP.links.networkOf(cluster),
    called: {
      devices: SP.labels.called(cluster.devices.map(({ name }) => name)),
      operators: SP.labels.called(flow.names),
    },
    limits: SP.limits.limitsOf(file, cluster),
  };
  const texts = (limits, assignment) =>
    cluster.devices.map((_, d) =>
      limits.map((limit) => SP.limits.useOf(limit, SP.limits.usedBy(limit, assignment), d)),
    );
  return assignments.map((assignment, i) => ({
    broken: SP.rules.broken(problem, flow, assignment),
    texts: texts(problem.limits, assignment),
    fromSums: texts(SP.limits.limitsOf(null, cluster, sums[i].limits, sums[i].operators), null),
  }));
})"""
NAMES = ("__proto__", "constructor", "gpu")


@pytest.fixture(scope="module")
def shown() -> Iterator[Evaluate]:
    files = ("text", "labels", "times", "flow", "links", "model", "limits", "rules")
    script = "\n".join((PAGE / f"{name}.js").read_text() for name in files)
    with called_in_node(script, SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        yield evaluate


def page_input(problem: Problem, rows: Ints) -> dict[str, Any]:
    return {
        "file": graph_to(problem.graph),
        "cluster": cluster_to(problem.cluster),
        "constraints": constraints_to(problem.constraints),
        "assignments": rows.tolist(),
        "sums": [sums_of(Placement(problem, row)) for row in rows],
    }


def expected_texts(placement: Placement) -> list[list[str]]:
    """Return the texts of memory and resources of each device, as tables have them."""
    names = placement.problem.cluster.names
    texts: dict[str, list[str]] = {name: [] for name in names}
    for memory in memory_use(placement):
        texts[memory.device].append(memory.text())
    for resource in resource_use(placement):
        texts[resource.device].append(resource.text())
    return list(texts.values())


def plain(texts: Sequence[str | None]) -> list[str]:
    """Return texts without the characters that isolate names."""
    return [text.replace("\u2068", "").replace("\u2069", "") for text in texts if text is not None]


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 1040), marks=pytest.mark.long)]
)
def test_violations_and_uses_agree(seeds: Sequence[int], shown: Evaluate, share: Share) -> None:
    violated, seeds = 0, share.of(seeds)
    for seed in seeds:
        problem = resource_problem(seed, max_placements=2_000)
        rng = np.random.default_rng(seed)
        shape = 12, len(problem.graph.names)
        rows = rng.integers(len(problem.cluster.devices), size=shape, dtype=np.int32)
        for row, page, feasible in zip(
            rows, shown([page_input(problem, rows)])[0], obeying(problem, rows), strict=True
        ):
            assert (not page["broken"]) == feasible, seed
            violated += not feasible
            expected = expected_texts(Placement(problem, row))
            assert [plain(texts) for texts in page["texts"]] == expected, seed
            assert [plain(texts) for texts in page["fromSums"]] == expected, seed
    assert 3 * len(seeds) < violated < 12 * len(seeds)


def test_names_of_resources_can_be_any_text(shown: Evaluate) -> None:
    graph = StreamGraph(
        [Operator("a", 1e5, 0.0, 3e9, resources=dict.fromkeys(NAMES, 0.3))], source_rate=10.0
    )
    offers = [dict.fromkeys(NAMES, 0.2), dict.fromkeys(NAMES, 1.0)]
    devices = [
        Device(f"d{i}", 1e3, memory_bytes=2e9 + i * 2e9, resources=o) for i, o in enumerate(offers)
    ]
    problem = Problem(graph, Cluster(devices))
    rows = np.array([[0], [1]], dtype=np.int32)
    first, second = shown([page_input(problem, rows)])[0]
    assert plain(first["broken"]) == [
        "“d0” would need 3 GB of memory but has 2 GB",
        *(f"“d0” would need 0.3 {name} but has 0.2" for name in sorted(NAMES)),
    ]
    assert second["broken"] == []
    assert plain(second["texts"][1]) == [
        "3 GB of 4 GB",
        *(f"0.3 of 1 {name}" for name in sorted(NAMES)),
    ]


def test_slots_are_counted(shown: Evaluate) -> None:
    """Devices without a number of slots are never full; nothing of nothing is not shown."""
    graph = StreamGraph([Operator(name, 1e5, 0.0) for name in "abc"], source_rate=10.0)
    slots = (0, 1, 2, None)
    devices = [Device(f"d{d}", 1e3, slots=count) for d, count in enumerate(slots)]
    problem = Problem(graph, Cluster(devices))
    rows = np.array([[0, 1, 2], [1, 1, 2], [3, 3, 3], [2, 2, 2]], dtype=np.int32)
    pages = shown([page_input(problem, rows)])[0]
    for row, page in zip(rows.tolist(), pages, strict=True):
        uses = [
            f"{row.count(d)} of {count} slot{'' if count == 1 else 's'}"
            for d, count in enumerate(slots)
            if count is not None and (count or row.count(d))
        ]
        for texts in (page["texts"], page["fromSums"]):
            assert [text for each in texts for text in plain(each)] == uses
            assert texts[3] == [None]
    assert [plain(page["broken"]) for page in pages] == [
        ["“d0” would need 1 slot but has none"],
        ["“d1” would need 2 slots but has 1"],
        [],
        ["“d2” would need 3 slots but has 2"],
    ]
