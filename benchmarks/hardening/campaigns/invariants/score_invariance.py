"""Invariance of scores to other names, orders and units."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import (
    largest_difference,
    relative_difference,
)
from benchmarks.reference.changes import in_other_time, in_other_units, renamed, restreamed
from benchmarks.reference.strategies import Case
from streamplace import Placement
from streamplace.problem.objective import Model
from streamplace.scoring import engine
from streamplace.scoring.engine import EngineScore
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import bound, ceiling, simulate
from streamplace.sim.engine import Settings

TIED = 1e-9  # relative difference of utilisations whose order rounding may change
SETTINGS = Settings(duration_s=6.0)  # of the engine


@dataclass(frozen=True)
class Change:
    """A change of a case that must not affect its score, except that rates grow by `factor`.

    Parameters
    ----------
    what
        A description of the change.
    change
        Returns the changed case; all random choices come from the generator.
    models
        The models under which the score must not change.
    factor
        The factor by which the change multiplies rates.
    prefix
        The prefix that the change adds to names.
    """

    what: str
    change: Callable[[Case, np.random.Generator], Case]
    models: tuple[Model, ...]
    factor: float = 1.0
    prefix: str = ""


def names_and_order(case: Case, rng: np.random.Generator) -> Case:
    """Rename operators and devices, and shuffle both."""
    problem, device_of = case
    operators = rng.permutation(len(device_of)).tolist()
    devices = rng.permutation(len(problem.cluster.devices)).tolist()
    moved = [devices.index(device_of[v]) for v in operators]
    return renamed(problem, operators, devices), moved


def order_of_streams(case: Case, rng: np.random.Generator) -> Case:
    """Shuffle streams."""
    problem, device_of = case
    streams = list(problem.graph.streams)
    return restreamed(problem, [streams[i] for i in rng.permutation(len(streams))]), device_of


ALL_MODELS: tuple[Model, ...] = (*CLOSED_FORMS, "engine")
CHANGES = (
    Change("other names, operators and devices in another order", names_and_order, ALL_MODELS,
           prefix="new "),
    Change("streams in another order", order_of_streams, ALL_MODELS),
    Change("instructions and bytes in another unit",
           lambda case, _: (in_other_units(case[0], 3.0), case[1]), ALL_MODELS),
    Change("everything 1,000 times as fast",
           lambda case, _: (in_other_time(case[0], 1e3), case[1]), CLOSED_FORMS, factor=1e3),
)  # fmt: skip


def difference(one: Placement, score: ThroughputScore, other: Placement, change: Change) -> float:
    """Return the largest difference between the scores of a placement before and after a change.

    Parameters
    ----------
    one, other
        The placement before and after the change.
    score
        The score of `one`.
    """
    second = score_of(other)
    numbers = [
        (score.throughput * change.factor, second.throughput),
        (score.relative_throughput, second.relative_throughput),
        (score.bottleneck.utilisation, second.bottleneck.utilisation),
        (score.devices_used, second.devices_used),
    ]
    if not isinstance(score, EngineScore):
        numbers += [(f(one.problem) * change.factor, f(other.problem)) for f in (bound, ceiling)]
    # utilisations of the engine are differences of large sums, so they are compared absolutely
    smallest = 1.0 if isinstance(score, EngineScore) else 0.0
    loads = loads_of(score, change.prefix), loads_of(second)
    if loads[0].keys() != loads[1].keys() or not same_bottleneck(loads[0], second):
        return inf
    numbers += [(loads[0][name], loads[1][name]) for name in loads[0]]
    return largest_difference(relative_difference(a, b, smallest) for a, b in numbers)


def score_of(placement: Placement) -> ThroughputScore:
    """Return the score of a placement; under ``engine`` it comes from a short run."""
    if placement.problem.model == "engine":
        return engine.score_of_run(*engine.worst_run(placement, SETTINGS))
    return simulate(placement)


def loads_of(score: ThroughputScore, prefix: str = "") -> dict[str, float]:
    """Return the utilisations of devices and used links by name."""
    loads = {f"{prefix}{load.name}": load.utilisation for load in score.devices}
    for link in score.links:
        ends = (end and f"{prefix}{end}" for end in (link.source, link.target))
        loads["->".join(end or "" for end in ends)] = link.utilisation
    loads |= {uplink.name: uplink.utilisation for uplink in score.uplinks}
    return loads


def same_bottleneck(loads: dict[str, float], score: ThroughputScore) -> bool:
    """Return whether the bottleneck of a score has the largest load, except for rounding."""
    top = score.bottleneck
    load = top.utilisation if top.kind == "operator" else loads[top.name]
    return load >= max(loads.values()) * (1 - TIED) - TIED
