"""Tables and findings of the study of traversal orders for streams."""

from collections.abc import Iterator, Sequence

import numpy as np

from streamplace.studies.orders.coincidence import CONTROL, coinciding, sentence
from streamplace.studies.orders.extremes import extremes
from streamplace.studies.orders.stream_results import (
    GREEDY,
    PLACETO,
    POLICY,
    RANDOM_POLICY,
    SEARCH,
    Reached,
    reached_by,
)
from streamplace.studies.stream_problems import problem_of
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table
from streamplace.util.effect import Effect

TITLE = "Traversal orders for the throughput of streams"
WITH_ORDERS = (GREEDY, POLICY, PLACETO, RANDOM_POLICY)


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the outcome of the study from its results."""
    reached = reached_by(plan, rows)
    return Outcome(TITLE, tuple(_findings(plan, reached)), (_table(plan, reached),))


def _table(plan: Plan, reached: Reached) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    for order in plan.settings["orders"]:
        cells: list[Cell] = []
        for method in WITH_ORDERS:
            values = reached[method].get(order)
            if values is None:
                cells.append(None)
                continue
            over = Effect.of(values - reached[method][CONTROL])
            cells.append((float(values.mean()), f"{over.low:+.3f} to {over.high:+.3f}"))
        rows.append((order, cells))
    caption = f"relative throughput on {plan.settings['graphs']} graphs"
    variants = ("means", "95% intervals of the difference from the random order")
    return Table("streams", caption, ("order", *WITH_ORDERS), rows, variants)


def _findings(plan: Plan, reached: Reached) -> Iterator[str]:
    for method in WITH_ORDERS:
        means = {order: float(values.mean()) for order, values in reached[method].items()}
        best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        low, high = extremes(np.stack([*reached[method].values()], axis=1))
        yield (
            f"{method}: the best order is {best}, {means[best]:.3f}, and the worst is {worst}, "
            f"{means[worst]:.3f}. The order that is best on the other graphs differs from a random "
            f"order by {Effect.of(high - reached[method][CONTROL])} and from the one that is worst "
            f"on them by {Effect.of(high - low)}."
        )
    orders = [order for order in reached[PLACETO] if order is not None]
    ahead = [Effect.of(reached[PLACETO][o] - reached[RANDOM_POLICY][o]) for o in orders]
    better = [order for order, effect in zip(orders, ahead, strict=True) if effect.low > 0.0]
    worse = [order for order, effect in zip(orders, ahead, strict=True) if effect.high < 0.0]
    yield (
        f"Placeto is better than the uniformly random policy with 95% confidence in {len(better)} "
        f"of {len(orders)} orders, and worse in {len(worse)}."
    )
    count = plan.settings["graphs"]
    problems = (problem_of(number, count, plan.settings["seed"]) for number in range(count))
    yield sentence("dream", coinciding(problems, plan.settings["orders"]), count)
    search = float(reached[SEARCH][None].mean())
    sweeps = plan.settings["sweeps"]
    yield f"search reaches {search:.3f} with as many evaluations as {sweeps} sweeps."
