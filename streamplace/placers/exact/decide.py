"""The decision whether any placement has a relative throughput, up to rounding."""

from math import inf

from streamplace.placers.exact.decision import DecisionProblem, is_small
from streamplace.placers.exact.incumbent import MARGIN
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import closed_form


def decision_on(problem: Problem, share: float) -> DecisionProblem | None:
    """Return the question whether any placement has a relative throughput of at least `share`.

    If it is refuted, no placement has. A placement that it finds may miss the share by rounding or,
    under ``path-average``, because a link is slightly too full. The result is None if no limit on
    utilisation is known, or if the problem is too large.
    """
    if not is_small(problem):
        return None
    limit = closed_form(problem).highest_utilisation(share) * (1.0 + MARGIN)
    return DecisionProblem(problem, problem.source_rate / limit) if limit < inf else None
