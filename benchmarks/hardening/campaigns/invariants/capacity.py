"""More capacity of devices and links, which must not lower throughput unless streams share links.

Under ``path-average``, more capacity can lower throughput by design of the model: links exert no
backpressure, so the additional tuples that pass one link can take capacity from more valuable
tuples on another link. If no link carries two streams, this cannot happen.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.reference.changes import Link, remade
from streamplace import Cluster, Device, LinkOverride, Network, Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.sim.links import all_crossed

More = Callable[[Problem, np.random.Generator], Problem]
"""Returns the problem with more capacity."""


def more_mips(problem: Problem, rng: np.random.Generator) -> Problem:
    """Make one device faster."""
    return _with_device(problem, rng, lambda d: replace(d, mips=d.mips * 1.5))


def more_cores(problem: Problem, rng: np.random.Generator) -> Problem:
    """Give one device more cores."""
    return _with_device(problem, rng, lambda d: replace(d, cores=d.cores + 1))


def more_memory(problem: Problem, rng: np.random.Generator) -> Problem:
    """Remove one device's memory limit."""
    return _with_device(problem, rng, lambda d: replace(d, memory_bytes=None))


def another_device(problem: Problem, rng: np.random.Generator) -> Problem:
    """Add an unused device."""
    devices = (*problem.cluster.devices, Device("another", 2500.0))
    return remade(problem, cluster=Cluster(devices, problem.cluster.network))


def wider_links(problem: Problem, rng: np.random.Generator) -> Problem:
    """Give all links more bandwidth."""
    return _with_links(problem, "bandwidth_mbps", 2.0)


def less_overhead(problem: Problem, rng: np.random.Generator) -> Problem:
    """Halve the CPU time per message."""
    return _with_links(problem, "overhead_s", 0.5)


def less_gap(problem: Problem, rng: np.random.Generator) -> Problem:
    """Halve the time between messages on all links."""
    return _with_links(problem, "gap_s", 0.5)


def a_better_link(problem: Problem, rng: np.random.Generator) -> Problem:
    """Remove all limits of one link."""
    cluster = problem.cluster
    count = len(cluster.devices)
    if count == 1:
        return problem
    a, b = rng.choice(count, size=2, replace=False).tolist()
    ends = (cluster.names[a], cluster.names[b])
    if cluster.network.kind == "nic":
        ends = (ends[0], None) if rng.random() < 0.5 else (None, ends[1])
    others = [o for o in cluster.network.overrides if (o.source, o.target) != ends]
    free = LinkOverride(*ends, bandwidth_mbps=1e15, overhead_s=0.0, gap_s=0.0)
    network = replace(cluster.network, overrides=(*others, free))
    return remade(problem, cluster=Cluster(cluster.devices, network))


def links_without_limits(problem: Problem, rng: np.random.Generator) -> Problem:
    """Remove all limits of all links."""
    network = Network(problem.cluster.network.kind, bandwidth_mbps=None)
    return remade(problem, cluster=Cluster(problem.cluster.devices, network))


# these must not lower throughput even if streams share links
ALWAYS_SAFE: tuple[More, ...] = (more_memory, another_device, links_without_limits)
MORE: tuple[More, ...] = (
    more_mips, more_cores, wider_links, less_overhead, less_gap, a_better_link, *ALWAYS_SAFE
)  # fmt: skip


def throughput_of(case: tuple[Problem, ArrayLike]) -> float:
    """Return the throughput of a placement."""
    problem, device_of = case
    return float(throughput(problem, np.asarray(device_of))[0])


def shares_no_link(problem: Problem, device_of: list[int]) -> bool:
    """Return whether no link carries two streams that transport tuples."""
    arrays, devices = flow(problem), np.array(device_of, dtype=np.int32)
    used = all_crossed(arrays, devices)
    carried = np.concatenate([link[(link >= 0) & (arrays.stream_tuples > 0)] for link in used])
    return len(np.unique(carried)) == len(carried)


def _with_device(
    problem: Problem, rng: np.random.Generator, better: Callable[[Device], Device]
) -> Problem:
    devices = list(problem.cluster.devices)
    which = int(rng.integers(len(devices)))
    devices[which] = better(devices[which])
    return remade(problem, cluster=Cluster(devices, problem.cluster.network))


def _with_links(problem: Problem, name: str, factor: float) -> Problem:
    cluster = problem.cluster
    network = _scaled(cluster.network, name, factor)
    overrides = tuple(_scaled(o, name, factor) for o in network.overrides)
    return remade(problem, cluster=Cluster(cluster.devices, replace(network, overrides=overrides)))


def _scaled(link: Link, name: str, factor: float) -> Link:
    value = getattr(link, name)
    return link if value is None else replace(link, **{name: value * factor})
