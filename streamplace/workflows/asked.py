"""What `place` is asked for besides throughput: probability, or a limit on latency."""

from dataclasses import dataclass
from typing import Any

from streamplace.errors import InfeasibleError, UsageError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.workflows.confidence import check_confidence, confident
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.latency.within_limit import disproved, within_limit


@dataclass(frozen=True)
class Asked:
    """What a placement should reach besides throughput, at most one of the two.

    Parameters
    ----------
    confidence
        Probability with which the source rate is carried; see `confident`.
    max_latency
        Limit on latency; see `within_limit`.
    """

    confidence: float | None = None
    max_latency: LatencyLimit | None = None

    @classmethod
    def of(cls, confidence: float | None, max_latency: LatencyLimit | str | None) -> "Asked":
        """Return what two arguments of `place` ask for; text is that of `LatencyLimit.parse`.

        Raises
        ------
        UsageError
            If both are set, or `max_latency` is not a limit.
        """
        if confidence is not None and max_latency is not None:
            raise UsageError("cannot combine confidence with max_latency")
        limit = None if max_latency is None else LatencyLimit.of(max_latency)
        return cls(confidence, limit)

    def __bool__(self) -> bool:
        return self != Asked()

    def check(self, problem: Problem) -> None:
        """Refuse what is not supported, or provably out of reach.

        Raises
        ------
        UsageError, ProblemError
            See `check_confidence` and `disproved`.
        InfeasibleError
            If provably no placement keeps the limit on latency.
        """
        if self.confidence is not None:
            check_confidence(problem, self.confidence)
        if self.max_latency is not None:
            proof = disproved(problem, self.max_latency)
            if proof is not None:
                raise InfeasibleError(f"latency limit {self.max_latency}: {proof.reason}")

    def improved(
        self, problem: Problem, start: Placement, seed: int
    ) -> tuple[Placement, dict[str, Any]]:
        """Return the placement that reaches it best, and fields of `Result`."""
        if self.max_latency is not None:
            found, answer = within_limit(problem, start, self.max_latency, seed)
            return found, {"latency": answer}
        if self.confidence is None:
            return start, {}
        found, report = confident(problem, start, self.confidence, seed)
        return found, {"confidence": report}
