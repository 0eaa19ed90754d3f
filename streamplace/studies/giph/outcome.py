"""The outcome of the study: tables with the published figures, what they show, and curves."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from streamplace.studies.effect import Effect
from streamplace.studies.giph.experiments import DRAWN, PAPER_RANGES, SEVERAL, SINGLE
from streamplace.studies.giph.fusion import fusion_figures, fusion_findings, fusion_tables
from streamplace.studies.giph.plain import CLIMB, HEFT, RANDOM
from streamplace.studies.giph.published import SECONDS, WINS
from streamplace.studies.giph.registered import GIPH, OURS, SYSTEMS
from streamplace.studies.giph.results import Tested, results_of
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table

TITLE = "GiPH (MLSys 2023): relocations, its ablations and plain placers"
Results = Mapping[tuple[str, str], Tested]
SETTINGS = {SINGLE: "one network", SEVERAL: "ten networks"}
DEPTHS = ((0, 12), (13, 20), (21, 30), (31, 1000))  # streams on the longest path


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the pictures and what they show."""
    results, fused = results_of(rows), fusion_figures(rows)
    changed = [row for row in rows if "protocol" in row]
    tables = (
        *(_makespans(name, results[setting, setting]) for setting, name in SETTINGS.items()),
        _wins(results),
        _depths(results),
        _others(results),
        *fusion_tables(fused),
        _changes(changed),
    )
    named = {name: results[setting, setting] for setting, name in SETTINGS.items()}
    findings = (*_findings(results), *fusion_findings(fused))
    return Outcome(TITLE, findings, tables, {"curves": partial(_draw, named)})


def _draw(named: Mapping[str, Tested], path: Path) -> None:
    from streamplace.studies.giph.picture import curves_picture  # noqa: PLC0415 - heavy

    curves_picture(path, named)


def _makespans(name: str, found: Tested) -> Table:
    head = (
        "system",
        "makespan / HEFT's",
        "interval",
        "makespan / best random one's",
        "SLR",
        "SLR, shortest path",
        "ms of CPU per case",
        "ms per relocation",
        "published",
    )
    moves = 2.0 * float(found.operators.mean())
    rows: list[tuple[str, Sequence[Cell]]] = []
    for system in found.losses:
        over, slr = found.over(system, HEFT), found.slr(system)
        spent = 1e3 * found.seconds[system]
        per_move = spent / moves if system in SYSTEMS else None
        published = 1e3 * SECONDS[system] if system in SECONDS else None
        random = found.over(system, RANDOM).mean
        rows.append((system, (over.mean, over.interval, random, *slr, spent, per_move, published)))
    rows.sort(key=lambda row: float(str(row[1][0])))
    caption = f"test cases on {name}: means after two evaluations per operator, with 95% intervals"
    return Table(f"makespans-{name.replace(' ', '-')}", caption, head, rows)


def _wins(results: Results) -> Table:
    """Return Table 6 of the paper beside our counts."""
    counted = [(system, test) for test in (DRAWN, PAPER_RANGES) for system in (GIPH, OURS)]
    head = ("rival", f"{GIPH}, published", *(f"{system}, {test}" for system, test in counted))
    rows: list[tuple[str, Sequence[Cell]]] = []
    for rival in results[SEVERAL, DRAWN].losses:
        published = _shares(WINS[rival]) if rival in WINS else None
        cells = [
            None if rival == system else _shares(results[SEVERAL, test].wins(system, rival))
            for system, test in counted
        ]
        rows.append((rival, (published, *cells)))
    caption = "percent of cases on which a system is better, equal and worse than a rival"
    return Table("wins", caption, head, rows)


def _shares(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _depths(results: Results) -> Table:
    """Return makespans over those of HEFT by the depth of the graph."""
    systems = [name for name in results[SEVERAL, DRAWN].losses if name in (*SYSTEMS, RANDOM)]
    rows: list[tuple[str, Sequence[Cell]]] = []
    found = results[SEVERAL, DRAWN]
    parts = [(found.depth >= low) & (found.depth <= high) for low, high in DEPTHS]
    for system in systems:
        cells = (_part(found, system, part) for part in parts)
        rows.append((system, tuple(cells)))
    head = ("system", *(f"depth {low} to {high}" for low, high in DEPTHS))
    return Table("depth", "makespan over HEFT's by streams on the longest path", head, rows)


def _part(found: Tested, system: str, part: np.typing.NDArray[np.bool_]) -> float | None:
    own, heft = (found.losses[name][:, part, -1].mean(axis=0) for name in (system, HEFT))
    return float((own / heft).mean()) if part.any() else None


def _others(results: Results) -> Table:
    """Return what GiPH reaches in the other experiments."""
    head = ("system", "experiment", "test", "over HEFT", "over climb", "over best random one")
    rows: list[tuple[str, Sequence[Cell]]] = []
    for (experiment, test), found in results.items():
        if (experiment, test) not in ((SINGLE, SINGLE), (SEVERAL, SEVERAL)):
            for system in (GIPH, OURS):
                overs = (str(found.over(system, rival)) for rival in (HEFT, CLIMB, RANDOM))
                rows.append((system, (experiment, test, *overs)))
    caption = "what is minimised over what plain placers reach at equal evaluations"
    return Table("others", caption, head, rows)


def _changes(rows: Sequence[Row]) -> Table:
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
    for protocol in dict.fromkeys(row["protocol"] for row in rows):
        for system in dict.fromkeys(row["system"] for row in rows):
            own = [row for row in rows if (row["protocol"], row["system"]) == (protocol, system)]
            graphs: dict[int, list[float]] = {}  # the repeats have the same graphs
            for row in own:
                ratio = row["makespan_s"] / row["from_scratch_s"]
                graphs.setdefault(row["graph"], []).append(ratio)
            over = Effect.of(np.array([np.mean(ratios) for ratios in graphs.values()]))
            moves, cost = (
                float(np.mean([row[k] for row in own])) for k in ("moves", "relocation_s")
            )
            made.append((system, (protocol, over.mean, over.interval, moves, cost)))
    return Table("changes", "after each change of a cluster of 20 devices", head, made)


def _findings(results: Results) -> tuple[str, ...]:
    texts = []
    for setting, name in SETTINGS.items():
        found = results[setting, setting]
        over = {system: found.over(system, HEFT) for system in found.losses}
        least = min(over[GIPH].mean, over[OURS].mean)
        better = [s for s in over if s not in SYSTEMS and over[s].mean < least]
        texts += [
            f"On {name}, the makespan of {system} is {over[system]} of HEFT's and "
            f"{found.over(system, RANDOM)} of the best of as many random placements."
            for system in (GIPH, OURS)
        ]
        texts.append(
            f"Without training, better than both on {name}: {', '.join(better)}."
            if better
            else f"No placer without training is better than both on {name}."
        )
    return tuple(texts)
