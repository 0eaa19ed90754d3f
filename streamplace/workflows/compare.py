"""Comparison of placers over graphs and source rates."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from streamplace.errors import UsageError, within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each
from streamplace.execution.progress import track
from streamplace.files import StoredGraphs
from streamplace.placers.base import Placer
from streamplace.placers.registry import make_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model, Objective, Throughput, check_objective
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_seed
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.place import name_of, timed


def compare(
    graphs: StreamGraph | StoredGraphs | Iterable[StreamGraph],
    placers: str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer],
    source_rates: float | Iterable[float | None] | None = None,
    *,
    cluster: Cluster | str | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison:
    """Place every graph with every placer at every source rate.

    Parameters
    ----------
    graphs, placers, source_rates
        One or several. Graphs of a file opened by `open_dataset` are read a few at a time.
    placers
        Names with options, or placers themselves, as for `place`; the keys of a mapping are the
        names that the table shows.
    source_rates
        In tuples/s; None: each graph's own.
    cluster
        A cluster, or text such as ``5x2500`` (five devices of 2500 MIPS), which is the default.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1.
    objective
        Replaces model and target utilisation. Where `source_rates` is None, the objective's source
        rates, if it has any, replace those of the graphs.
    jobs
        Number of processes; None: one per processor. Results do not depend on it.
    backend
        Where the processes run. Results do not depend on it.

    Raises
    ------
    StreamplaceError
        If a name is wrong, a graph has no score (the message names graph and placer), or a backend
        fails.
    """
    several, named, rates = (
        _numbered_graphs(graphs),
        _placers_by_name(placers),
        _rates(source_rates),
    )
    if not (several.names and named and rates):
        raise UsageError("compare needs at least one graph, one placer and one source rate")
    check_seed(seed)
    if objective is None:
        objective = Throughput.of(None, model, target_utilisation)
    elif model is not None or target_utilisation is not None:
        raise UsageError("compare: cannot combine objective with model or target_utilisation")
    check_objective(objective)
    if isinstance(objective, Makespan):
        raise UsageError("compare: supports only throughput")
    task = partial(
        _one_graph,
        placers=tuple(named.values()),
        source_rates=rates,
        cluster=Cluster.of(cluster),
        objective=objective,
        seed=seed,
    )
    with closing(each(task, several, jobs, backend)) as results:
        done = list(track(results, len(several), "comparing"))
    outcome = np.stack(done, axis=-1)  # (3, rates, placers, graphs)
    return Comparison(
        dataset,
        several.names,
        objective.model,
        tuple(named),
        rates,
        *outcome,
        objective=text_of(objective),
    )


@dataclass(frozen=True)
class _NumberedGraphs:
    """Graphs with their numbers, which can be iterated repeatedly."""

    graphs: StoredGraphs | list[StreamGraph]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[int, StreamGraph]]:
        return enumerate(self.graphs)


def _numbered_graphs(
    source: StreamGraph | StoredGraphs | Iterable[StreamGraph],
) -> _NumberedGraphs:
    if isinstance(source, StoredGraphs):
        return _NumberedGraphs(source, tuple(source.names))
    if isinstance(source, StreamGraph):
        source = [source]
    graphs = [] if isinstance(source, str) else list(source)
    if isinstance(source, str) or not all(isinstance(graph, StreamGraph) for graph in graphs):
        raise UsageError("compare: graphs must be StreamGraph objects; read_dataset reads files")
    return _NumberedGraphs(graphs, tuple(graph.name for graph in graphs))


def _placers_by_name(
    placers: str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer],
) -> dict[str, str | Placer]:
    """Return placers by the names that the table shows, after checking each."""
    if isinstance(placers, Mapping):
        named = {str(name): placer for name, placer in placers.items()}
    else:
        several = [placers] if isinstance(placers, str) or callable(placers) else list(placers)
        names = [name_of(placer) for placer in several]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                f"compare: two placers are called {repeated[0]!r}; "
                "pass a mapping to give them different names"
            )
        named = dict(zip(names, several, strict=True))
    for placer in named.values():
        if isinstance(placer, str):
            make_placer(placer)
        else:
            name_of(placer)
    return named


def _rates(source: float | Iterable[float | None] | None) -> tuple[float | None, ...]:
    return tuple(source) if isinstance(source, Iterable) else (source,)


def _one_graph(
    numbered: tuple[int, StreamGraph],
    *,
    placers: tuple[str | Placer, ...],
    source_rates: tuple[float | None, ...],
    cluster: Cluster,
    objective: Objective,
    seed: int,
) -> Floats:
    """Return relative throughput, devices used and wall seconds, (3, source rates, placers)."""
    number, graph = numbered
    outcome = np.empty((3, len(source_rates), len(placers)))
    for i, rate in enumerate(source_rates):
        with within(graph.name or f"graph {number}"):
            problem = Problem(graph, cluster, objective=objective.with_changes(rate))
            for j, placer in enumerate(placers):
                rng = np.random.default_rng([seed, number])
                placement, seconds = timed(problem, placer, rng)
                with within(name_of(placer)):
                    reached = evaluator(problem).quality(placement.devices)[0]
                used = len(np.unique(placement.devices))
                outcome[:, i, j] = reached, used, seconds
    return outcome
