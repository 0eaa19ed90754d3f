"""Comparison of placers over graphs and source rates."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import partial
from typing import Any, ParamSpec, Protocol, cast

import numpy as np

from streamplace.errors import PlacementError, UsageError, within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each
from streamplace.execution.progress import track
from streamplace.placers.base import Placer
from streamplace.placers.registry import ready
from streamplace.placers.running import improving, name_of, run_placer
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Objective, Throughput, check_objective
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_seed
from streamplace.util.settings import with_keywords
from streamplace.workflows.cases import Case, Cases, Graphs
from streamplace.workflows.comparison import Comparison, Figures, ScoreMeasure
from streamplace.workflows.replace_problem import require_messages
from streamplace.workflows.settings import CompareSettings

PlacerNames = str | Placer | Iterable[str | Placer] | Mapping[str, str | Placer]
SourceRates = float | Iterable[float | None] | None
Chosen = ParamSpec("Chosen")


class Comparing(Protocol[Chosen]):
    """A function that compares placers, with settings as keyword arguments."""

    def __call__(
        self,
        graphs: Graphs,
        placers: PlacerNames,
        source_rates: SourceRates = None,
        *args: Chosen.args,
        **settings: Chosen.kwargs,
    ) -> Comparison: ...


def _with_settings(cls: Callable[Chosen, object]) -> Callable[[Any], Comparing[Chosen]]:
    return partial(with_keywords, cast("Any", cls))


@_with_settings(CompareSettings)
def compare(
    graphs: Graphs,
    placers: PlacerNames,
    source_rates: SourceRates = None,
    *,
    settings: CompareSettings,
) -> Comparison:
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

    Raises
    ------
    StreamplaceError
        If a name is wrong, the numbers of graphs and clusters do not match, a graph has no score
        (the message names graph and placer), or a backend fails. Under objectives without source
        rates, such as `Makespan`, placers that find no placement of some cases are no error while
        one of them finds any.
    """
    objective, model, target = settings.objective, settings.model, settings.target_utilisation
    if objective is None:
        objective = Throughput.of(None, model, target)
    elif model is not None or target is not None:
        raise UsageError("compare: cannot combine objective with model or target_utilisation")
    return compared(
        Cases.of(graphs, settings.cluster, settings.clusters, settings.cross),
        placers,
        source_rates,
        objective=objective,
        semantics=settings.semantics,
        dataset=settings.dataset,
        seed=settings.seed,
        jobs=settings.jobs,
        backend=settings.backend,
    )


def compared(
    cases: Cases,
    placers: PlacerNames,
    source_rates: SourceRates = None,
    *,
    objective: Objective,
    semantics: PublishedName | None = None,
    dataset: str = "",
    seed: int = 0,
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Comparison:
    """Place every case with every placer under any objective; see `compare`."""
    named, rates = _placers_by_name(placers), _rates(source_rates)
    if not (len(cases) and named and rates):
        raise UsageError("compare needs at least one graph, one placer and one source rate")
    check_seed(seed)
    check_objective(objective)
    labels = {label: text for label, one in named.items() if (text := name_of(one)) != label}
    starts = {
        label: words
        for label, one in named.items()
        if (improver := improving(one)) and (words := improver.begins_from)
    }
    kind = objective.function("measure")
    if semantics is not None:
        require_messages(objective)
    measure: ScoreMeasure = kind(objective) if semantics is None else kind(objective, semantics)
    if not objective.has_rates:
        for rate in rates:
            objective.with_changes(rate)  # refuses a source rate
    task = partial(
        _results_of_case,
        placers=tuple(named.values()),
        source_rates=rates,
        measure=measure,
        seed=seed,
    )
    with closing(each(task, cases, jobs, backend)) as results:
        done = list(track(results, len(cases), "comparing"))
    figures, failures = zip(*done, strict=True)
    first = tuple(next(filter(None, of_placer), "") for of_placer in zip(*failures, strict=True))
    found = Comparison(
        dataset,
        cases.listed,
        measure,
        tuple(named),
        rates,
        Figures(*(np.stack(values, axis=-1) for values in zip(*figures, strict=True))),
        seed=seed,
        failures=first,
        labels=labels,
        starts=starts,
    )
    if measure.skips_failures and np.isnan(found.values).all():
        raise PlacementError(f"no placer found a placement: {first[0]}")
    return found


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


def _rates(source: SourceRates) -> tuple[float | None, ...]:
    """Return the source rates, each once, in the order in which they first occur."""
    return tuple(dict.fromkeys(source)) if isinstance(source, Iterable) else (source,)


def _results_of_case(
    case: Case,
    *,
    placers: tuple[Placer, ...],
    source_rates: tuple[float | None, ...],
    measure: ScoreMeasure,
    seed: int,
) -> tuple[Figures, list[str]]:
    """Place a graph on its cluster with every placer, at every source rate.

    Returns
    -------
    The figures without the axis of cases, and why each placer found no placement, else an empty
    text. Such a placer has no numbers.

    Raises
    ------
    StreamplaceError
        If there is provably no placement, if a placer does not support the problem, or if a bound
        is worse than a value; the message names the graph and, if it is the reason, the placer.
    """
    figures = Figures.of(np.full((len(source_rates), len(placers), 1), np.nan))
    failures, seeds = [""] * len(placers), [seed, *case.seeds]
    for i, rate in enumerate(source_rates):
        with within(case.name):
            problem = measure.problem(case.graph, case.cluster, rate)
            figures.longest_paths[i], proven = measure.longest_path(problem), list[float]()
            for j, placer in enumerate(placers):
                try:
                    done = run_placer(problem, placer, np.random.default_rng(seeds))
                except PlacementError as error:
                    if not measure.skips_failures:
                        raise
                    failures[j] = f"{case.name}: {error}"
                    continue
                with within(name_of(placer)):
                    devices = done.placement.devices
                    figures.values[i, j] = measure.values(problem, devices)
                    figures.starts[i, j] = _of_start(placer, problem, seeds, measure)
                    figures.own_schedules[i, j] = measure.own_schedule(done.found)
                proven += [] if done.found.bound is None else [done.found.bound]
                figures.seconds[i, j], figures.cpu_seconds[i, j] = done.seconds, done.cpu_seconds
                figures.devices_used[i, j] = len(np.unique(devices))
                if done.evaluations is not None:
                    figures.evaluations[i, j] = done.evaluations
            figures.bounds[i] = measure.tightest_bound(problem, proven, figures.values[i])
    return Figures(*(values[..., 0] for values in figures)), failures


def _of_start(placer: Placer, problem: Problem, seeds: list[int], measure: ScoreMeasure) -> Floats:
    """Return the value of the placement that a placer improves; NaN if it builds placements."""
    improver = improving(placer)
    begun = None if improver is None else improver.begun(problem, np.random.default_rng(seeds))
    return np.full(1, np.nan) if begun is None else measure.values(problem, begun.devices)
