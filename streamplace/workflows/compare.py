"""Comparison of placers over graphs and source rates."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import partial
from typing import NamedTuple, TypeVar, overload

import numpy as np

from streamplace.errors import PlacementError, UsageError, within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each
from streamplace.execution.progress import track
from streamplace.files import StoredGraphs
from streamplace.placers.base import Placer
from streamplace.placers.registry import ready
from streamplace.placers.running import improving, name_of, run_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import MAKESPAN, Makespan, PublishedName, with_published_semantics
from streamplace.problem.objective import Model, Objective, Throughput, check_objective
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator, evaluator_of_pass
from streamplace.scoring.score import without_rounding
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_seed
from streamplace.workflows.cases import Case, Cases, Graphs
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.makespan_comparison import MakespanComparison
from streamplace.workflows.result import own_schedule_s

Result = TypeVar("Result")
PlacerNames = str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer]


@overload
def compare(
    graphs: Graphs,
    placers: PlacerNames,
    *,
    cluster: Cluster | str | None = None,
    clusters: Iterable[Cluster] | None = None,
    cross: bool = False,
    objective: Makespan,
    semantics: PublishedName | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> MakespanComparison: ...
@overload
def compare(
    graphs: Graphs,
    placers: PlacerNames,
    source_rates: float | Iterable[float | None] | None = None,
    *,
    cluster: Cluster | str | None = None,
    clusters: Iterable[Cluster] | None = None,
    cross: bool = False,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Throughput | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison: ...
def compare(
    graphs: StreamGraph | StoredGraphs | Iterable[StreamGraph],
    placers: str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer],
    source_rates: float | Iterable[float | None] | None = None,
    *,
    cluster: Cluster | str | None = None,
    clusters: Iterable[Cluster] | None = None,
    cross: bool = False,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    semantics: PublishedName | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison | MakespanComparison:
    """Place every graph with every placer, at every source rate if there are several.

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
    clusters
        Several clusters, instead of `cluster`: graph i is placed on cluster i.
    cross
        With `clusters`: place every graph on every cluster.
    model
        The throughput model, as for `place`.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1.
    objective
        Replaces model and target utilisation. Where `source_rates` is None, the objective's source
        rates, if it has any, replace those of the graphs. With `Makespan`, and what derives from
        it, the result is a `MakespanComparison`.
    semantics
        With `Makespan`: the published system whose messages to simulate, on any cluster; see
        `problem.makespan`.
    seed
        Seed of the placers, and of the bootstrap intervals of a `MakespanComparison`.
    dataset
        The name of the graphs in titles and files.
    jobs
        Number of processes; None: one per processor, if that saves time.
        Results do not depend on it.
    backend
        Where the processes run. Results do not depend on it.

    Raises
    ------
    StreamplaceError
        If a name is wrong, the numbers of graphs and clusters do not match, a graph has no score
        (the message names graph and placer), or a backend fails. With `Makespan`, placers that find
        no placement of some cases are no error while one of them finds any.
    """
    if objective is None:
        objective = Throughput.of(None, model, target_utilisation)
    elif model is not None or target_utilisation is not None:
        raise UsageError("compare: cannot combine objective with model or target_utilisation")
    return compared(
        Cases.of(graphs, cluster, clusters, cross),
        placers,
        source_rates,
        objective=objective,
        semantics=semantics,
        dataset=dataset,
        seed=seed,
        jobs=jobs,
        backend=backend,
    )


def compared(
    cases: Cases,
    placers: PlacerNames,
    source_rates: float | Iterable[float | None] | None = None,
    *,
    objective: Objective,
    semantics: PublishedName | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison | MakespanComparison:
    """Place every case with every placer under any objective; see `compare`."""
    named, rates = _placers_by_name(placers), _rates(source_rates)
    if not (len(cases) and named and rates):
        raise UsageError("compare needs at least one graph, one placer and one source rate")
    check_seed(seed)
    check_objective(objective)
    run = partial(_results, cases, jobs=jobs, backend=backend)
    chosen = tuple(named.values())
    labels = {label: text for label, one in named.items() if (text := name_of(one)) != label}
    starts = {
        label: words
        for label, one in named.items()
        if (improver := improving(one)) and (words := improver.begins_from)
    }
    if isinstance(objective, Makespan):
        for rate in rates:
            objective.with_changes(rate)  # refuses a source rate
        done = run(
            partial(
                _makespans_of_case,
                placers=chosen,
                objective=objective,
                semantics=semantics,
                seed=seed,
            )
        )
        *numbers, failures = zip(*done, strict=True)
        columns = [np.stack(values, axis=-1) for values in numbers]
        first = tuple(next(filter(None, each), "") for each in zip(*failures, strict=True))
        result = MakespanComparison(
            dataset,
            cases.listed,
            objective,
            tuple(named),
            *columns,
            semantics=semantics,
            seed=seed,
            failures=first,
            labels=labels,
            starts=starts,
        )
        if not any(row.placed for row in result.rows):
            raise PlacementError(f"no placer found a placement: {first[0]}")
        return result
    if semantics is not None:
        raise UsageError("compare: semantics requires the objective Makespan")
    assert isinstance(objective, Throughput)  # all others are about one pass
    outcome = run(
        partial(
            _relative_throughput_of_case,
            placers=chosen,
            source_rates=rates,
            objective=objective,
            seed=seed,
        )
    )
    return Comparison(
        dataset,
        cases.listed.graphs,
        objective.model,
        tuple(named),
        rates,
        *np.stack(outcome, axis=-1),  # (5, rates, placers, cases)
        objective=text_of(objective),
        clusters=cases.listed.clusters,
        cross=cases.listed.cross,
        labels=labels,
        starts=starts,
    )


def _results(
    cases: Cases, task: Callable[[Case], Result], *, jobs: int | None, backend: Backend
) -> list[Result]:
    """Return the result of every case, with progress."""
    with closing(each(task, cases, jobs, backend)) as results:
        return list(track(results, len(cases), "comparing"))


def _placers_by_name(placers: PlacerNames) -> dict[str, Placer]:
    """Return placers by the names that the table shows, after checking each."""
    if isinstance(placers, Mapping):
        named = {str(name): placer for name, placer in placers.items()}
    else:
        several = [placers] if isinstance(placers, str) or callable(placers) else list(placers)
        names = [name_of(placer) for placer in several]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                f"compare: two placers are called {repeated[0]!r}; "
                "leave one out, or pass a mapping with different names from Python"
            )
        named = dict(zip(names, several, strict=True))
    chosen = {
        name: ready(placer) if isinstance(placer, str) else placer for name, placer in named.items()
    }
    for placer in chosen.values():
        name_of(placer)  # refuses what is no placer
    return chosen


def _rates(source: float | Iterable[float | None] | None) -> tuple[float | None, ...]:
    """Return the source rates, each once, in the order in which they first occur."""
    return tuple(dict.fromkeys(source)) if isinstance(source, Iterable) else (source,)


def _relative_throughput_of_case(
    case: Case,
    *,
    placers: tuple[Placer, ...],
    source_rates: tuple[float | None, ...],
    objective: Throughput,
    seed: int,
) -> Floats:
    """Return relative throughput, devices used, wall seconds and the relative throughput of starts.

    The shape is (5, source rates, placers); starts are NaN where a placer builds placements.
    """
    outcome = np.empty((5, len(source_rates), len(placers)))
    for i, rate in enumerate(source_rates):
        with within(case.name):
            problem = Problem(case.graph, case.cluster, objective=objective.with_changes(rate))
            for j, placer in enumerate(placers):
                rng = np.random.default_rng([seed, *case.seeds])
                done = run_placer(problem, placer, rng)
                scored = evaluator(problem)
                with within(name_of(placer)):
                    reached = scored.quality(done.placement.devices)[0]
                    first = _of_start(placer, problem, [seed, *case.seeds], scored.quality)
                used = len(np.unique(done.placement.devices))
                outcome[:, i, j] = reached, used, done.seconds, done.cpu_seconds, first
    return outcome


def _of_start(
    placer: Placer, problem: Problem, seed: list[int], score: Callable[[Ints], Floats]
) -> float:
    """Return the score of the placement that a placer improves; NaN if it builds placements."""
    improver = improving(placer)
    begun = None if improver is None else improver.begun(problem, np.random.default_rng(seed))
    return np.nan if begun is None else float(score(begun.devices)[0])


class CaseMakespans(NamedTuple):
    """The results of P placers on one graph and cluster; see `MakespanComparison`."""

    makespan_s: Floats  # (P,), NaN where a placer found no placement
    own_schedule_s: Floats  # (P,), NaN where a placer has no order of its own
    start_s: Floats  # (P,), NaN where a placer builds placements
    evaluations: Floats  # (P,)
    seconds: Floats  # (P,)
    cpu_seconds: Floats  # (P,)
    bound_s: float
    longest_path_s: float
    failures: tuple[str, ...]  # (P,), why a placer found no placement, else an empty text


def _makespans_of_case(
    case: Case,
    *,
    placers: tuple[Placer, ...],
    objective: Makespan,
    semantics: PublishedName | None,
    seed: int,
) -> CaseMakespans:
    """Place a graph on its cluster with every placer.

    A placer that finds no placement, although one may exist, has no numbers.

    Raises
    ------
    StreamplaceError
        If there is provably no placement, if a placer does not support the problem, or if a bound
        is above a makespan; the message names the graph and, if it is the reason, the placer.
    """
    with within(case.name):
        graph, cluster = case.graph, case.cluster
        if semantics is not None:
            graph, cluster = with_published_semantics(graph, cluster, semantics)
        problem = Problem(graph, cluster, objective=objective)
        scored = evaluator_of_pass(problem)
        is_makespan = objective.quantity == MAKESPAN
        bound = scored.bound_s
        longest = scored.compiled.fastest.longest if is_makespan else np.nan
        found, failures = np.full((6, len(placers)), np.nan), [""] * len(placers)
        for j, placer in enumerate(placers):
            rng = np.random.default_rng([seed, *case.seeds])
            try:
                outcome = run_placer(problem, placer, rng, None)
            except PlacementError as error:
                failures[j] = f"{case.name}: {error}"
                continue
            with within(name_of(placer)):
                makespan = float(scored.loss(outcome.placement.devices)[0])
                own = own_schedule_s(outcome.found)
                first = _of_start(placer, problem, [seed, *case.seeds], scored.loss)
            if bound is not None and outcome.found.bound is not None:
                bound = max(bound, outcome.found.bound)
            count = np.nan if outcome.evaluations is None else outcome.evaluations
            planned = np.nan if own is None else own
            times = outcome.seconds, outcome.cpu_seconds
            found[:, j] = makespan, planned, first, count, *times
        if bound is not None and np.isfinite(found[0]).any():
            bound = without_rounding(bound, float(np.nanmin(found[0])))
    known = np.nan if bound is None else bound
    makespans, owns, firsts, evaluations, seconds, cpu = found
    return CaseMakespans(
        makespans, owns, firsts, evaluations, seconds, cpu, known, longest, tuple(failures)
    )
