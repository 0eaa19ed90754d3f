"""Placements of every preset on clusters of every kind, drawn from a seed; and names that bite."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from streamplace import Cluster, Device, LinkOverride, Network, Placement, Problem
from streamplace.generate import PRESETS, Recipe

SIZES = range(5, 28)

HOSTILE = (
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


def drawn(seed: int) -> Placement:
    """Return a placement of a random problem: the preset and the kind of network go by the seed."""
    rng = np.random.default_rng(seed)
    preset = PRESETS[seed % len(PRESETS)]
    graph = Recipe(preset, 50, SIZES, seed=1).graph(int(rng.integers(50)))
    count = int(rng.integers(2, 7))
    devices = [
        Device(f"d{i}", float(rng.integers(10, 60)) * 100.0, int(rng.integers(1, 5)))
        for i in range(count)
    ]
    network = _network(rng, count, "nic" if seed % 2 else "pair")
    rates = rng.integers(20, 300, size=1 if rng.random() < 0.7 else 3) * 100.0
    problem = Problem(
        graph,
        Cluster(devices, network),
        source_rate=rates.tolist(),
        target_utilisation=1.0 if rng.random() < 0.6 else 0.75,
    )
    return Placement(problem, rng.integers(count, size=len(graph.names)))


def _network(rng: np.random.Generator, count: int, kind: str) -> Network:
    a, b = rng.choice(count, size=2, replace=False)
    to = f"d{b}" if kind == "pair" else None
    special = LinkOverride(f"d{a}", to, float(rng.integers(20, 400)), overhead_s=3e-5)
    return Network(
        kind,  # type: ignore[arg-type]  # one of the two
        bandwidth_mbps=None if rng.random() < 0.15 else float(rng.integers(50, 1500)),
        overhead_s=float(rng.choice([0.0, 1e-5])),
        gap_s=float(rng.choice([0.0, 2e-5])),
        overrides=(special,) if rng.random() < 0.6 else (),
    )


@dataclass
class Edited:
    """What a page ought to show: a placement, and what was changed since.

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
    def of(cls, placement: Placement) -> "Edited":
        problem = placement.problem
        return cls(
            placement,
            placement.devices.tolist(),
            problem.source_rate,
            [device.mips for device in problem.cluster.devices],
            problem.cluster.network.bandwidth_mbps,
        )

    def placement(self) -> Placement:
        """Return the placement as it is now, of the problem as it is now, under bottleneck."""
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
    """Return device indices of an assignment by name."""
    index = placement.problem.cluster.index
    return [index[names[name]] for name in placement.problem.graph.names]
