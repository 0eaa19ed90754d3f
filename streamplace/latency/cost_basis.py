"""What an answer rests on where costs are uncertain, and which one to measure first."""

from dataclasses import asdict, dataclass
from math import exp
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable
from streamplace.display.text import rounded
from streamplace.display.view import Line, View
from streamplace.latency.confidence import MAX_NUMBERS, REPORTED
from streamplace.latency.sampled import MOST, CostDraws, draws_within
from streamplace.problem.assumptions import typical_values
from streamplace.problem.placement import Placement
from streamplace.problem.uncertainty import Kind, Uncertainty
from streamplace.util.arrays import Floats

PROBABILITY = 0.9  # of the range
DIGITS = 3  # of its ends, which are draws of guesses
BINS = 16  # values at which a cost is tried
FEWEST = 4_096  # draws with which a cost is named; huge graphs have fewer
LEAST = 0.05
"""Share of the logarithmic width that a named cost takes away at least. By chance, the best of 64
costs without effect took away 1% with 16,384 draws and up to 6% with 2,048 (40 trials each)."""
HOW: dict[Kind, tuple[str, str]] = {
    "instructions": (
        "instructions",
        "CPU seconds per tuple x MIPS of the core x 10^6, as streamplace profile does",
    ),
    "payload_bytes": ("payload", "bytes out / tuples out, as streamplace profile flink does"),
    "selectivity": (
        "selectivity",
        "tuples on the stream / tuples processed, as streamplace profile does",
    ),
}


@dataclass(frozen=True)
class FirstToMeasure:
    """The uncertain number whose measurement narrows the range most.

    Parameters
    ----------
    kind, name
        As of `UncertainNumber`.
    factor
        The ratio of the ends of the range that is then expected: the geometric mean over values of
        the number.
    """

    kind: Kind
    name: str
    factor: float


@dataclass(frozen=True, repr=False)
class CostBasis(Displayable):
    """How many costs of an answer are typical values, and what they leave open.

    Parameters
    ----------
    typical, costs
        How many costs are typical values, and how many there are.
    offered
        The source rate in tuples/s, the highest of several; None: there is no range.
    sustained
        Source rates in tuples/s between which the one that the placement sustains is with
        `PROBABILITY`, over draws of all uncertain costs; they may exceed the one offered. None:
        there is no placement, or its objective is not throughput under ``bottleneck``.
    first
        The number to measure first; None: none narrows the range beyond chance.
    """

    typical: int
    costs: int
    offered: float | None = None
    sustained: tuple[float, float] | None = None
    first: FirstToMeasure | None = None

    @property
    def throughput(self) -> tuple[float, float] | None:
        """Throughputs in tuples/s between which the placement's is with `PROBABILITY`."""
        if self.sustained is None or self.offered is None:
            return None
        low, high = self.sustained
        return min(low, self.offered), min(high, self.offered)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``typical_costs`` of `--json`."""
        return {
            "typical": self.typical,
            "costs": self.costs,
            "probability": PROBABILITY,
            "throughput": self.throughput,
            "sustained": self.sustained,
            "measure_first": None if self.first is None else asdict(self.first),
        }

    @property
    def headline(self) -> str:
        """The numbers of costs and the range, in words."""
        text = typical_values(self.typical, self.costs)
        if self.throughput is None:
            return text
        low, high = (rounded(end, DIGITS) for end in self.throughput)
        ends = low if low == high else f"between {low} and {high}"
        return f"{text}; throughput {ends} tuples/s with {PROBABILITY:.0%}"

    def _view(self) -> View:
        lines = [Line(self.headline)]
        if self.sustained is not None and self.throughput != self.sustained:
            low, high = (rounded(end, DIGITS) for end in self.sustained)
            more = f"if more is offered, it carries between {low} and {high} tuples/s"
            lines.append(Line(f"{more} with {PROBABILITY:.0%}"))
        if self.first is not None and self.sustained is not None:
            noun, how = HOW[self.first.kind]
            factors = self.first.factor, self.sustained[1] / self.sustained[0]
            after, before = (rounded(factor, DIGITS) for factor in factors)
            text = f"measure first the {noun} of {{}} ({how}): "
            text += f"the ends are then a factor of {after} apart instead of {before}"
            lines.append(Line(text, (self.first.name,)))
        return View(f"CostBasis: {self.headline}", (), tuple(lines))


def cost_basis(typical: int, costs: int, placement: Placement | None, seed: int = 0) -> CostBasis:
    """Return what an answer with a placement rests on.

    Each uncertain number is tried: the draws in which it has nearly the same value give the range
    that is left once it is known. Of more than 64 numbers, those that correlate most with the rate
    are tried.

    Parameters
    ----------
    typical, costs
        See `CostBasis`.
    placement
        None: the answer has none.
    """
    plain = CostBasis(typical, costs)
    if placement is None or not placement.problem.objective.follows_loads:
        return plain
    problem = placement.problem
    uncertainty = Uncertainty.of(problem.graph)
    if problem.model != "bottleneck" or not 0 < len(uncertainty) <= MAX_NUMBERS:
        return plain
    count = draws_within(problem, uncertainty, REPORTED) // BINS * BINS
    draws = CostDraws(problem, uncertainty, (seed, 4), count)
    utilisation = draws.utilisation(placement.devices[np.newaxis])[0]
    if not (utilisation > 0.0).all():
        return plain
    logs = -np.log(utilisation)
    low, high = _ends(logs).tolist()
    widths = _widths_if_known(draws.normals, logs) if count >= FEWEST else {}
    best = min(widths, key=lambda i: widths[i], default=-1)
    first = None
    if widths and widths[best] < (1.0 - LEAST) * (high - low):
        first = FirstToMeasure(*uncertainty.numbers[best], exp(widths[best]))
    offered = problem.source_rate
    return CostBasis(typical, costs, offered, (offered * exp(low), offered * exp(high)), first)


def _ends(logs: Floats) -> Floats:
    """Return the ends of the range of S values, (2,), or of B sets of them, (2, B)."""
    tail = (1.0 - PROBABILITY) / 2.0
    ends: Floats = np.quantile(logs, [tail, 1.0 - tail], axis=-1)
    return ends


def _widths_if_known(normals: Floats, logs: Floats) -> dict[int, float]:
    """Return the mean width of the range over values of each number that is tried, by its index.

    The draws with nearly the same value are corrected to one value by a fitted line.

    Parameters
    ----------
    normals
        (S, N) draws of the numbers.
    logs
        (S,) logarithm of the rate in each draw.
    """
    strength = np.abs((logs - logs.mean()) @ normals)
    widths = {}
    for i in np.argsort(-strength, kind="stable")[:MOST].tolist():
        order = np.argsort(normals[:, i]).reshape(BINS, -1)
        off = normals[order, i]
        off -= off.mean(axis=1, keepdims=True)
        slopes = (off * logs[order]).sum(axis=1) / (off * off).sum(axis=1)
        low, high = _ends(logs[order] - slopes[:, np.newaxis] * off)
        widths[i] = float(np.mean(high - low))
    return widths
