"""The pairs as a page of Markdown, and a picture of each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals.loads import AUTOSCALER, BEGIN_S, QUIET_S, WATCH
from benchmarks.rivals.queries import QUERIES
from benchmarks.rivals.sharing import Key
from streamplace.pictures.style import legend_below, line, picture
from streamplace.util.arrays import Floats
from streamplace.util.effect import mean_intervals

PAGE = "RESULTS.md"
FIGURES: tuple[tuple[str, str, float, str], ...] = (
    ("served", "served within the load, %", 100.0, ".2f"),
    ("waiting_tuple_s", "waiting, thousands of tuple-seconds", 1e-3, ".1f"),
    ("behind_s", "more than 2 s of the rate waits, s", 1.0, ".1f"),
    ("paused_s", "without processing (pauses of 1 s or more), s", 1.0, ".1f"),
    ("slot_s", "slot-seconds", 1.0, ".0f"),
    ("rescales", "rescales", 1.0, ".2f"),
)
"""Name of a figure, what it is, its factor, and its format; less is better, except of the first."""
GOALS: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("served", "served", lambda ours, theirs: ours >= 0.99 * theirs),
    ("waiting_tuple_s", "waiting", lambda ours, theirs: ours <= theirs),
    ("slot_s", "slots", lambda ours, theirs: ours <= theirs),
    ("rescales", "rescales", lambda ours, theirs: ours <= theirs / 2),
)
"""Name of a figure, its short name, and whether the means of both reach the goal."""
SUMMARY = ("waiting_tuple_s", "slot_s", "rescales")
Row = Mapping[str, Any]
Pair = tuple[Row, Row]
"""The rows of `watch` and of the autoscaler."""


def key_of(row: Row) -> Key:
    """Return query, load and seed of a run."""
    return row["query"], row["load"], row["seed"]


def paired(rows: Sequence[Row]) -> list[Pair]:
    """Return the pairs of which both runs are there."""
    found = {(*key_of(row), row["rival"]): row for row in rows}
    keys = sorted({key[:3] for key in found})
    whole = [key for key in keys if all((*key, each) in found for each in (WATCH, AUTOSCALER))]
    return [(found[*key, WATCH], found[*key, AUTOSCALER]) for key in whole]


def page(pairs: Sequence[Pair], settings: Mapping[str, Any]) -> str:
    """Return the page of results."""
    families: dict[tuple[str, str], list[Pair]] = {}
    for both in pairs:
        families.setdefault(key_of(both[0])[:2], []).append(both)
    first = sum(ours["place"] == 1 for ours, _ in pairs)
    runs = [row for both in pairs for row in both]
    wrong = [row for row in runs if not row["exact"]]
    loads = [each for row in runs for each in row["load_average"]]
    commits = sorted({str(row["commit"]) for row in runs})
    lines = [
        "# The controller beside Apache Flink's autoscaler",
        "",
        "    make flink-rivals AUTOSCALER=FOLDER",
        "",
        f"Pairs: {len(pairs)}, of runs of {settings['seconds']:g} s on {settings['slots']} slots;",
        f"`watch` ran first in {first} of them. Commits: {', '.join(commits) or 'none'}.",
        f"The machine's load average was {min(loads, default=0):g} to {max(loads, default=0):g}.",
        "The autoscaler reads busy times that Flink averages over 60 s, at any scale. Controllers",
        f"begin after {BEGIN_S:g} s, and the load is constant for {QUIET_S - BEGIN_S:g} s more.",
        f"Results at the sink are missing or wrong in {len(wrong)} of {len(runs)} runs.",
        *(
            f"- {row['query']} {row['load']} {row['seed']} {row['rival']}: {row['fault']}"
            for row in wrong
        ),
        "",
        *_summary(families),
        "",
        "Where a cell has two means, the first is that of `watch`.",
        "Goals of the means: at least 99% of what the autoscaler serves, at most its tuple-seconds",
        "of waiting and its slot-seconds, and at most half its rescales.",
        "",
        "Differences below are `watch` less autoscaler, with 95% intervals of a paired bootstrap",
        "over the pairs; what is worse with `watch` comes first.",
    ]
    if len(families) > 1:
        lines += ["", f"## All pairs ({len(pairs)})", "", *_table(pairs)]
    for (query, load), some in sorted(families.items()):
        lines += ["", f"## {query}, {load} (pairs: {len(some)})", ""]
        lines += [f"The query: {QUERIES[query].what}.", "", *_table(some)]
    columns = ("setting", WATCH, AUTOSCALER)
    lines += ["", "## Settings", "", _row(columns), _row(["---"] * len(columns))]
    lines += [_row([each[name] for name in columns]) for each in settings["matched"]]
    return "\n".join([*lines, ""])


def _summary(families: Mapping[tuple[str, str], Sequence[Pair]]) -> list[str]:
    """Return a row for each job and load, those with the most missed goals first."""
    made = []
    for (query, load), pairs in families.items():
        means = {name: _values(pairs, name).mean(axis=1) for name, *_ in FIGURES}
        missed = [short for name, short, reached in GOALS if not reached(*means[name])]
        cells = [query, load, f"{len(pairs)}", ", ".join(missed)]
        for name, _, factor, form in FIGURES:
            if name in SUMMARY:
                cells.append(" / ".join(f"{each * factor:{form}}" for each in means[name]))
        made.append((-len(missed), query, load, _row(cells)))
    whats = [what for name, what, *_ in FIGURES if name in SUMMARY]
    head = _row(["job", "load", "pairs", "goals missed", *whats])
    rule = _row(["---", "---", "---:", "---", *["---:"] * len(whats)])
    return [head, rule, *(text for *_, text in sorted(made))]


def _table(pairs: Sequence[Pair]) -> list[str]:
    values = {name: _values(pairs, name) * factor for name, _, factor, _ in FIGURES}
    differences = {name: each[0] - each[1] for name, each in values.items()}
    intervals = mean_intervals(np.array(list(differences.values())))
    made: list[tuple[bool, str]] = []
    for (name, what, _, form), (low, high) in zip(FIGURES, intervals, strict=True):
        ours, theirs = values[name].mean(axis=1)
        mean = f"{differences[name].mean():+{form}}"
        worse = float(mean) < 0.0 if name == "served" else float(mean) > 0.0  # as it is printed
        few = "one pair" if len(pairs) == 1 else "two pairs"
        interval = few if np.isnan(low) else f"{low:+{form}} to {high:+{form}}"
        cells = [what, f"{ours:{form}}", f"{theirs:{form}}", f"{mean} ({interval})"]
        made.append((not worse, _row([*cells, "worse" if worse else ""])))
    head = ("mean of the runs", WATCH, AUTOSCALER, "difference", "")
    ordered = [text for _, text in sorted(made, key=lambda each: each[0])]
    return [_row(head), _row(["---", "---:", "---:", "---:", "---"]), *ordered]


def _values(pairs: Sequence[Pair], name: str) -> Floats:
    return np.array([[float(row[name]) for row in side] for side in zip(*pairs, strict=True)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def draw(pair: Pair, path: Path) -> None:
    """Draw a pair: the load, what waits, and slots, with the rescales of both controllers."""
    with picture(path, (7.2, 6.0)) as figure:
        load, waiting, slots = figure.subplots(3, sharex=True)
        times, rates = zip(*pair[0]["over_time"]["load"], strict=True)
        end_s = len(pair[0]["over_time"]["waiting"])
        load.step([*times, end_s], [*rates, rates[-1]], where="post", color="black")
        load.set_ylabel("offered tuples/s")
        load.set_ylim(bottom=0.0)
        drawn = []
        for i, row in enumerate(pair):
            look = {k: v for k, v in line(i).items() if not k.startswith("marker")}
            over = row["over_time"]
            drawn += waiting.plot(np.arange(end_s), over["waiting"], **look)
            at_s, used = zip(*over["slots"], strict=True)
            slots.step([*at_s, end_s], [*used, used[-1]], where="post", **look)
            for at, _ in over["rescales"]:
                slots.axvline(at, alpha=0.6, **look)
        waiting.set_ylabel("waiting tuples")
        slots.set_ylabel("slots in use")
        slots.set_ylim(bottom=0.0)
        slots.set_xlabel("seconds; vertical lines: rescales")
        load.set_title(f"{pair[0]['query']}, {pair[0]['load']}, seed {pair[0]['seed']}")
        legend_below(figure, drawn, [WATCH, AUTOSCALER])
