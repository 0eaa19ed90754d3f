"""Random placements, edits of their report pages, and names that could become markup."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.grouped_problems import grouped_cluster
from streamplace import Cluster, Device, LinkOverride, Network, Placement, Problem
from streamplace.families import Recipe
from streamplace.scoring.score import ThroughputScore
from tests.support.graphs import preset_graph
from tests.support.reports import Report

PRESETS = ("dream", "series-parallel", "layered")
SIZES = range(5, 28)
GROUPED = 2  # remainder of the seeds whose devices are in groups, some of which share links
TOLERANCE = 1e-6

HOSTILE_NAMES = (
    "\"quoted\" and 'quoted'",
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--",
    "]]>",
    "&lt;b&gt; &amp; \\u003c",
    "🦄 emoji 👩‍👩‍👧‍👦",
    "מפעיל ימין-לשמאל",
    "\u202eoverride",
    "line\u2028separator\nand a break",
    "__proto__",
    "constructor",
    "{{data}} ${alert(1)}",
    "7",
    "long " + "x" * 9_995,
)


def preset_placement(
    preset: str = "layered", operators: int = 20, seed: int = 0, **options: Any
) -> Placement:
    """Return a random placement of a generated graph, on five devices by default."""
    graph = preset_graph(preset, operators, seed=7)
    cluster = options.pop("cluster", None) or Cluster.equal()
    problem = Problem(graph, cluster, source_rate=options.pop("source_rate", 2e4), **options)
    devices = np.random.default_rng(seed).integers(len(cluster.devices), size=operators)
    return Placement(problem, devices)


def random_placement(seed: int) -> Placement:
    """Return a random placement; the seed decides on the preset, the network and groups."""
    rng = np.random.default_rng(seed)
    preset = PRESETS[seed % len(PRESETS)]
    graph = Recipe(preset, 50, SIZES, seed=1).graph(int(rng.integers(50)))
    count = int(rng.integers(2, 7))
    devices = [
        Device(f"d{i}", float(rng.integers(10, 60)) * 100.0, int(rng.integers(1, 5)))
        for i in range(count)
    ]
    cluster = Cluster(devices, _network(rng, count, "nic" if seed % 2 else "pair"))
    if seed % 3 == GROUPED:
        cluster = grouped_cluster(cluster, np.random.default_rng((seed, GROUPED)))
    rates = rng.integers(20, 300, size=1 if rng.random() < 0.7 else 3) * 100.0
    problem = Problem(
        graph,
        cluster,
        source_rate=rates.tolist(),
        target_utilisation=1.0 if rng.random() < 0.6 else 0.75,
    )
    return Placement(problem, rng.integers(count, size=len(graph.names)))


def _network(rng: np.random.Generator, count: int, kind: str) -> Network:
    a, b = rng.choice(count, size=2, replace=False)
    to = f"d{b}" if kind == "pair" else None
    special = LinkOverride(f"d{a}", to, float(rng.integers(20, 400)), overhead_s=3e-5)
    return Network(
        kind,  # type: ignore[arg-type]  # a valid kind
        bandwidth_mbps=None if rng.random() < 0.15 else float(rng.integers(50, 1500)),
        overhead_s=float(rng.choice([0.0, 1e-5])),
        gap_s=float(rng.choice([0.0, 2e-5])),
        overrides=(special,) if rng.random() < 0.6 else (),
    )


@dataclass
class EditedPlacement:
    """The placement that a page should show: a placement with edits.

    Parameters
    ----------
    rate
        The highest source rate; others keep their ratio to it.
    """

    start: Placement
    assignment: list[int]
    rate: float
    mips: list[float]
    bandwidth: float | None

    @classmethod
    def of(cls, placement: Placement) -> "EditedPlacement":
        problem = placement.problem
        return cls(
            placement,
            placement.devices.tolist(),
            problem.source_rate,
            [device.mips for device in problem.cluster.devices],
            problem.cluster.network.bandwidth_mbps,
        )

    def placement(self) -> Placement:
        """Return the edited placement of the edited problem, under bottleneck."""
        old = self.start.problem
        devices = [
            replace(device, mips=mips)
            for device, mips in zip(old.cluster.devices, self.mips, strict=True)
        ]
        network = replace(old.cluster.network, bandwidth_mbps=self.bandwidth)
        factor = self.rate / old.source_rate
        problem = Problem(
            old.graph,
            Cluster(devices, network),
            source_rate=[rate * factor for rate in old.source_rates],
            constraints=old.constraints,
            target_utilisation=old.target_utilisation,
        )
        return Placement(problem, np.array(self.assignment))


def assignment_of(names: Mapping[str, str], placement: Placement) -> list[int]:
    """Return the device indices of an assignment by name."""
    index = placement.problem.cluster.index
    return [index[names[name]] for name in placement.problem.graph.names]


def check_page_score(shown_score: dict[str, Any], score: ThroughputScore) -> None:
    """Check that the score on the page equals the score in Python."""
    assert shown_score["throughput"] == pytest.approx(score.throughput, rel=TOLERANCE)
    assert shown_score["relative_throughput"] == pytest.approx(
        score.relative_throughput, rel=TOLERANCE
    )
    assert shown_score["source_rate"] == pytest.approx(score.source_rate, rel=TOLERANCE)
    assert dict(shown_score["devices"]) == pytest.approx(
        {load.name: load.utilisation for load in score.devices}, rel=TOLERANCE, abs=1e-12
    )
    links = {(load.source, load.target): load.utilisation for load in score.links}
    shown = {(source, target): value for source, target, value in shown_score["links"]}
    assert shown == pytest.approx(links, rel=TOLERANCE, abs=1e-12)
    uplinks = {(load.group, load.direction): load.utilisation for load in score.uplinks}
    shared = {(group, direction): value for group, direction, value in shown_score["uplinks"]}
    assert shared == pytest.approx(uplinks, rel=TOLERANCE, abs=1e-12)
    assert shown_score["devices_used"] == score.devices_used
    top = shown_score["bottleneck"]
    assert top["utilisation"] == pytest.approx(score.bottleneck.utilisation, rel=TOLERANCE)
    assert top["name"] in possible_bottlenecks(score)
    if len(possible_bottlenecks(score)) == 1:
        assert (top["kind"], top["name"]) == (score.bottleneck.kind, score.bottleneck.name)


def possible_bottlenecks(score: ThroughputScore) -> list[str]:
    """Return the devices, links, uplinks and operators that rounding could make the bottleneck."""
    top = score.bottleneck
    lowest = top.utilisation * (1 - 1e-12)
    devices = [top.name] if top.kind == "operator" else []
    devices += [load.name for load in score.devices if load.utilisation >= lowest]
    devices += [load.name for load in score.links if load.utilisation >= lowest]
    return devices + [load.name for load in score.uplinks if load.utilisation >= lowest]


def edit_page(report: Report, edited: EditedPlacement, kind: str, rng: np.random.Generator) -> None:
    """Edit a page in one way, and the expected placement in the same way."""
    page, devices = report.page, len(edited.mips)
    v, d = int(rng.integers(len(edited.assignment))), int(rng.integers(devices))
    if kind == "drag":
        report.drag(v, d)
        edited.assignment[v] = d
    elif kind == "list":  # of operators below the graph, each with a drop-down list
        name = edited.start.problem.graph.names[v]
        report.unfold()
        row = page.locator("#operators tr", has=page.get_by_role("button", name=name, exact=True))
        select = row.locator("select")
        before = edited.assignment[v]
        key = "ArrowDown" if before + 1 < devices else "ArrowUp"
        report.press(select, key)
        edited.assignment[v] = before + (1 if key == "ArrowDown" else -1)
    elif kind == "arrows":  # in the graph: select the next operator, and move it to the next device
        report.press("#graph", "ArrowRight")
        chosen = page.evaluate("streamplace.chosen()")["number"]
        key = "ArrowDown" if edited.assignment[chosen] + 1 < devices else "ArrowUp"
        report.press("#graph", key)
        edited.assignment[chosen] += 1 if key == "ArrowDown" else -1
    elif kind == "slider":
        report.press("#slider", *["PageUp", "ArrowRight", "ArrowRight"][: int(rng.integers(1, 4))])
        edited.rate = report.score()["source_rate"]
        assert edited.rate > edited.start.problem.source_rate
    elif kind == "mouse":
        box = page.locator("#slider").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
        edited.rate = report.score()["source_rate"]
        assert edited.rate < edited.start.problem.source_rate
    elif kind == "rate":
        edited.rate = float(rng.integers(1000, 50_000))
        report.type("#rate", repr(edited.rate))
    elif kind == "mips":
        edited.mips[d] = float(rng.integers(500, 9000)) + 0.5
        report.type(page.locator("#devices input").nth(d), repr(edited.mips[d]))
    elif kind == "bandwidth":
        edited.bandwidth = None if rng.random() < 0.3 else float(rng.integers(20, 2000))
        report.type("#bandwidth", "" if edited.bandwidth is None else repr(edited.bandwidth))
