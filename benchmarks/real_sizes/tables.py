"""Tables of results: a placer beside each of its rivals, losses first."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.real_sizes import best
from benchmarks.real_sizes.problems import Recipe
from benchmarks.real_sizes.results import (
    Ratios,
    Results,
    Values,
    array,
    best_of,
    capped,
    mean,
    pairs,
    ratios,
    uncapped_ratios,
)
from benchmarks.real_sizes.rivals import LATE
from streamplace.errors import UsageError
from streamplace.util.arrays import Bools
from streamplace.util.effect import Effect

LOWER, FAR_LOWER = 0.995, 0.98  # ratios below which a problem counts as lost, and is named
BINDING = 1.02  # best value known over what CPU allows, from which links bind
COLUMNS = 5  # rivals in the table of groups that goes into docs/results
NAMED = 20  # problems that the table of losses names there
BEST = "best known"
GROUPS: dict[str, Callable[[Recipe], object]] = {
    "family": lambda recipe: recipe.family,
    "operators": lambda recipe: recipe.operators,
    "devices": lambda recipe: recipe.devices,
    "network": lambda recipe: f"{recipe.network}, link {recipe.link:g}",
    "devices alike": lambda recipe: "equal" if recipe.equal else "unequal",
    "load": lambda recipe: recipe.load,
}


def _share(hits: Bools) -> str:
    return f"{100 * float(np.mean(hits)):.1f}%" if len(hits) else "-"


def print_table(files: Iterable[Path], placer: str, *, markdown: bool) -> None:
    """Print the tables of a placer beside every rival, for each of its limits."""
    results = Results.of(files)
    if not results.limits(placer):
        raise UsageError(f"the files have no results of {placer}")
    stored = {problem: each.value for problem, each in best.known().items()}
    least = capped(results.least)
    for limit in results.limits(placer):
        own, known = results.values[placer, limit], best_of(results, stored)
        names = results.rivals(placer, limit)
        others = {BEST: known, **{name: results.values[name, limit] for name in names}}
        rows = {name: some for name, values in others.items() if (some := ratios(own, values))}
        binding = {problem for problem in own if known[problem] > BINDING * least[problem]}
        _print_header(results, placer, limit)
        uncapped = {name: uncapped_ratios(own, others[name]) for name in rows}
        cpu_s = {name: results.cpu_s[name, limit] for name in rows if name != BEST}
        _print(_rival_lines(_with_timely(rows, cpu_s, limit), uncapped, binding, cpu_s))
        print()
        _print(_group_lines(dict(list(rows.items())[:COLUMNS]) if markdown else rows))
        print()
        below, most = (FAR_LOWER, NAMED) if markdown else (LOWER, len(own))
        _print(_losses({name: rows[name] for name in names if name in rows}, below, most))
        print()


def _print_header(results: Results, placer: str, limit: str) -> None:
    commits = ", ".join(sorted(results.commits[placer, limit]))
    seconds = array(results.cpu_s[placer, limit])
    used = f"{seconds.mean():.2f} CPU s in the mean, at most {seconds.max():.2f}"
    count = len(results.values[placer, limit])
    print(f"`{placer}` with {limit} each ({count} problems; commit {commits}; {used}):\n")


def _with_timely(
    rows: dict[str, Ratios], cpu_s: dict[str, Values], limit: str
) -> Iterator[tuple[str, str, Ratios]]:
    """Yield shown name, rival and ratios, also on the problems alone on which it is not late."""
    number, unit = limit.split()
    most_s = LATE * float(number) if unit == "s" else np.inf
    for name, some in rows.items():
        yield _shown(name), name, some
        timely = {p: ratio for p, ratio in some.items() if name == BEST or cpu_s[name][p] <= most_s}
        if 0 < len(timely) < len(some):
            yield "the same, where it keeps to the limit", name, timely


def _rival_lines(
    rows: Iterable[tuple[str, str, Ratios]],
    uncapped: dict[str, Ratios],
    binding: set[str],
    cpu_s: dict[str, Values],
) -> Iterator[list[str]]:
    """Yield a line for each rival; makespans have no offered rate, so no columns for it."""
    of_rates = ["where links bind", "without the limit by the rate"]
    has_rates = any(not Recipe.of(problem).batch for some in uncapped.values() for problem in some)
    yield [
        *("rival", "problems", "lower by > .5%", "by > 2%", "lowest", "higher by > .5%"),
        *("mean ratio", *(of_rates if has_rates else []), "its CPU s"),
    ]
    for shown, name, some in rows:
        found = array(some)
        freely = {problem: uncapped[name][problem] for problem in some}
        bound = {problem: ratio for problem, ratio in some.items() if problem in binding}
        bound_mean = f"{_interval(mean(bound))}, {len(bound)} problems"
        yield [
            *(shown, f"{len(found)}", _share(found < LOWER), _share(found < FAR_LOWER)),
            *(f"{found.min():.3f}", _share(found > 1 / LOWER), _interval(mean(some))),
            *([bound_mean, _interval(mean(freely))] if has_rates else []),
            "any" if name == BEST else f"{np.mean([cpu_s[name][problem] for problem in some]):.2f}",
        ]


def _shown(name: str) -> str:
    return name if name == BEST else f"`{name}`"


def _interval(effect: Effect) -> str:
    if np.isnan(effect.low):
        return f"{effect.mean:.3f}"
    return f"{effect.mean:.3f} [{effect.low:.3f}, {effect.high:.3f}]"


def _group_lines(rows: dict[str, Ratios]) -> Iterator[list[str]]:
    """Yield the mean ratio and the share of losses by group, one column for each rival."""
    yield ["by", "", *map(_shown, rows)]
    problems = {problem: Recipe.of(problem) for some in rows.values() for problem in some}
    for title, group in GROUPS.items():
        groups = {problem: group(recipe) for problem, recipe in problems.items()}
        for value in sorted(set(groups.values()), key=lambda v: (isinstance(v, str), v)):
            cells = []
            for some in rows.values():
                chosen = {p: ratio for p, ratio in some.items() if groups[p] == value}
                lost = _share(array(chosen) < LOWER)
                cells.append(f"{mean(chosen).mean:.3f} ({lost})" if chosen else "")
            yield [title, f"{value:,}" if isinstance(value, int) else f"{value}", *cells]


def _losses(rows: dict[str, Ratios], below: float, most: int) -> Iterator[list[str]]:
    """Yield a line for each problem on which a rival is better, the largest loss first."""
    lost: dict[str, dict[str, float]] = {}
    for name, some in rows.items():
        for problem in (problem for problem, ratio in some.items() if ratio < below):
            lost.setdefault(problem, {})[name] = some[problem]
    worst = sorted(lost, key=lambda problem: min(lost[problem].values()))
    yield [f"lower by more than {100 * (1 - below):.2g}% on", "ratio, largest loss first"]
    for problem in worst[:most]:
        ordered = sorted(lost[problem].items(), key=lambda item: item[1])
        shown = ", ".join(f"{ratio:.3f} `{name}`" for name, ratio in ordered)
        yield [Recipe.of(problem).words, shown]
    if len(worst) > most:
        yield [f"{len(worst) - most} more", ""]


def print_pairs(files: Iterable[Path]) -> None:
    """Print how often a problem has a worse value on more of its devices, and the mean."""
    results = Results.of(files)
    rows = [["placer", "limit", "pairs", "worse by > .5%", "worse at all", "mean ratio", "lowest"]]
    worst: list[str] = []
    for (placer, limit), values in results.values.items():
        found = pairs(values)
        if not found:
            continue
        some = array(found)
        rows.append(
            [
                *(f"`{placer}`", limit, f"{len(some)}", _share(some < LOWER)),
                *(_share(some < 1 - 1e-9), _interval(mean(found)), f"{some.min():.3f}"),
            ]
        )
        lost = sorted((ratio, pair) for pair, ratio in found.items() if ratio < FAR_LOWER)
        worst += [f"- {placer}, {limit}: {pair}: {ratio:.3f}" for ratio, pair in lost]
    _print(rows)
    print()
    print("\n".join(worst))


def _print(lines: Iterable[list[str]]) -> None:
    """Print a Markdown table whose first line is the header."""
    for number, cells in enumerate(lines):
        print(f"| {' | '.join(cells)} |")
        if not number:
            print("|---" * len(cells) + "|")
