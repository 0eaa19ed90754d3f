"""Tables, pictures and findings of the study of traversal orders."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist

from streamplace.papers.orders.study.coincidence import coinciding, sentence
from streamplace.papers.orders.study.registered import (
    ALL_ORDERS,
    CHECKPOINTS,
    ORDERS,
    WINS,
    problem_of,
)
from streamplace.papers.orders.study.results import (
    BY_ORDER,
    PLACETO,
    RANDOM_POLICY,
    WITHOUT_ORDERS,
    Results,
    by_graph,
    extremes,
    results_of,
    variants_of,
)
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.table import Cell, Table
from streamplace.pictures.style import COLOURS, GREY, MARKERS, legend_below, picture
from streamplace.util.arrays import Bools, Floats
from streamplace.util.effect import Effect
from streamplace.util.text import counted

BACKWARD = ("reversed-topo-lifo", "dfs-postorder")
ADVICE = {"enas-cifar": BACKWARD, "nmt": BACKWARD[:1], "enas-ptb": ("bfs",)}
"""The orders that the paper advises for each family."""
DEPTH_FIRST, TOPOLOGICAL = ("dfs-preorder", "dfs-postorder"), ("topo-lifo", "reversed-topo-lifo")
LONG = 100  # streams on the longest path from which a graph has a long diameter
VANISHED = 0.07  # differences that another system saw with an ample budget
MIN_GRAPHS = 6  # fewer are all on one side of equality by chance in more than 5% of cases
PANEL = (3.9, 3.0)  # width and height in inches
SHIFT = 0.16  # of the points of the second method
UNIFORM = "uniformly random devices"
TITLE = "Traversal orders in device placement with Placeto"
INTERVAL = ("means", "95% intervals")

STRONG = (("nmt", "reversed-topo-lifo"), ("enas-ptb", "bfs"))
"""The two strong published effects: a family, and the order that wins on most of its graphs."""


@dataclass(frozen=True)
class Guideline:
    """What the results say about a guideline.

    Parameters
    ----------
    advice
        The advice, as published.
    compared
        The two mean makespans whose ratio is the effect.
    effect
        Their ratio, below 1 if the guideline holds; of the last guideline, below 1 plus `VANISHED`.
        None if fewer than `MIN_GRAPHS` graphs test it. Its interval is over graphs alone.
    """

    advice: str
    compared: str
    effect: Effect | None


def guidelines(results: Sequence[Results], method: str = PLACETO) -> Iterator[Guideline]:
    """Yield the ratio of each guideline with a method, at the first checkpoint and at the last."""
    last = len(results[0].checkpoints) - 1
    for c in dict.fromkeys((0, last)):
        sweeps = results[0].sweeps(c)
        yield _compared(f"Start with a backward order ({sweeps})", results, BACKWARD, c, method)
        for family, orders in ADVICE.items():
            mine = [one for one in results if one.family == family]
            yield _compared(f"{family}: {' or '.join(orders)} ({sweeps})", mine, orders, c, method)
        cifar = [one for one in results if one.family == "enas-cifar"]
        yield _compared(
            f"enas-cifar, longest path up to {LONG}: depth-first orders ({sweeps})",
            cifar,
            DEPTH_FIRST,
            c,
            method,
            TOPOLOGICAL,
            lambda paths: paths <= LONG,
        )
        yield _compared(
            f"enas-cifar, longest path above {LONG}: topological orders ({sweeps})",
            cifar,
            TOPOLOGICAL,
            c,
            method,
            DEPTH_FIRST,
            lambda paths: paths > LONG,
        )
    yield _vanishing(results, last, method)


def _compared(
    advice: str,
    results: Sequence[Results],
    orders: Sequence[str],
    checkpoint: int,
    method: str,
    others: Sequence[str] | None = None,
    chosen: Callable[[Floats], Bools] | None = None,
) -> Guideline:
    """Compare orders with others, by default with all other published ones."""
    rest = others or [name for name in ORDERS if name not in orders]
    compared = f"{', '.join(orders)} over {', '.join(rest) if others else 'the other published'}"
    values = [one.between(orders, rest, checkpoint, method) for one in results]
    if chosen is not None:
        values = [
            each[chosen(one.longest_paths)] for each, one in zip(values, results, strict=True)
        ]
    ratios = by_graph(results, values)
    if len(ratios) < MIN_GRAPHS:
        return Guideline(advice, compared, None)
    return Guideline(advice, compared, Effect.of(ratios))


def _vanishing(results: Sequence[Results], checkpoint: int, method: str) -> Guideline:
    """Compare the worst with the best published order; see `extremes`."""
    sweeps = results[0].sweeps(checkpoint)
    advice = f"With an ample budget, differences vanish (below {VANISHED:.0%} after {sweeps})"
    compared = "the worst published order over the best one, by the other graphs"
    own = [ALL_ORDERS.index(name) for name in ORDERS]
    spreads = []
    for one in results:
        over = one.over_best[method][:, own, checkpoint]
        if len(over) < MIN_GRAPHS:
            return Guideline(advice, compared, None)
        best, worst = extremes(over)
        spreads.append(worst / best)
    return Guideline(advice, compared, Effect.of(by_graph(results, spreads)))


def orders_picture(path: Path, results: Sequence[Results], checkpoint: int) -> None:
    """Draw makespans over those of the best order, with 95% intervals, a panel per family and size.

    Parameters
    ----------
    checkpoint
        The number of the checkpoint.
    """
    families = list(dict.fromkeys(one.family for one in results))
    sizes = list(dict.fromkeys(one.devices for one in results))
    size = PANEL[0] * len(families), PANEL[1] * len(sizes) + 0.5
    with picture(path, size) as figure:
        panels = figure.subplots(len(sizes), len(families), squeeze=False, sharex=True)
        drawn: list[Artist] = []
        for one in results:
            axes = panels[sizes.index(one.devices), families.index(one.family)]
            axes.axhline(1.0, color=GREY, linewidth=0.9)
            drawn = []
            for m, method in enumerate(BY_ORDER):
                over = one.over_best[method][..., checkpoint]
                effects = [Effect.of(over[:, o]) for o in range(len(ALL_ORDERS))]
                mean = np.array([each.mean for each in effects])
                ends = np.array([(e.mean - e.low, e.high - e.mean) for e in effects]).T
                at = np.arange(len(ALL_ORDERS)) + (2 * m - 1) * SHIFT
                style = {"color": COLOURS[m], "marker": MARKERS[m], "capsize": 2.5}
                bars = axes.errorbar(at, mean, np.maximum(ends, 0.0), fmt=" ", **style)
                drawn.append(bars.lines[0])
            axes.set_title(one.name)
            axes.set_xticks(range(len(ALL_ORDERS)), ALL_ORDERS, rotation=40, ha="right")
        for row in panels:
            row[0].set_ylabel("makespan / best order's")
        titles = [f"{method}, after {results[0].sweeps(checkpoint)}" for method in BY_ORDER]
        legend_below(figure, drawn, titles)


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the outcome of the study from its results."""
    results = results_of(plan, rows)
    variants = list(variants_of(plan, rows))
    tables = (
        _wins(results, variants, plan.settings["graphs"]),
        _strong(results, variants),
        *(_over_best(results, method) for method in BY_ORDER),
        _over_random_policy(results),
        _guidelines(results),
    )
    findings = (*_findings(results), *_coincidences(plan))
    return Outcome(TITLE, findings, tables, _pictures(results))


def _steps(results: Sequence[Results]) -> Iterator[tuple[str, Results, int]]:
    """Yield the name of a row, its results and the number of its checkpoint."""
    for one in results:
        for c in range(len(one.checkpoints)):
            yield f"{one.name}, {one.sweeps(c)}", one, c


def _wins(
    results: Sequence[Results], variants: Sequence[tuple[str, Results]], graphs: int
) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    named = [("", one) for one in results] + [(f", {what}", one) for what, one in variants]
    for what, one in named:
        some = len(one.longest_paths)
        where = what if some == graphs else f"{what}, {counted(some, 'graph')}"
        for name, _, c in _steps([one]):
            published = _published(one, c)
            rows.append((f"{name}{where}", list(zip(one.wins(c), published, strict=True))))
            control = list(zip(one.wins(c, RANDOM_POLICY), (None,) * len(ORDERS), strict=True))
            rows.append((f"{name}{where}, {UNIFORM}", control))
    values = (f"measured on {counted(graphs, 'graph')}", "published on 32 graphs")
    caption = (
        "graphs on which an order has Placeto's lowest mean makespan; the first order wins a tie"
    )
    return Table("wins", caption, ("problems", *ORDERS), rows, values)


def _published(one: Results, c: int) -> Sequence[int | None]:
    """Return the published wins after as many sweeps, or Nones."""
    rows = WINS.get((one.family, one.devices))
    if rows is None or one.checkpoints[c] not in CHECKPOINTS:
        return (None,) * len(ORDERS)
    return rows[CHECKPOINTS.index(one.checkpoints[c])]


def _strong(results: Sequence[Results], variants: Sequence[tuple[str, Results]]) -> Table:
    """Return the two strong published effects, as measured and in the variants."""
    rows: list[tuple[str, Sequence[Cell]]] = []
    for family, order in STRONG:
        named = [("", one) for one in results] + [(f", {what}", one) for what, one in variants]
        for what, one in named:
            for c in range(len(one.checkpoints)) if one.family == family else ():
                others = [name for name in ORDERS if name != order]
                cells = [Effect.of(one.between([order], others, c, m)).cell() for m in BY_ORDER]
                rows.append((f"{order} on {one.name}, {one.sweeps(c)}{what}", cells))
    caption = "makespan with an order over the mean of those with the other published ones"
    return Table("strong-effects", caption, ("effect", PLACETO, UNIFORM), rows, INTERVAL)


def _over_best(results: Sequence[Results], method: str) -> Table:
    rows = [
        (name, [Effect.of(one.over_best[method][:, o, c]).cell() for o in range(len(ALL_ORDERS))])
        for name, one, c in _steps(results)
    ]
    caption = f"makespan of {method} with an order over that of the best of all orders"
    name = f"over-best-{method.lower().replace(' ', '-')}"
    return Table(name, caption, ("problems", *ALL_ORDERS), rows, INTERVAL)


def _over_random_policy(results: Sequence[Results]) -> Table:
    methods = (PLACETO, *WITHOUT_ORDERS)
    rows = [
        (name, [Effect.of(one.over_random_policy(m, c)).cell() for m in methods])
        for name, one, c in _steps(results)
    ]
    caption = "makespan over that of the random policy; climb and search at equal evaluations"
    head = ("problems", *methods)
    return Table("over-random-policy", caption, head, rows, INTERVAL, best_in_row=min)


def _guidelines(results: Sequence[Results]) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = [
        (
            each.advice,
            [each.compared, *(one.effect and one.effect.cell() for one in (each, control))],
        )
        for each, control in zip(*(guidelines(results, m) for m in BY_ORDER), strict=True)
    ]
    head = ("guideline", "makespans compared", PLACETO, UNIFORM)
    return Table("guidelines", "ratios of the published guidelines", head, rows, INTERVAL)


def _findings(results: Sequence[Results]) -> Iterator[str]:
    last = len(results[0].checkpoints) - 1
    sweeps = results[0].sweeps(last)
    graphs = len(results[0].longest_paths)
    if graphs < MIN_GRAPHS:
        of_each = f"{counted(graphs, 'graph')} of each family"
        yield f"{of_each} cannot decide anything: these results only show what the study prints."
    for family, order in STRONG:
        for one in results:
            if one.family == family:
                yield _strong_effect(one, order, last)
    better = [r.name for r in results if Effect.of(r.over_random_policy(PLACETO, last)).high < 1.0]
    yield (
        f"After {sweeps}, Placeto is better than the uniformly random policy with 95% "
        f"confidence on {len(better)} of {len(results)} sets of problems"
        + (f": {'; '.join(better)}." if better else ".")
    )
    yield _by_family(results, last)
    for method in WITHOUT_ORDERS:
        ahead = [
            Effect.of(one.over_random_policy(method, last) / one.over_random_policy(PLACETO, last))
            for one in results
        ]
        shorter = sum(effect.high < 1.0 for effect in ahead)
        longer = sum(effect.low > 1.0 for effect in ahead)
        low, high = (f(effect.mean for effect in ahead) for f in (min, max))
        yield (
            f"{method} has {low:.3f} to {high:.3f} of Placeto's makespan: with 95% confidence "
            f"shorter on {shorter} of {len(results)} sets of problems, longer on {longer}."
        )


def _by_family(results: Sequence[Results], c: int) -> str:
    """Return a sentence about Placeto over the uniformly random policy, by family."""
    effects = {}
    for family in dict.fromkeys(one.family for one in results):
        mine = [one for one in results if one.family == family]
        effects[family] = Effect.of(
            by_graph(mine, [one.over_random_policy(PLACETO, c) for one in mine])
        )
    better = sum(effect.high < 1.0 for effect in effects.values())
    worse = sum(effect.low > 1.0 for effect in effects.values())
    listed = ", ".join(f"{effect} on {family}" for family, effect in effects.items())
    return (
        "Placeto's makespan over that of the uniformly random policy, with all numbers of devices "
        f"together: {listed}; with 95% confidence shorter on {better} of "
        f"{len(effects)} families, longer on {worse}."
    )


def _strong_effect(one: Results, order: str, c: int) -> str:
    others = [name for name in ORDERS if name != order]
    effect = Effect.of(one.between([order], others, c))
    policy = one.means(RANDOM_POLICY)[..., c]
    own = policy[:, ALL_ORDERS.index(order)]
    rest = policy[:, [ALL_ORDERS.index(name) for name in others]].mean(axis=1)
    of_random = Effect.of(own / rest)
    return (
        f"{one.name}: after {one.sweeps(c)}, the makespan with {order} is "
        f"{effect} of that of the other published orders with Placeto, and "
        f"{of_random} with the uniformly random policy, which learns nothing."
    )


def _coincidences(plan: Plan) -> Iterator[str]:
    """Yield, for each family, which orders of its graphs coincide."""
    settings = plan.settings
    for family in settings["families"]:
        problems = (
            problem_of(family, number, settings["devices"][0], settings["seed"])
            for number in range(settings["graphs"])
        )
        pairs = coinciding(problems, settings["orders"])
        yield sentence(family, pairs, settings["graphs"])


def _pictures(results: Sequence[Results]) -> Mapping[str, Callable[[Path], None]]:
    return {
        f"orders-{sweeps}": partial(orders_picture, results=results, checkpoint=c)
        for c, sweeps in enumerate(results[0].checkpoints)
    }
