"""The outcome of the study: tables with the published figures, what they show, and curves."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from streamplace.studies.giph.experiments import DRAWN, PAPER_RANGES, SEVERAL, SINGLE
from streamplace.studies.giph.findings import SETTINGS, Results, changes_of, findings_of
from streamplace.studies.giph.fusion import fusion_figures, fusion_findings, fusion_tables
from streamplace.studies.giph.plain import CLIMB, HEFT, RANDOM
from streamplace.studies.giph.published import SECONDS, WINS
from streamplace.studies.giph.registered import GIPH, OURS, SYSTEMS
from streamplace.studies.giph.results import Tested, results_of
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table

TITLE = "GiPH (MLSys 2023): relocations, its ablations and plain placers"
FAMILIES = {DRAWN: "giph-code", PAPER_RANGES: "giph-paper"}
"""Test -> the family of its cases."""
DEEPEST = 1000
DEPTHS = ((0, 12), (13, 20), (21, 30), (31, DEEPEST))  # streams on the longest path


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
    findings = (*findings_of(results, changed), *fusion_findings(fused))
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
        "median ms of CPU per case",
        "median ms per relocation",
        "published ms per relocation",
    )
    rows: list[tuple[str, Sequence[Cell]]] = []
    for system in found.losses:
        over, slr = found.over(system, HEFT), found.slr(system)
        spent, per_move = found.median_ms(system)
        shown = per_move if system in SYSTEMS else None
        published = 1e3 * SECONDS[system] if system in SECONDS else None
        random = found.over(system, RANDOM).mean
        rows.append((system, (over.mean, over.interval, random, *slr, spent, shown, published)))
    rows.sort(key=lambda row: float(str(row[1][0])))
    caption = f"test cases on {name}: means after two evaluations per operator, with 95% intervals"
    return Table(f"makespans-{name.replace(' ', '-')}", caption, head, rows)


def _wins(results: Results) -> Table:
    """Return Table 6 of the paper beside our counts."""
    counted = [(system, test) for test in (DRAWN, PAPER_RANGES) for system in (GIPH, OURS)]
    names = (f"{system}, {FAMILIES[test]}" for system, test in counted)
    head = ("rival", f"{GIPH}, published", *names)
    rows: list[tuple[str, Sequence[Cell]]] = []
    for rival in results[SEVERAL, DRAWN].losses:
        published = _shares(WINS[rival]) if rival in WINS else None
        cells = [
            None if rival == system else _shares(results[SEVERAL, test].wins(system, rival))
            for system, test in counted
        ]
        rows.append((rival, (published, *cells)))
    caption = (
        "percent of cases on which a system is better / equal / worse than a rival; policies are "
        "trained on ten networks, and every case has a network of its own"
    )
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
    head = ("system", *(_range(low, high) for low, high in DEPTHS))
    return Table("depth", "makespan over HEFT's by streams on the longest path", head, rows)


def _range(low: int, high: int) -> str:
    return f"{low} to {high} streams" if high < DEEPEST else f"{low} streams or more"


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
                named = {**SETTINGS, **FAMILIES}
                where = (named.get(name, name) for name in (experiment, test))
                rows.append((system, (*where, *overs)))
    caption = (
        "what is minimised over what plain placers reach at equal evaluations, with 95% intervals"
    )
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
    for protocol, systems in changes_of(rows).items():
        for system, over in systems.items():
            own = [row for row in rows if (row["protocol"], row["system"]) == (protocol, system)]
            moves, cost = (
                float(np.mean([row[k] for row in own])) for k in ("moves", "relocation_s")
            )
            made.append((system, (protocol, over.mean, over.interval, moves, cost)))
    return Table("changes", "after each change of a cluster of 20 devices", head, made)
