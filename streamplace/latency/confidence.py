"""The probability with which placements carry the source rate, where costs are uncertain."""

from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np

from streamplace.display.text import number, rounded_down
from streamplace.display.view import Line
from streamplace.errors import UsageError
from streamplace.latency.confident import confident_rows
from streamplace.latency.sampled import (
    CostDraws,
    carried_share,
    draws_within,
    first_order_shares,
    utilisation_at,
)
from streamplace.placers.base import Placer
from streamplace.placers.goal import Goal
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Kind, Uncertainty
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_number

REPORTED = 16_384  # draws of the reported probabilities, none of which the search used
MOST_CONFIDENCE = 0.999  # 16 of the reported draws may exceed the rate; of fewer, little is known
LEAST_DRAWS = 10  # draws that may exceed the rate; with fewer, the report says so
NAMED = 5  # numbers whose shares are reported
MAX_NUMBERS = 100_000  # uncertain numbers, whose draws must fit into memory
WORDS: dict[Kind, tuple[str, str]] = {
    "instructions": ("instructions", "they account"),
    "payload_bytes": ("payload", "it accounts"),
    "selectivity": ("selectivity", "it accounts"),
}


@dataclass(frozen=True)
class Influence:
    """The part of an uncertain number in the uncertainty of a placement.

    Parameters
    ----------
    kind
        ``instructions``, ``payload_bytes`` or ``selectivity``.
    name
        The operator, or ``source->target`` of the stream.
    share
        Share of the variance of the rate that the placement sustains, by which that variance is
        expected to fall once the number is known (first-order Sobol index).
    """

    kind: Kind
    name: str
    share: float


@dataclass(frozen=True)
class Confidence:
    """The probability with which a placement carries the source rate.

    Probabilities are over draws of the costs from their standard errors (see `Uncertainty`), other
    draws than those that the search compared placements on.

    Parameters
    ----------
    asked
        The probability asked for.
    reached, reached_se
        The probability that the placement carries the source rate, and the standard error that it
        has because the number of draws is limited.
    without
        The same probability for the placement that would result without `confidence`.
    source_rate
        The rate that the placement carries with the probability asked for, in tuples/s; None if it
        has no limit.
    offered
        The source rate in tuples/s; the highest of several.
    samples
        The number of draws.
    influences
        The uncertain numbers with the largest shares, at most five, in decreasing order.
    """

    asked: float
    reached: float
    reached_se: float
    without: float
    source_rate: float | None
    offered: float
    samples: int
    influences: tuple[Influence, ...]

    @property
    def measure_better(self) -> Influence | None:
        """The number whose better measurement would reduce the uncertainty most."""
        return self.influences[0] if self.influences else None

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        better = self.measure_better
        return {
            "asked": self.asked,
            "reached": self.reached,
            "reached_se": self.reached_se,
            "without": self.without,
            "source_rate": self.source_rate,
            "samples": self.samples,
            "measure_better": None if better is None else asdict(better),
            "shares": [asdict(influence) for influence in self.influences],
        }

    def lines(self) -> tuple[Line, ...]:
        """Return the result in words, for a view."""
        rate = (
            "any rate" if self.source_rate is None else f"{rounded_down(self.source_rate)} tuples/s"
        )
        offered = f"the {number(self.offered)} offered"
        found = [
            Line(
                f"carries {rate} with probability {self.asked}; {offered} with probability "
                f"{self.reached:.3f} ± {self.reached_se:.3f} ({self.without:.3f} without "
                "--confidence)"
            )
        ]
        if self.reached < self.asked:
            found += [Line(f"no placement found carries {offered} with probability {self.asked}")]
        if (1.0 - self.asked) * self.samples < LEAST_DRAWS:
            known = f"only {self.samples:,} draws were possible on a graph of this size"
            found += [
                Line(f"{known}, so the rate with probability {self.asked} is a rough estimate")
            ]
        if (better := self.measure_better) is not None:
            noun, account = WORDS[better.kind]
            text = f"measure the {noun} of {{}} better: alone, {account} for {better.share:.0%}"
            text += " of the uncertainty of the rate that is carried"
            found += [Line(text, (better.name,))]
        return tuple(found)


@dataclass(frozen=True)
class ConfidenceGoal(Goal):
    """The source rate is carried with some probability, over the standard errors of the costs.

    Parameters
    ----------
    asked
        The probability asked for, above 0 and at most 0.999.
    """

    report: ClassVar[str] = "confidence"
    asked: float

    def check(self, problem: Problem, placer: str | Placer, seed: int) -> None:
        """Refuse a probability, model or objective that is not supported.

        Raises
        ------
        UsageError
            If the probability is not above 0 and at most 0.999, the model is not a closed form, the
            objective is not throughput, or there are too many uncertain numbers.
        """
        check_number("confidence:", self.asked, UsageError)
        if not 0 < self.asked < 1:
            raise UsageError(f"confidence: must be above 0 and below 1 (got {self.asked:g})")
        if self.asked > MOST_CONFIDENCE:
            known = f"at most {MOST_CONFIDENCE}, since probabilities come from {REPORTED:,} draws"
            raise UsageError(f"confidence: must be {known} (got {self.asked})")
        only_throughput(problem.objective, "confidence supports only throughput")
        if problem.model not in CLOSED_FORMS:
            choices = " or ".join(CLOSED_FORMS)
            raise UsageError(f"confidence requires the model {choices} (got {problem.model!r})")
        if (count := len(Uncertainty.of(problem.graph))) > MAX_NUMBERS:
            raise UsageError(
                f"confidence: at most {MAX_NUMBERS:,} numbers may have standard errors "
                f"(got {count:,})"
            )

    def improve(
        self, problem: Problem, start: Placement, seed: int
    ) -> tuple[Placement, Confidence | None]:
        """Return a placement that carries the source rate with high probability, and its report.

        The placement is the one with the highest probability that was found, which is at least that
        of `start`, up to chance. If no cost has a standard error, it is `start`, without a report.
        """
        uncertainty = Uncertainty.of(problem.graph)
        if not len(uncertainty):
            return start, None
        rows = confident_rows(problem, uncertainty, self.asked, start, seed)
        found = start if np.array_equal(rows, start.devices) else Placement(problem, rows)
        return found, _report(problem, uncertainty, found, start, self.asked, seed)


def _report(
    problem: Problem,
    uncertainty: Uncertainty,
    found: Placement,
    start: Placement,
    confidence: float,
    seed: int,
) -> Confidence:
    """Return the probabilities of a placement by draws of its own."""
    count = draws_within(problem, uncertainty, REPORTED)
    draws = CostDraws(problem, uncertainty, (seed, 3), count)
    utilisation = draws.utilisation(np.stack([found.devices, start.devices]))
    reached, without = carried_share(utilisation).tolist()
    full = float(utilisation_at(utilisation[0], confidence))
    smoothed = (reached * count + 1.0) / (count + 2.0)  # otherwise 0 where all draws agree
    return Confidence(
        asked=float(confidence),
        reached=reached,
        reached_se=sqrt(smoothed * (1.0 - smoothed) / count),
        without=without,
        source_rate=problem.source_rate / full if full > 0.0 else None,
        offered=problem.source_rate,
        samples=count,
        influences=_influences(uncertainty, draws.normals, utilisation[0]),
    )


def _influences(
    uncertainty: Uncertainty, normals: Floats, utilisation: Floats
) -> tuple[Influence, ...]:
    """Return the numbers with the largest shares in the variance of the sustained rate."""
    with np.errstate(divide="ignore"):
        sustained = np.where(utilisation > 0.0, 1.0 / utilisation, inf)
    if not np.isfinite(sustained).all():
        return ()
    shares = first_order_shares(normals, sustained)
    order = np.argsort(-shares, kind="stable")[:NAMED]
    return tuple(
        Influence(uncertainty.numbers[i].kind, uncertainty.numbers[i].name, float(shares[i]))
        for i in order.tolist()
        if shares[i] > 0.0
    )
