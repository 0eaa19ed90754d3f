"""Tables and curves of changing clusters (Figure 6) and of trainings (Figures 14 and 15)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from streamplace.papers.giph.study.adaptivity import CHECKPOINTS, RNN
from streamplace.papers.giph.study.systems import HEFT
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.table import Cell, Table
from streamplace.pictures.style import GREY, legend_below, line, picture
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

PANEL = (4.4, 3.4)  # width and height in inches

Panels = Mapping[str, Mapping[str, tuple[Sequence[float], Floats]]]
"""Title of a panel -> name of a system -> x and y of its curve."""

PARTS = 4  # of the sequence of changes

Makespans = dict[str, dict[str, tuple[Floats, Floats]]]
"""Protocol -> system -> makespans over HEFT's and over the longest path, (G, C) each.

There are G graphs, and C clusters: the one before all changes, and one after each.
"""


def curves_picture(path: Path, panels: Panels, labels: tuple[str, str]) -> None:
    """Draw curves with a line at 1.

    Parameters
    ----------
    labels
        Of the axes x and y.
    """
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    with picture(path, (PANEL[0] * len(panels), PANEL[1] + 0.5)) as figure:
        every = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        lines = {}
        for axes, (title, curves) in zip(every, panels.items(), strict=True):
            axes.axhline(1.0, color=GREY, linewidth=0.9)
            for name, (x, y) in curves.items():
                lines[name] = axes.plot(x, y, **line(names.index(name)))[0]
            whole = all(float(x).is_integer() for xs, _ in curves.values() for x in xs)
            axes.xaxis.get_major_locator().set_params(integer=whole)
            axes.set_title(title)
            axes.set_xlabel(labels[0])
        every[0].set_ylabel(labels[1])
        legend_below(figure, [lines[name] for name in names], names)


def makespans_of(rows: Sequence[Row]) -> Makespans:
    """Return what each system reaches, as means over its training seeds and networks.

    A network counts once all systems have placed on it, besides the RNN placer.
    """
    placed: dict[int, set[str]] = {}
    for row in rows:
        if "changing" in row and row["system"] != RNN:
            placed.setdefault(row["repeat"], set()).add(row["system"])
    most = max(map(len, placed.values()), default=0)
    found: dict[tuple[str, str], dict[int, list[Row]]] = {}
    heft: dict[tuple[str, int, int, int], float] = {}
    for row in rows:
        if "changing" in row and len(placed[row["repeat"]]) == most:
            found.setdefault((row["changing"], row["system"]), {}).setdefault(
                row["graph"], []
            ).append(row)
            if row["system"] == HEFT:
                heft[_place(row)] = row["makespan_s"]
    made: Makespans = {}
    for (protocol, system), graphs in found.items():
        values = [[_means(of, heft) for of in _by_change(own)] for own in graphs.values()]
        over, slr = np.moveaxis(np.array(values), 2, 0)
        made.setdefault(protocol, {})[system] = over, slr
    return made


def _place(row: Row) -> tuple[str, int, int, int]:
    return row["changing"], row["repeat"], row["graph"], row["change"]


def _by_change(rows: Sequence[Row]) -> list[list[Row]]:
    changes = sorted({int(row["change"]) for row in rows})
    return [[row for row in rows if row["change"] == change] for change in changes]


def _means(rows: Sequence[Row], heft: Mapping[tuple[str, int, int, int], float]) -> Floats:
    pairs = [
        (row["makespan_s"] / heft[_place(row)], row["makespan_s"] / row["longest_s"])
        for row in rows
    ]
    mean: Floats = np.mean(np.array(pairs), axis=0)
    return mean


def adaptivity_table(found: Makespans) -> Iterator[Table]:
    """Yield the table of all protocols, the shortest makespan of each first; none without rows."""
    rows: list[tuple[str, Sequence[Cell]]] = []
    parts: list[str] = []
    for protocol, systems in found.items():
        by_level = sorted(systems.items(), key=lambda each: float(each[1][0].mean()))
        for system, (over, slr) in by_level:
            level = Effect.of(over.mean(axis=1))
            pieces = np.array_split(slr.mean(axis=0)[1:], PARTS)
            counts = np.cumsum([1, *map(len, pieces)]).tolist()
            parts = [f"SLR after changes {a} to {b - 1}" for a, b in pairwise(counts)]
            cells = (protocol, len(over), level.mean, level.interval)
            means = [float(piece.mean()) if len(piece) else None for piece in pieces]
            rows.append((system, (*cells, *means)))
    if rows:
        head = ("system", "protocol", "graphs", "makespan / HEFT's", "interval", *parts)
        caption = (
            "placed anew after each change, from a random placement with two evaluations per "
            "operator: means, with 95% intervals over graphs; SLR over the longest path"
        )
        yield Table("adaptivity", caption, head, rows)


def learning_of(rows: Sequence[Row]) -> dict[str, dict[int, Floats]]:
    """Return makespans over HEFT's by system and episodes, (N,) means over its training seeds."""
    found: dict[str, dict[int, list[list[float]]]] = {}
    for row in rows:
        if "learning" in row:
            of = found.setdefault(row["system"], {})
            of.setdefault(row["episodes"], []).append(row["over_heft"])
    return {
        system: {episodes: np.mean(np.array(each), axis=0) for episodes, each in of.items()}
        for system, of in found.items()
    }


def learning_table(found: Mapping[str, Mapping[int, Floats]]) -> Iterator[Table]:
    """Yield the table of all trainings; none without rows."""
    if found:
        rows = [
            (system, [float(of[n].mean()) if n in of else None for n in CHECKPOINTS])
            for system, of in found.items()
        ]
        head = ("system", *(f"{n:,} episodes" for n in CHECKPOINTS))
        caption = (
            "makespan over HEFT's on test cases of ten networks, after some episodes of training"
        )
        yield Table("learning", caption, head, rows, best=dict.fromkeys(head[1:], min))


def panels_of(found: Makespans) -> Panels:
    """Return the mean SLR after each change, a panel for each protocol."""
    return {
        f"protocol {protocol}": {
            system: (range(slr.shape[1]), slr.mean(axis=0)) for system, (_, slr) in systems.items()
        }
        for protocol, systems in found.items()
    }


def learning_panels(found: Mapping[str, Mapping[int, Floats]]) -> Panels:
    """Return the mean makespans over HEFT's of systems that are trained, in one panel."""
    curves = {
        system: (list(of), np.array([values.mean() for values in of.values()]))
        for system, of in found.items()
        if len(of) > 1
    }
    return {"ten networks": curves}


def changes_of(rows: Sequence[Row]) -> dict[str, dict[str, Effect]]:
    """Return makespans on changing clusters over a search from scratch, by protocol and system.

    The unit of the intervals is a graph: the training seeds have the same graphs.
    """
    ratios: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in rows:
        graphs = ratios.setdefault((row["protocol"], row["system"]), {})
        graphs.setdefault(row["graph"], []).append(row["makespan_s"] / row["from_scratch_s"])
    made: dict[str, dict[str, Effect]] = {}
    for (protocol, system), graphs in ratios.items():
        over = Effect.of(np.array([np.mean(values) for values in graphs.values()]))
        made.setdefault(protocol, {})[system] = over
    return made


def changes_findings(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what each system reaches on changing clusters, under each protocol."""
    for protocol, systems in changes_of(rows).items():
        reached = "; ".join(f"{system} {over}" for system, over in systems.items())
        yield (
            f"After each change by the protocol of the {protocol}, the makespan over that of a "
            f"search from scratch: {reached}."
        )


def changes_table(rows: Sequence[Row]) -> Table:
    """Return what each system reaches on the changing clusters."""
    head = (
        "system",
        "protocol",
        "makespan / search from scratch",
        "interval",
        "unforced relocations per change",
        "relocation cost per change, s",
    )
    made: list[tuple[str, Sequence[Cell]]] = []
    for protocol, systems in changes_of(rows).items():
        for system, over in systems.items():
            own = [row for row in rows if (row["protocol"], row["system"]) == (protocol, system)]
            moves, cost = (
                float(np.mean([row[k] for row in own])) for k in ("moves", "relocation_s")
            )
            made.append((system, (protocol, over.mean, over.interval, moves, cost)))
    return Table("changes", "after each change of a cluster of 20 devices", head, made)
