"""The published guidelines on traversal orders, and whether they hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from streamplace.studies.orders.extremes import extremes
from streamplace.studies.orders.published import ORDERS
from streamplace.studies.orders.registered import ALL_ORDERS
from streamplace.studies.orders.results import PLACETO, Results, by_graph
from streamplace.util.arrays import Bools, Floats
from streamplace.util.effect import Effect

BACKWARD = ("reversed-topo-lifo", "dfs-postorder")
ADVICE = {"enas-cifar": BACKWARD, "nmt": BACKWARD[:1], "enas-ptb": ("bfs",)}
"""The orders that the paper advises for each family."""
DEPTH_FIRST, TOPOLOGICAL = ("dfs-preorder", "dfs-postorder"), ("topo-lifo", "reversed-topo-lifo")
LONG = 100  # streams on the longest path from which a graph has a long diameter
VANISHED = 0.07  # differences that another system saw with an ample budget
MIN_GRAPHS = 6  # fewer are all on one side of equality by chance in more than 5% of cases
HOLDS, REFUTED, UNDECIDED, UNTESTED = "holds", "refuted", "undecided", "untested"


@dataclass(frozen=True)
class Verdict:
    """Whether a guideline holds.

    Parameters
    ----------
    guideline
        The advice, as published.
    compared
        The two mean makespans whose ratio is the effect.
    effect
        Their ratio; the guideline holds if the whole interval is below 1, and is refuted if it is
        above. None if fewer than `MIN_GRAPHS` graphs test it.
    word
        ``holds``, ``refuted``, ``undecided`` or ``untested``.
    """

    guideline: str
    compared: str
    effect: Effect | None
    word: str


def verdicts(results: Sequence[Results]) -> Iterator[Verdict]:
    """Yield a verdict on each guideline, at the first checkpoint and at the last one."""
    last = len(results[0].checkpoints) - 1
    for c in dict.fromkeys((0, last)):
        sweeps = results[0].sweeps(c)
        yield _compared(
            f"Start with a backward order ({sweeps})",
            results,
            BACKWARD,
            c,
        )
        for family, orders in ADVICE.items():
            mine = [one for one in results if one.family == family]
            yield _compared(f"{family}: {' or '.join(orders)} ({sweeps})", mine, orders, c)
        cifar = [one for one in results if one.family == "enas-cifar"]
        yield _compared(
            f"enas-cifar, longest path up to {LONG}: depth-first orders ({sweeps})",
            cifar,
            DEPTH_FIRST,
            c,
            TOPOLOGICAL,
            lambda paths: paths <= LONG,
        )
        yield _compared(
            f"enas-cifar, longest path above {LONG}: topological orders ({sweeps})",
            cifar,
            TOPOLOGICAL,
            c,
            DEPTH_FIRST,
            lambda paths: paths > LONG,
        )
    yield _vanishing(results, last)


def _compared(
    guideline: str,
    results: Sequence[Results],
    orders: Sequence[str],
    checkpoint: int,
    others: Sequence[str] | None = None,
    chosen: Callable[[Floats], Bools] | None = None,
) -> Verdict:
    """Compare orders with others, by default with all other published ones."""
    rest = others or [name for name in ORDERS if name not in orders]
    compared = f"{', '.join(orders)} over {', '.join(rest) if others else 'the other published'}"
    values = [one.between(orders, rest, checkpoint) for one in results]
    if chosen is not None:
        values = [
            each[chosen(one.longest_paths)] for each, one in zip(values, results, strict=True)
        ]
    ratios = by_graph(results, values)
    if len(ratios) < MIN_GRAPHS:
        return Verdict(guideline, compared, None, UNTESTED)
    effect = Effect.of(ratios)
    word = HOLDS if effect.high < 1.0 else REFUTED if effect.low > 1.0 else UNDECIDED
    return Verdict(guideline, compared, effect, word)


def _vanishing(results: Sequence[Results], checkpoint: int) -> Verdict:
    """Compare the worst with the best published order; see `extremes`."""
    sweeps = results[0].sweeps(checkpoint)
    guideline = f"With an ample budget, differences vanish (below {VANISHED:.0%} after {sweeps})"
    compared = "the worst published order over the best one, by the other graphs"
    own = [ALL_ORDERS.index(name) for name in ORDERS]
    spreads = []
    for one in results:
        over = one.over_best[PLACETO][:, own, checkpoint]
        if len(over) < MIN_GRAPHS:
            return Verdict(guideline, compared, None, UNTESTED)
        best, worst = extremes(over)
        spreads.append(worst / best)
    effect = Effect.of(by_graph(results, spreads))
    limit = 1.0 + VANISHED
    word = HOLDS if effect.high < limit else REFUTED if effect.low > limit else UNDECIDED
    return Verdict(guideline, compared, effect, word)
