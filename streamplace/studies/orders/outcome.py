"""Tables, pictures and findings of the study of traversal orders."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from streamplace.studies.orders.coincidence import coinciding, sentence
from streamplace.studies.orders.guidelines import (
    HOLDS,
    MIN_GRAPHS,
    Verdict,
    verdicts,
)
from streamplace.studies.orders.published import CHECKPOINTS, ORDERS, WINS
from streamplace.studies.orders.registered import ALL_ORDERS, problem_of
from streamplace.studies.orders.results import (
    BY_ORDER,
    PLACETO,
    RANDOM_POLICY,
    WITHOUT_ORDERS,
    Results,
    by_graph,
    results_of,
)
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table
from streamplace.util.effect import Effect
from streamplace.util.text import counted

TITLE = "Traversal orders in device placement with Placeto"
INTERVAL = ("means", "95% intervals")
STRONG = (("nmt", "reversed-topo-lifo"), ("enas-ptb", "bfs"))
"""The two strong published effects: a family, and the order that wins on most of its graphs."""


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the outcome of the study from its results."""
    results = results_of(plan, rows)
    judged = list(verdicts(results))
    tables = (
        _wins(results, plan.settings["graphs"]),
        *(_over_best(results, method) for method in BY_ORDER),
        _over_random_policy(results),
        _guidelines(judged),
    )
    findings = (*_findings(results, judged), *_coincidences(plan))
    return Outcome(TITLE, findings, tables, _pictures(results))


def _steps(results: Sequence[Results]) -> Iterator[tuple[str, Results, int]]:
    """Yield the name of a row, its results and the number of its checkpoint."""
    for one in results:
        for c in range(len(one.checkpoints)):
            yield f"{one.name}, {one.sweeps(c)}", one, c


def _wins(results: Sequence[Results], graphs: int) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    for name, one, c in _steps(results):
        rows.append((name, list(zip(one.wins(c), _published(one, c), strict=True))))
    variants = (f"measured on {counted(graphs, 'graph')}", "published on 32 graphs")
    caption = (
        "graphs on which an order has Placeto's lowest mean makespan; the first order wins a tie"
    )
    return Table("wins", caption, ("problems", *ORDERS), rows, variants)


def _published(one: Results, c: int) -> Sequence[int | None]:
    """Return the published wins after as many sweeps, or Nones."""
    rows = WINS.get((one.family, one.devices))
    if rows is None or one.checkpoints[c] not in CHECKPOINTS:
        return (None,) * len(ORDERS)
    return rows[CHECKPOINTS.index(one.checkpoints[c])]


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
    return Table("over-random-policy", caption, ("problems", *methods), rows, INTERVAL)


def _guidelines(judged: Sequence[Verdict]) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = [
        (each.guideline, [each.compared, each.effect.cell() if each.effect else None, each.word])
        for each in judged
    ]
    head = ("guideline", "makespans compared", "ratio", "verdict")
    return Table("guidelines", "published guidelines, with Placeto", head, rows, INTERVAL)


def _findings(results: Sequence[Results], judged: Sequence[Verdict]) -> Iterator[str]:
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
    counts = Counter(each.word for each in judged)
    listed = ", ".join(_verdicts_text(word, count) for word, count in counts.items())
    yield f"Of {len(judged)} tests of published guidelines, {listed}."


def _verdicts_text(word: str, count: int) -> str:
    if word == HOLDS:
        return f"{count} {'holds' if count == 1 else 'hold'}"
    return f"{count} {'is' if count == 1 else 'are'} {word}"


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
    word = "confirmed" if effect.high < 1.0 else "refuted" if effect.low > 1.0 else "undecided"
    policy = one.means(RANDOM_POLICY)[..., c]
    own = policy[:, ALL_ORDERS.index(order)]
    rest = policy[:, [ALL_ORDERS.index(name) for name in others]].mean(axis=1)
    of_random = Effect.of(own / rest)
    return (
        f"{one.name}: {order} is {word} after {one.sweeps(c)}; its makespan is "
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
        f"orders-{sweeps}": partial(_draw, results, c)
        for c, sweeps in enumerate(results[0].checkpoints)
    }


def _draw(results: Sequence[Results], checkpoint: int, path: Path) -> None:
    from streamplace.studies.orders.picture import orders_picture  # noqa: PLC0415 - heavy

    orders_picture(path, results, checkpoint)
