"""What differs between the makespans of two placements."""

from collections.abc import Sequence

from streamplace.display.view import Line
from streamplace.problem.objectives import text_of
from streamplace.scoring.makespan_score import MakespanScore
from streamplace.scoring.score import Score


def makespan_lines(scores: Sequence[Score]) -> tuple[Line, ...]:
    """Return the settings of two makespans, if they differ, and the orders that were used.

    Scores of throughput give no line.
    """
    makespans = [one for one in scores if isinstance(one, MakespanScore)]
    texts = tuple(text_of(one.problem.makespan_objective) for one in makespans)
    if len(set(texts)) > 1:
        return (Line("scored under {} and under {}", texts),)
    orders = [one.order for one in makespans]
    return (Line(f"in the orders {' and '.join(orders)}"),) if len(set(orders)) > 1 else ()
