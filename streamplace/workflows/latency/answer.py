"""The answer whether a placement keeps a limit on latency."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streamplace.display.text import rounded_down
from streamplace.display.view import Line
from streamplace.scoring.tuples import ARRIVALS
from streamplace.workflows.latency.limit import LatencyLimit

Answer = Literal["feasible", "infeasible", "unproven"]


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
    def reason(self) -> str:
        """Why the limit is kept or not, in words."""
        limit, margin = self.limit, f"a margin of {self.limit.margin:.0%}"
        target = f"the target utilisation of {self.target_utilisation * 100:.4g}%"
        if self.answer == "infeasible" and self.least_s is None:
            if self.target_utilisation < 1.0:
                return f"every placement uses a device, link or operator above {target}"
            return "every placement overloads a device, link or operator, so that queues grow"
        if self.least_s is not None and self.answer == "infeasible":
            return (
                f"without any wait, {limit.quantity} is at least {rounded_down(self.least_s, 4)} s"
            )
        if self.screened_s is None:
            during = " during bursts" if limit.arrivals == "bursts" else ""
            above = f", or uses it above {target}" if self.target_utilisation < 1.0 else ""
            return f"every placement found overloads a device, link or operator{during}{above}"
        if self.simulated_s is None:
            return f"estimated {self.screened_s:.3g} s; too few tuples reach sinks for simulations"
        process = f"{ARRIVALS[limit.arrivals]}, {limit.service} services"
        found = f"simulated {self.simulated_s:.3g} s, estimated {self.screened_s:.3g} s"
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
            simulated = f", simulated {found:.3g} s" if isinstance(found, int | float) else ""
            return f"{quantity:.20} of at most {limit:.4g} s: {answer}{simulated}"
    return ""
