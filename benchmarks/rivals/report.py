"""The pairs as a page of Markdown, and a picture of each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rivals.loads import AUTOSCALER, WATCH
from streamplace.files.atomic import make_folder, write_text
from streamplace.plots.style import legend_below, line, picture
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
Row = Mapping[str, Any]
Pair = tuple[Row, Row]
"""The rows of `watch` and of the autoscaler."""


def write(rows: Sequence[Row], settings: Mapping[str, Any], folder: Path, pictures: Path) -> None:
    """Write the page of all whole pairs into a folder, and their pictures into another one."""
    pairs = paired(rows)
    write_text(folder / PAGE, page(pairs, settings))
    for both in pairs:
        one = both[0]
        draw(both, make_folder(pictures) / f"{one['query']}-{one['load']}-{one['seed']}.svg")


def paired(rows: Sequence[Row]) -> list[Pair]:
    """Return the pairs of which both runs are there."""
    found = {(row["query"], row["load"], row["seed"], row["rival"]): row for row in rows}
    keys = sorted({key[:3] for key in found})
    whole = [key for key in keys if all((*key, each) in found for each in (WATCH, AUTOSCALER))]
    return [(found[*key, WATCH], found[*key, AUTOSCALER]) for key in whole]


def page(pairs: Sequence[Pair], settings: Mapping[str, Any]) -> str:
    """Return the page of results."""
    families = sorted({(ours["query"], ours["load"]) for ours, _ in pairs})
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
        f"Results at the sink are wrong in {len(wrong)} of {len(runs)} runs.",
        *(
            f"- {row['query']} {row['load']} {row['seed']} {row['rival']}: {row['fault']}"
            for row in wrong
        ),
        "",
        "Differences are `watch` less autoscaler, with 95% intervals of a paired bootstrap over",
        "the pairs; what is worse with `watch` comes first.",
    ]
    for query, load in families:
        some = [both for both in pairs if (both[0]["query"], both[0]["load"]) == (query, load)]
        lines += ["", f"## {query}, {load} (pairs: {len(some)})", "", *_table(some)]
    if len(families) > 1:
        lines += ["", "## All pairs", "", *_table(pairs)]
    columns = ("setting", WATCH, AUTOSCALER)
    lines += ["", "## Settings", "", _row(columns), _row(["---"] * len(columns))]
    lines += [_row([each[name] for name in columns]) for each in settings["matched"]]
    return "\n".join([*lines, ""])


def _table(pairs: Sequence[Pair]) -> list[str]:
    values = {name: _values(pairs, name) * factor for name, _, factor, _ in FIGURES}
    differences = {name: each[0] - each[1] for name, each in values.items()}
    intervals = mean_intervals(np.array(list(differences.values())))
    made: list[tuple[bool, str]] = []
    for (name, what, _, form), (low, high) in zip(FIGURES, intervals, strict=True):
        ours, theirs = values[name].mean(axis=1)
        mean = f"{differences[name].mean():+{form}}"
        worse = float(mean) < 0.0 if name == "served" else float(mean) > 0.0  # as it is printed
        interval = f"{low:+{form}} to {high:+{form}}" if len(pairs) > 1 else "one pair"
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
