"""The common part of the evaluators of throughput."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from sim.closed_form.bottleneck import utilisations, worst_utilisation
from sim.flow import as_rows
from sim.links import links_crossed
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled
from streamplace.scoring.engine import worst_of
from streamplace.scoring.evaluator import Placements, Trace
from streamplace.scoring.loads import Bottleneck, DeviceLoad, LinkLoad
from streamplace.scoring.local_search import LocalSearch
from streamplace.scoring.score import ThroughputScore
from streamplace.util.arrays import Bools, Floats


class ThroughputEvaluator(ABC):
    """The throughput of placements of one problem under one model; see `Evaluator`.

    Where the problem has several source rates, a placement counts at the one where its relative
    throughput is lowest.

    Attributes
    ----------
    linear
        Whether throughput is the source rate over the largest utilisation, wherever that exceeds 1.
        Loads are linear in the rate, so the highest of several rates is always the worst; and a
        full link holds up every source, so streams too heavy for any link limit all placements.
    overload_matters
        Whether it matters how far the source rate overloads a placement, and not only the shape of
        its loads.
    gains_from_threads
        Whether placements are scored faster by several threads, since scoring takes long and
        releases the interpreter's lock.
    climbs
        Whether a search also tries single moves on the score itself, since `local_search` anneals
        something else and scoring is quick.
    """

    linear: ClassVar[bool] = False
    overload_matters: bool = False
    gains_from_threads: bool = False
    climbs: bool = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._compiled = compiled(problem)

    @property
    def cases(self) -> tuple[Problem, ...]:
        """The problem at each source rate that can be the worst, from the highest down."""
        return (self.problem,) if self.linear else at_all_rates(self.problem)

    @property
    def least_utilisation(self) -> float:
        """The largest utilisation that no placement stays below, at the highest source rate.

        Total CPU, the largest units, crowds of them, and under `linear` models streams too heavy
        for any link; see `sim.closed_form.bounds`. Of each device and link there is as much as may
        be used.
        """
        return self._compiled.least_utilisation(links_count=self.linear)

    @property
    def bound(self) -> float:
        """Tuples/s that utilisations allow no placement to exceed, at most the highest rate."""
        return self.problem.source_rate / max(1.0, self.least_utilisation)

    @property
    def least_load(self) -> float:
        """The load, over the local search's reference, that no placement stays below."""
        return self.problem.source_rate / self.bound / self._compiled.instance.reference

    @abstractmethod
    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) tuples/s, at one of the cases."""

    @property
    @abstractmethod
    def best_possible(self) -> float | None:
        """The relative throughput that no placement exceeds; None where that is unknown."""

    @abstractmethod
    def local_search(self) -> LocalSearch:
        """Return the kernels that anneal placements."""

    @abstractmethod
    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates."""

    def throughput(self, devices: Placements) -> Floats:
        """Return the throughput of each placement, (K,) tuples/s.

        With several source rates: the lowest relative throughput times the highest rate.
        """
        cases = self.cases
        if len(cases) == 1:
            return self.throughput_at(self.problem, devices)
        return self.problem.source_rate * self._lowest_relative(cases, devices)

    def quality(self, devices: Placements) -> Floats:
        """Return the relative throughput of each placement, (K,), at most 1.

        A run of the engine may pass on more than is offered while it is measured.
        """
        return np.minimum(self._lowest_relative(self.cases, devices), 1.0)

    def _lowest_relative(self, cases: tuple[Problem, ...], devices: Placements) -> Floats:
        """Return the lowest relative throughput of each placement at any of the cases, (K,)."""
        relative = [self.throughput_at(one, devices) / one.source_rate for one in cases]
        lowest: Floats = np.min(relative, axis=0)
        return lowest

    def loss(self, devices: Placements) -> Floats:
        """Return 1 / quality where that is above 1, else the largest utilisation; (K,)."""
        quality = self.quality(devices)
        top = worst_utilisation(self._compiled.flow, devices)
        with np.errstate(divide="ignore"):
            return np.where(quality < 1.0, 1.0 / quality, np.minimum(top, 1.0))

    def trace(self, devices: Placements) -> Trace:
        """Return the loads of each placement's devices and links."""
        flow = self._compiled.flow
        loads = [utilisations(flow, row) for row in as_rows(flow, devices)]
        device, link = (np.stack(columns) for columns in zip(*loads, strict=True))
        return Trace(device, link)

    def worst_case(self, devices: Placements) -> Problem:
        """Return the problem at the source rate where one placement, (V,), does worst.

        Of equally bad rates that is the highest.
        """
        cases = self.cases
        if len(cases) == 1:
            return self.problem
        relative = [self.throughput_at(one, devices)[0] / one.source_rate for one in cases]
        return cases[worst_of(relative)]


def score_at(
    problem: Problem, devices: Placements, throughput: float, on_device: Floats, on_link: Floats
) -> ThroughputScore:
    """Return a score from a throughput and utilisations of what may be used, (D,) and (L,)."""
    cluster, most = problem.cluster, problem.target_utilisation
    operators = np.bincount(devices, minlength=len(on_device))
    rate = problem.source_rate
    return ThroughputScore(
        source_rate=rate,
        throughput=throughput,
        relative_throughput=throughput / rate,
        bottleneck=bottleneck_at(problem, on_device, on_link),
        devices=tuple(
            DeviceLoad(name, float(u * most), int(n))
            for name, u, n in zip(cluster.names, on_device, operators, strict=True)
        ),
        links=tuple(
            LinkLoad(*cluster.link_ends(int(i)), float(on_link[i] * most))
            for i in np.flatnonzero(_carrying(problem, devices))
        ),
        devices_used=int(np.count_nonzero(operators)),
        model=problem.model,
        objective=text_of(problem.objective),
    )


def bottleneck_at(problem: Problem, on_device: Floats, on_link: Floats) -> Bottleneck:
    """Return the bottleneck by utilisations of what may be used, (D,) and (L,)."""
    cluster, most = problem.cluster, problem.target_utilisation
    device, link = int(on_device.argmax()), int(on_link.argmax())
    if on_link[link] > on_device[device]:
        loaded = LinkLoad(*cluster.link_ends(link), float(on_link[link] * most))
        return Bottleneck("link", loaded.name, loaded.utilisation)
    return Bottleneck("device", cluster.names[device], float(on_device[device] * most))


def _carrying(problem: Problem, devices: Placements) -> Bools:
    """Return the links that a stream with tuples on it crosses, (L,)."""
    flow = compiled(problem).flow
    carrying = np.zeros(len(flow.gap_s), dtype=np.bool_)
    for link in links_crossed(flow, np.asarray(devices, dtype=np.int32)):
        carrying[link[(link >= 0) & (flow.stream_tuples > 0)]] = True
    return carrying
