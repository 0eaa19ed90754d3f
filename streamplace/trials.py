"""Placers x graphs -> table."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from streamplace.arrays import Floats
from streamplace.backends import LOCAL, Backend
from streamplace.cluster import Cluster
from streamplace.comparison import Comparison
from streamplace.errors import UsageError, within
from streamplace.files import StoredGraphs
from streamplace.given import check_seed
from streamplace.graph import StreamGraph
from streamplace.parallel import each
from streamplace.placers.base import Placer
from streamplace.placers.registry import make_placer
from streamplace.problem import Model, Problem
from streamplace.progress import track
from streamplace.score import throughput
from streamplace.solve import name_of, timed


def compare(
    graphs: StreamGraph | StoredGraphs | Iterable[StreamGraph],
    placers: str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer],
    source_rates: float | Iterable[float | None] | None = None,
    *,
    cluster: Cluster | str | None = None,
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
    graphs, placers, source_rates
        One or several. Of graphs in a file that `open_dataset` has opened few are in memory.
    placers
        Names with options, or placers themselves, as for `place`; a mapping gives them the names
        that the table shows.
    source_rates
        None stands for each graph's own.
    cluster
        Or as text, ``5x2500``; by default the paper's.
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
    several, named, rates = _several(graphs), _named(placers), _rates(source_rates)
    if not (several.names and named and rates):
        raise UsageError("compare needs at least one graph, one placer and one source rate")
    check_seed(seed)
    task = partial(
        _one_graph,
        placers=tuple(named.values()),
        source_rates=rates,
        cluster=Cluster.of(cluster),
        model=model,
        target_utilisation=target_utilisation,
        seed=seed,
    )
    with closing(each(task, several, jobs, backend)) as results:
        done = list(track(results, len(several), "comparing"))
    outcome = np.stack(done, axis=-1)  # (3, rates, placers, graphs)
    return Comparison(
        dataset,
        several.names,
        model,
        tuple(named),
        rates,
        *outcome,
    )


@dataclass(frozen=True)
class _Several:
    """Graphs with their numbers, as often as they are gone through."""

    graphs: StoredGraphs | list[StreamGraph]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[int, StreamGraph]]:
        return enumerate(self.graphs)


def _several(given: StreamGraph | StoredGraphs | Iterable[StreamGraph]) -> _Several:
    if isinstance(given, StoredGraphs):
        return _Several(given, tuple(given.names))
    if isinstance(given, StreamGraph):
        given = [given]
    graphs = [] if isinstance(given, str) else list(given)
    if isinstance(given, str) or not all(isinstance(graph, StreamGraph) for graph in graphs):
        raise UsageError("compare: graphs must be stream graphs; read_dataset reads them")
    return _Several(graphs, tuple(graph.name for graph in graphs))


def _named(
    placers: str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer],
) -> dict[str, str | Placer]:
    """Return placers by the names that the table shows, after a look at each."""
    if isinstance(placers, Mapping):
        named = {str(name): placer for name, placer in placers.items()}
    else:
        several = [placers] if isinstance(placers, str) or callable(placers) else list(placers)
        names = [name_of(placer) for placer in several]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"compare: two placers are called {twice[0]!r}; a mapping names them")
        named = dict(zip(names, several, strict=True))
    for placer in named.values():
        if isinstance(placer, str):
            make_placer(placer)
        else:
            name_of(placer)
    return named


def _rates(given: float | Iterable[float | None] | None) -> tuple[float | None, ...]:
    return tuple(given) if isinstance(given, Iterable) else (given,)


def _one_graph(
    numbered: tuple[int, StreamGraph],
    *,
    placers: tuple[str | Placer, ...],
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
            for j, placer in enumerate(placers):
                rng = np.random.default_rng([seed, number])
                placement, seconds = timed(problem, placer, rng)
                with within(name_of(placer)):
                    reached = throughput(problem, placement.devices)[0] / problem.source_rate
                used = len(np.unique(placement.devices))
                outcome[:, i, j] = reached, used, seconds
    return outcome
