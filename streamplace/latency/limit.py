"""Limits on latency, their text, and the answer whether a placement keeps one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import InitVar, dataclass, fields
from math import isfinite
from typing import Any, Literal, Self, get_args

from streamplace.display.text import duration, rounded_down
from streamplace.display.view import Line
from streamplace.errors import Fault, UsageError
from streamplace.latency.tuples import ARRIVALS
from streamplace.sim.engine.settings import Service
from streamplace.sim.tuples.state import Process
from streamplace.util.checks import check_number, check_str, set_plain_numbers
from streamplace.util.plugins import read_options
from streamplace.util.units import parsed

MARGIN = 0.2
PERCENTILE = r"p\d+(\.\d+)?"
EXAMPLE = "p99=200ms"
FORM = (
    "QUANTITY=TIME with a time and its unit (ns, us, µs, ms, s, min, h), such as p99=200ms, "
    "p50=0.1s or mean=50ms"
)
OPTION = "max_latency"
LEAST, MOST = 1.0, 99.9  # percentiles; beyond them, runs have too few tuples
Answer = Literal["feasible", "infeasible", "unproven"]


def _error(what: str) -> UsageError:
    return UsageError(Fault(what, option=OPTION))


@dataclass(frozen=True)
class LatencyLimit:
    """A limit on the latency of single tuples, with random arrivals and services.

    Parameters
    ----------
    quantity
        ``mean``, or a percentile such as ``p99``.
    seconds
        The limit.
    arrivals, service
        The random arrivals and services; see `streamplace.sim.engine.Settings`.
    margin
        Share by which an estimate or a simulation must be below the limit to count: the value times
        1 + margin is at most the limit.
    text
        What was typed, which messages quote; None: the value at fault.

    Raises
    ------
    UsageError
        On an unknown quantity, arrivals or service, or a number out of range.
    """

    quantity: str
    seconds: float
    arrivals: Process = "poisson"
    service: Service = "exponential"
    margin: float = MARGIN
    text: InitVar[str | None] = None

    def __post_init__(self, text: str | None) -> None:
        check_str("max_latency: quantity", self.quantity, UsageError)
        for name in ("seconds", "margin"):
            check_number(name, getattr(self, name), UsageError, option=OPTION)
        set_plain_numbers(self, ("seconds", "margin"))
        for fault, value in self._faults():
            got = value if text is None else repr(text)
            raise _error(f"{fault} (got {got:.80})")

    def _faults(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, with the value at fault as text."""
        if self.quantity != "mean" and not re.fullmatch(PERCENTILE, self.quantity):
            yield f"must be {FORM}", repr(self.quantity)
        elif self.quantity != "mean" and not LEAST <= float(self.quantity[1:]) <= MOST:
            yield "percentiles are p1 to p99.9, such as p99=200ms", repr(self.quantity)
        if not (isfinite(self.seconds) and self.seconds > 0):
            yield "must be above 0 and finite", f"{self.seconds:g} s"
        for name, allowed in (("arrivals", Process), ("service", Service)):
            if getattr(self, name) not in get_args(allowed):
                yield f"{name} must be {' or '.join(get_args(allowed))}", repr(getattr(self, name))
        if not 0 <= self.margin < float("inf"):
            yield "margin must be at least 0", f"{self.margin:g}"

    @classmethod
    def of(cls, limit: "LatencyLimit | str") -> "LatencyLimit":
        """Return a limit: `limit` itself, or the one that text describes (see `parse`).

        Raises
        ------
        UsageError
            On other text, or a value of another type.
        """
        if isinstance(limit, str):
            return cls.parse(limit)
        if not isinstance(limit, LatencyLimit):
            got = type(limit).__name__
            raise _error(f'must be LatencyLimit, not {got}; for example "{EXAMPLE}"')
        return limit

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the limit that text describes: ``p99=200ms[:OPTION=VALUE…]``.

        Options are ``arrivals``, ``service`` and ``margin``.

        Raises
        ------
        UsageError
            On other text.
        """
        first, *options = text.split(":")
        quantity, _, time = first.partition("=")
        try:
            if not quantity or not time[-1:].isalpha():
                raise UsageError("no quantity, or no unit")
            seconds = parsed(time, "s")
        except UsageError:
            raise _error(f"must be {FORM} (got {text!r:.80})") from None
        kinds = {field.name: str for field in fields(cls)[2:]} | {"margin": float}
        values = read_options(text, options, kinds, "latency limit")
        return cls(quantity, seconds, **values, text=text)

    @property
    def exponential(self) -> bool:
        """Whether services have exponential times."""
        return self.service == "exponential"

    @property
    def share(self) -> float | None:
        """The share of tuples within the limit; None for the mean."""
        return None if self.quantity == "mean" else float(self.quantity[1:]) / 100

    def holds(self, seconds: float) -> bool:
        """Return whether a latency is below the limit with the margin."""
        return seconds * (1 + self.margin) <= self.seconds

    def __str__(self) -> str:
        return f"{self.quantity} of {duration(self.seconds, 4)}"


@dataclass(frozen=True)
class LatencyAnswer:
    """Whether a limit on latency is kept.

    Parameters
    ----------
    answer
        ``feasible``: the simulation of the placement is below the limit, with the margin, and it
        stays within the target utilisation.
        ``infeasible``: provably no placement keeps the limit. ``unproven``: neither.
    screened_s
        The estimate of the placement by queueing theory; None if the placement is overloaded, or
        if there is none.
    simulated_s
        The largest value of the simulations, in seconds; None if there was none.
    least_s
        Lower bound on the latency of every placement, in seconds; None if every placement is
        overloaded.
    target_utilisation
        The share of every device and link that a placement may use.
    """

    limit: LatencyLimit
    answer: Answer
    screened_s: float | None
    simulated_s: float | None
    least_s: float | None
    target_utilisation: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "limit": self.limit.seconds,
            "quantile": self.limit.quantity,
            "screened_s": self.screened_s,
            "simulated_s": self.simulated_s,
            "answer": self.answer,
            "margin": self.limit.margin,
            "least_s": self.least_s,
            "arrivals": self.limit.arrivals,
            "service": self.limit.service,
        }

    @property
    def brief(self) -> str:
        """The answer with the simulated latency, for a cell of a table."""
        return self.answer + ("" if self.simulated_s is None else f", {duration(self.simulated_s)}")

    @property
    def reason(self) -> str:
        """Why the limit is kept or not, in words."""
        limit, margin = self.limit, f"a margin of {self.limit.margin:.0%}"
        target = f"the target utilisation of {self.target_utilisation * 100:.4g}%"
        if self.answer == "infeasible" and self.least_s is None:
            if self.target_utilisation < 1.0:
                return f"every placement uses a device, link or operator above {target}"
            return "every placement overloads a device, link or operator, so that queues grow"
        if self.least_s is not None and self.answer == "infeasible":
            least = duration(self.least_s, 4, rounded_down)
            return f"without any wait, {limit.quantity} is at least {least}"
        if self.screened_s is None:
            during = " during bursts" if limit.arrivals == "bursts" else ""
            above = f", or uses it above {target}" if self.target_utilisation < 1.0 else ""
            return f"every placement found overloads a device, link or operator{during}{above}"
        if self.simulated_s is None:
            estimated = duration(self.screened_s)
            return f"estimated {estimated}; too few tuples reach sinks for simulations"
        process = f"{ARRIVALS[limit.arrivals]}, {limit.service} services"
        found = f"simulated {duration(self.simulated_s)}, estimated {duration(self.screened_s)}"
        return f"{found}, {margin}; {process}"

    def lines(self) -> tuple[Line, ...]:
        """Return the answer in words, for a view."""
        return (Line(f"latency limit {self.limit}: {self.answer} ({self.reason})"),)


def stored_answer(entry: Mapping[str, Any] | None) -> str:
    """Return an entry of `LatencyAnswer.to_dict` in words; empty if it is none."""
    stored = entry or {}
    match stored:
        case {
            "limit": int() | float() as limit,
            "quantile": str(quantity),
            "answer": "feasible" | "infeasible" | "unproven" as answer,
        }:
            found = stored.get("simulated_s")
            simulated = f", simulated {duration(found)}" if isinstance(found, int | float) else ""
            return f"{quantity:.20} of at most {duration(limit, 4)}: {answer}{simulated}"
    return ""
