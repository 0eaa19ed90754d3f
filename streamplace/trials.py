"""Placers x graphs -> table."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial

import numpy as np

from streamplace.arrays import Floats
from streamplace.backends import LOCAL, Backend
from streamplace.cluster import Cluster
from streamplace.comparison import Comparison
from streamplace.errors import UsageError, within
from streamplace.graph import StreamGraph
from streamplace.parallel import each
from streamplace.placers.registry import make_placer
from streamplace.problem import Model, Problem
from streamplace.progress import track
from streamplace.score import throughput
from streamplace.solve import timed


def compare(
    graphs: Sequence[StreamGraph],
    placers: Sequence[str],
    source_rates: Sequence[float | None] = (None,),
    *,
    cluster: Cluster | None = None,
    model: Model = "bottleneck",
    target_utilisation: float = 1.0,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison:
    """Place every graph with every placer at every source rate.

    Parameters
    ----------
    placers
        Names with options.
    source_rates
        None stands for each graph's own.
    target_utilisation
        The share of every device and link that may be used.
    jobs
        Processes; None: as many as processors. Results do not depend on it.
    backend
        Where they are. Results do not depend on it.

    Raises
    ------
    StreamplaceError
        If a name is wrong, any graph has no score (it names graph and placer), or a cluster fails.
    """
    if not (graphs and placers and source_rates):
        raise UsageError("compare needs at least one graph, one placer and one source rate")
    if seed < 0:
        raise UsageError(f"seed must be at least 0 (got {seed})")
    for name in placers:
        make_placer(name)
    task = partial(
        _one_graph,
        placers=tuple(placers),
        source_rates=tuple(source_rates),
        cluster=cluster or Cluster.equal(),
        model=model,
        target_utilisation=target_utilisation,
        seed=seed,
    )
    with closing(each(task, list(enumerate(graphs)), jobs, backend)) as results:
        done = list(track(results, len(graphs), "comparing"))
    outcome = np.stack(done, axis=-1)  # (3, rates, placers, graphs)
    return Comparison(
        dataset,
        tuple(graph.name for graph in graphs),
        model,
        tuple(placers),
        tuple(source_rates),
        *outcome,
    )


def _one_graph(
    numbered: tuple[int, StreamGraph],
    *,
    placers: tuple[str, ...],
    source_rates: tuple[float | None, ...],
    cluster: Cluster,
    model: Model,
    target_utilisation: float,
    seed: int,
) -> Floats:
    """Return relative throughput, devices used and seconds, (3, source rates, placers)."""
    number, graph = numbered
    outcome = np.empty((3, len(source_rates), len(placers)))
    for i, rate in enumerate(source_rates):
        with within(graph.name or f"graph {number}"):
            problem = Problem(
                graph,
                cluster,
                source_rate=rate,
                model=model,
                target_utilisation=target_utilisation,
            )
            for j, name in enumerate(placers):
                rng = np.random.default_rng([seed, number])
                placement, seconds = timed(problem, name, rng)
                with within(name):
                    reached = throughput(problem, placement.devices)[0] / problem.source_rate
                used = len(np.unique(placement.devices))
                outcome[:, i, j] = reached, used, seconds
    return outcome
