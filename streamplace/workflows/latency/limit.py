"""Limits on latency, and their text."""

import re
from dataclasses import dataclass, fields
from math import isfinite
from typing import Self, get_args

from sim.engine.settings import Service
from sim.tuples.state import Process
from streamplace.errors import UsageError
from streamplace.util.checks import check_number, check_str, check_type, set_plain_numbers
from streamplace.util.plugins import read_options

MARGIN = 0.2
PERCENTILE = r"p\d+(\.\d+)?"
EXAMPLE = "p99=200ms"
UNITS = {"ms": 1e-3, "s": 1.0}
FORM = "QUANTITY=TIME with the time in ms or s, such as p99=200ms, p50=0.1s or mean=50ms"
LEAST, MOST = 1.0, 99.9  # percentiles; beyond them, runs have too few tuples


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
        The random arrivals and services; see `sim.engine.Settings`.
    margin
        Share by which an estimate or a simulation must be below the limit to count: the value times
        1 + margin is at most the limit.

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

    def __post_init__(self) -> None:
        check_str("max_latency: quantity", self.quantity, UsageError)
        for name in ("seconds", "margin"):
            check_number(f"max_latency: {name}", getattr(self, name), UsageError)
        set_plain_numbers(self, ("seconds", "margin"))
        if self.quantity != "mean" and not re.fullmatch(PERCENTILE, self.quantity):
            raise UsageError(f"max_latency: must be {FORM} (got {self.quantity!r:.40})")
        if self.quantity != "mean" and not LEAST <= float(self.quantity[1:]) <= MOST:
            percentiles = "percentiles are p1 to p99.9, such as p99=200ms"
            raise UsageError(f"max_latency: {percentiles} (got {self.quantity:.40})")
        if not (isfinite(self.seconds) and self.seconds > 0):
            raise UsageError(f"max_latency: must be above 0 and finite (got {self.seconds:g} s)")
        for name, allowed in (("arrivals", Process), ("service", Service)):
            if getattr(self, name) not in get_args(allowed):
                names = " or ".join(get_args(allowed))
                raise UsageError(
                    f"max_latency: {name} must be {names} (got {getattr(self, name)!r:.40})"
                )
        if not 0 <= self.margin < float("inf"):
            raise UsageError(f"max_latency: margin must be at least 0 (got {self.margin:g})")

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
        check_type("max_latency:", limit, LatencyLimit, UsageError, f'for example "{EXAMPLE}"')
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
        match = re.fullmatch(r"(\w+(?:\.\d+)?)=(\d*\.?\d+(?:e[+-]?\d+)?)(ms|s)", first)
        if match is None:
            raise UsageError(f"max_latency: must be {FORM} (got {first!r:.40})")
        kinds = {field.name: str for field in fields(cls)[2:]} | {"margin": float}
        values = read_options(text, options, kinds, "latency limit")
        return cls(match[1], float(match[2]) * UNITS[match[3]], **values)

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
        return f"{self.quantity} of {self.seconds:.4g} s"
