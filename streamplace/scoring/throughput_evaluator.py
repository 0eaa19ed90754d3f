"""The base class of the evaluators of throughput."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np

from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import CompiledProblem, at_all_rates
from streamplace.scoring.evaluator import LoadTrace, LocalSearch, Placements
from streamplace.scoring.loads import Bottleneck, LinkLoad, UplinkLoad, device_loads
from streamplace.scoring.score import ROUNDING, ThroughputScore
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from streamplace.sim.exact import LoadBounds
from streamplace.sim.flow import as_rows
from streamplace.sim.links import all_crossed
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Bools, Floats, Ints


class ThroughputEvaluator(ABC):
    """Evaluator of the throughput of placements of one problem; see `Evaluator`.

    With several source rates, a placement is scored at the rate where its relative throughput is
    lowest.

    Attributes
    ----------
    linear
        Whether throughput is the source rate divided by the largest utilisation if that exceeds 1.
        Loads are linear in the rate, so the highest of several rates is always the worst; and a
        full link throttles all sources, so streams too heavy for any link limit all placements.
    overload_matters
        Whether the score depends on how far the source rate overloads a placement, and not only on
        the proportions of its loads.
    gains_from_threads
        Whether several threads score placements faster, because scoring is slow and releases the
        interpreter lock.
    climbs
        Whether a search should also try single moves on the score itself, because `local_search`
        optimises something else and scoring is fast.
    scores_differ
        Whether the quality of a score is more exact than `quality`, which searches ask for.
    """

    linear: ClassVar[bool] = False
    overload_matters: bool = False
    gains_from_threads: bool = False
    climbs: bool = False
    scores_differ: bool = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._compiled = problem.once(CompiledProblem)  # raises where loads overflow

    @property
    def cases(self) -> tuple[Problem, ...]:
        """The problem at each source rate that can be the worst, in decreasing order."""
        return (self.problem,) if self.linear else at_all_rates(self.problem)

    @property
    def least_utilisation(self) -> float:
        """The quick lower bound on the largest utilisation, at the highest source rate.

        There are two bounds, both functions of the problem only. This one takes a few milliseconds,
        or time in proportion to the graph, so that every search can stop at it. `bound`, which is
        printed, takes 10 to 40 ms with 50 operators and up to .2 s with more. The methods of both
        are in `streamplace.sim.exact.bounds`. Utilisation is relative to the usable capacity.
        """
        return self._compiled.least_utilisation(links_count=self.linear)

    @property
    def bound(self) -> float:
        """The upper bound on throughput in tuples/s; see `least_utilisation`."""
        return self.problem.source_rate / max(1.0, self._full(self.throughput_bounds))

    @property
    def ceiling(self) -> float:
        """The upper bound on throughput at any source rate, in tuples/s; inf without any load."""
        least = self._full(self.load_bounds)
        return self.problem.source_rate / least if least else inf

    @property
    def bound_is_loose(self) -> bool:
        """Whether `bound` may be far from the optimum because links count in part or not at all."""
        counted = self._compiled.load_bounds.counts_links
        return self.throughput_bounds.is_loose or (
            counted and not self.throughput_bounds.counts_links
        )

    @property
    def load_bounds(self) -> LoadBounds:
        """Bounds on the largest utilisation, divided by local search's reference."""
        return self._compiled.load_bounds if self.linear else self._compiled.cpu_bounds

    @property
    def throughput_bounds(self) -> LoadBounds:
        """Bounds on 1 / relative throughput, unless it exceeds 1, divided by that reference."""
        return self.load_bounds

    def _full(self, bounds: LoadBounds) -> float:
        return bounds.full * self._compiled.instance.reference

    def together(self, throughput: float, *, thorough: bool = False) -> Ints | None:
        """Return groups of units that better placements keep together, (U,); None if there is none.

        Every placement with more than `throughput` keeps the units of each group on one device.
        None says that there is no such placement.

        Parameters
        ----------
        throughput
            In tuples/s, above 0; the highest source rate if it is exceeded by headroom, as in
            source rate / largest utilisation.
        thorough
            Whether to take up to .1 s, and not a few milliseconds.
        """
        limit = self.problem.source_rate / (throughput * self._compiled.instance.reference)
        found = self.throughput_bounds.together(limit, thorough=thorough)
        return None if found.refuted else found.group

    @property
    def least_load(self) -> float:
        """The lower bound on the load of every placement, relative to local search's reference."""
        return max(1.0, self.least_utilisation) / self._compiled.instance.reference

    @abstractmethod
    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) tuples/s, at one of the source rates."""

    @property
    @abstractmethod
    def best_possible(self) -> float | None:
        """An upper bound on the relative throughput of all placements; None if unknown."""

    @abstractmethod
    def local_search(self) -> LocalSearch:
        """Return the kernels that anneal placements."""

    @abstractmethod
    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates."""

    def throughput(self, devices: Placements) -> Floats:
        """Return the throughput of each placement, (K,) tuples/s.

        With several source rates, this is the lowest relative throughput times the highest rate.
        """
        cases = self.cases
        if len(cases) == 1:
            return self.throughput_at(self.problem, devices)
        return self.problem.source_rate * self._lowest_relative(cases, devices)

    def quality(self, devices: Placements) -> Floats:
        """Return the relative throughput of each placement, (K,), at most 1.

        An engine run may deliver more tuples than are offered during its measurement.
        """
        return np.minimum(self._lowest_relative(self.cases, devices), 1.0)

    def _lowest_relative(self, cases: tuple[Problem, ...], devices: Placements) -> Floats:
        """Return the lowest relative throughput of each placement over the cases, (K,)."""
        relative = [self.throughput_at(one, devices) / one.source_rate for one in cases]
        lowest: Floats = np.min(relative, axis=0)
        return lowest

    def loss(self, devices: Placements) -> Floats:
        """Return 1 / quality of each placement, (K,); its largest utilisation if quality is 1."""
        quality = self.quality(devices)
        top = worst_utilisation(self._compiled.flow, devices)
        with np.errstate(divide="ignore"):
            return np.where(quality < 1.0, 1.0 / quality, np.minimum(top, 1.0))

    def trace(self, devices: Placements) -> LoadTrace:
        """Return the loads of devices, links and operators under each placement."""
        flow = self._compiled.flow
        rows = as_rows(flow, devices)
        loads = [utilisations(flow, row) for row in rows]
        device, link = (np.stack(columns) for columns in zip(*loads, strict=True))
        return LoadTrace(device, link, np.stack([own_utilisations(flow, row) for row in rows]))

    def worst_case(self, devices: Placements) -> Problem:
        """Return the problem at the rate with the lowest relative throughput of a placement, (V,).

        If several rates are equally bad, it is the highest of them.
        """
        cases = self.cases
        if len(cases) == 1:
            return self.problem
        relative = [self.throughput_at(one, devices)[0] / one.source_rate for one in cases]
        return cases[worst_of(relative)]


def worst_of(relative: Sequence[float]) -> int:
    """Return the index of the first relative throughput that equals the lowest up to rounding."""
    limit = min(relative) * (1 + ROUNDING)
    return next(i for i, reached in enumerate(relative) if reached <= limit)


def score_at(
    problem: Problem,
    devices: Placements,
    throughput: float,
    on_device: Floats,
    on_link: Floats,
    own: Floats,
) -> ThroughputScore:
    """Return a score from a throughput in tuples/s and from utilisations, (D,), (L,) and (V,).

    `own` has the utilisations of the cores that each operator can use, 0 if it can use all cores of
    its device. Utilisations are relative to the usable capacity; those in the score to the full
    capacity.
    """
    cluster, share = problem.cluster, problem.target_utilisation
    operators = np.bincount(devices, minlength=len(on_device))
    carrying = np.flatnonzero(_carrying(problem, devices)).tolist()
    own_links = cluster.own_links
    rate = problem.source_rate
    return ThroughputScore(
        source_rate=rate,
        throughput=throughput,
        relative_throughput=throughput / rate,
        bottleneck=bottleneck_at(problem, on_device, on_link, own),
        devices=device_loads(cluster.names, on_device * share, operators),
        links=tuple(
            LinkLoad(*cluster.resource_ends(i), float(on_link[i] * share))
            for i in carrying
            if i < own_links and cluster.network.kind != "free"
        ),
        devices_used=int(np.count_nonzero(operators)),
        model=problem.model,
        objective=text_of(problem.objective),
        uplinks=tuple(
            _uplink_load(problem, i, float(on_link[i] * share)) for i in carrying if i >= own_links
        ),
    )


def bottleneck_at(problem: Problem, on_device: Floats, on_link: Floats, own: Floats) -> Bottleneck:
    """Return the bottleneck from utilisations relative to the usable capacity; see `score_at`."""
    cluster, share = problem.cluster, problem.target_utilisation
    device, link, v = int(on_device.argmax()), int(on_link.argmax()), int(own.argmax())
    if own[v] > max(on_device[device], on_link[link]):
        return Bottleneck("operator", problem.graph.names[v], float(own[v] * share))
    if on_link[link] > on_device[device]:
        used = float(on_link[link] * share)
        if link >= cluster.own_links:
            return Bottleneck("uplink", _uplink_load(problem, link, used).name, used)
        return Bottleneck("link", LinkLoad(*cluster.resource_ends(link), used).name, used)
    return Bottleneck("device", cluster.names[device], float(on_device[device] * share))


def _carrying(problem: Problem, devices: Placements) -> Bools:
    """Return whether a stream with tuples crosses each link, (L,)."""
    flow = problem.once(CompiledProblem).flow
    carrying = np.zeros(len(flow.gap_s), dtype=np.bool_)
    for link in all_crossed(flow, np.asarray(devices, dtype=np.int32)):
        carrying[link[(link >= 0) & (flow.stream_tuples > 0)]] = True
    return carrying


def _uplink_load(problem: Problem, link: int, utilisation: float) -> UplinkLoad:
    cluster = problem.cluster
    group, direction, _ = cluster.limited_uplinks[link - cluster.own_links]
    return UplinkLoad(group, direction, utilisation)
