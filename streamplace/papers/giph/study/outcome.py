"""The outcome of the study: tables with the published figures, what they show, and curves."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from streamplace.papers.giph.study.adaptivity_tables import (
    Panels,
    adaptivity_table,
    changes_findings,
    changes_table,
    curves_picture,
    learning_of,
    learning_panels,
    learning_table,
    makespans_of,
    panels_of,
)
from streamplace.papers.giph.study.registered import (
    DRAWN,
    FEW,
    GIPH,
    LARGER,
    MANY,
    OURS,
    PAPER_RANGES,
    PAPER_TRAINED,
    PER_OPERATOR,
    PLACETO,
    PUBLISHED,
    PUBLISHED_SECONDS,
    SEVERAL,
    SINGLE,
    SYSTEMS,
    TASK_EFT,
    UNIFORM,
    WINS,
)
from streamplace.papers.giph.study.results import (
    Tested,
    fusion_figures,
    fusion_findings,
    fusion_tables,
    results_of,
)
from streamplace.papers.giph.study.systems import (
    CLIMB,
    EFT,
    HEFT,
    PEFT,
    PEFT_LINKS,
    RANDOM,
    RNN,
    SEARCH,
)
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.table import Cell, Table
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

Results = Mapping[tuple[str, str], Tested]
SETTINGS = {SINGLE: "one network", SEVERAL: "ten networks"}
TITLE = "GiPH (MLSys 2023): relocations, its ablations and plain placers"

FAMILIES = {DRAWN: "giph-code", PAPER_RANGES: "giph-paper"}
"""Test -> the family of its cases."""

CURVES = (GIPH, OURS, PAPER_TRAINED, RANDOM, EFT, CLIMB, SEARCH, PEFT, PEFT_LINKS)
COMPARED = (GIPH, OURS, TASK_EFT, PLACETO, UNIFORM, RNN)
COUNTED = {DRAWN: (GIPH, *PUBLISHED, OURS), PAPER_RANGES: (GIPH, OURS)}
"""Test -> the systems whose wins over all others are counted."""

DEEPEST = 1000
DEPTHS = ((0, 12), (13, 20), (21, 30), (31, DEEPEST))  # streams on the longest path


def findings_of(results: Results, changed: Sequence[Row]) -> Iterator[str]:
    """Yield the findings; those of experiments without results are left out.

    Parameters
    ----------
    changed
        The rows of the changing clusters.
    """
    for setting, name in SETTINGS.items():
        yield from _against_baselines(results[setting, setting], name)
    yield _signs(results[SEVERAL, DRAWN])
    yield from _other_clusters(results)
    yield from changes_findings(changed)


def _against_baselines(found: Tested, name: str) -> Iterator[str]:
    over = {system: found.over(system, HEFT) for system in found.losses}
    for system in (GIPH, OURS):
        yield (
            f"On {name}, the makespan of {system} is {over[system]} of HEFT's and "
            f"{found.over(system, RANDOM)} of the best of as many random placements."
        )
    best = min(GIPH, OURS, key=lambda system: over[system].mean)
    better = [s for s in over if s not in SYSTEMS and found.over(best, s).low > 1.0]
    beyond = "without a policy trained on other cases"
    yield (
        f"Better than both on {name} with 95% confidence, {beyond}: {'; '.join(better)}."
        if better
        else f"On {name}, nothing {beyond} is better than both with 95% confidence."
    )


def _signs(found: Tested) -> str:
    """Return whether GiPH wins more cases than it loses against the rivals of Table 6."""
    parts: dict[str, list[str]] = {}
    for rival, (better, _, worse) in WINS.items():
        lead = found.lead(GIPH, rival)
        verdict = "has the published sign"
        if lead.low <= 0.0 <= lead.high:
            verdict = "is within chance"
        elif (lead.mean > 0.0) != (better > worse):
            verdict = "has the opposite sign"
        text = f"{rival} ({lead.mean:+.1f}, {lead.low:+.1f} to {lead.high:+.1f})"
        parts.setdefault(verdict, []).append(text)
    texts = (f"{verdict} against {', '.join(own)}" for verdict, own in parts.items())
    return (
        f"The percent of cases that {GIPH} wins less the percent that it loses, as in Table 6 and "
        f"with 95% intervals over the cases, {'; it '.join(texts)}."
    )


def _other_clusters(results: Results) -> Iterator[str]:
    """Yield how policies trained on other numbers of devices end, over those trained on as many."""
    of_size = {MANY: DRAWN, LARGER: f"{LARGER} devices"}
    for tested, test in of_size.items():
        own = results.get((f"trained on {tested} devices", test))
        for trained in (FEW, MANY, LARGER):
            other = results.get((f"trained on {trained} devices", test))
            if own is not None and other is not None and trained != tested:
                over = Effect.of(other.final(GIPH) / own.final(GIPH))
                yield (
                    f"On {tested} devices, the makespan of GiPH trained on {trained} is {over} of "
                    f"that of GiPH trained on {tested}."
                )


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the pictures and what they show."""
    results, fused = results_of(rows), fusion_figures(rows)
    changed = [row for row in rows if "protocol" in row]
    anew, learned = makespans_of(rows), learning_of(rows)
    tables = (
        *(_makespans(name, results[setting, setting]) for setting, name in SETTINGS.items()),
        _trainings(results),
        _wins(results),
        _pairs(results[SEVERAL, DRAWN]),
        _depths(results),
        _others(results),
        *fusion_tables(fused),
        changes_table(changed),
        *adaptivity_table(anew),
        *learning_table(learned),
    )
    named = {name: _curves(results[setting, setting]) for setting, name in SETTINGS.items()}
    pictures: dict[str, tuple[Panels, tuple[str, str]]] = {
        "curves": (named, ("evaluations per operator", "makespan / HEFT's"))
    }
    if anew:
        pictures["adaptivity"] = (panels_of(anew), ("changes", "SLR"))
    if learned:
        labels = ("episodes of training", "makespan / HEFT's")
        pictures["learning"] = (learning_panels(learned), labels)
    findings = (
        *findings_of(results, changed),
        *fusion_findings(fused),
    )
    drawings = {
        name: partial(curves_picture, panels=panels, labels=labels)
        for name, (panels, labels) in pictures.items()
    }
    return Outcome(TITLE, findings, tables, drawings)


def _curves(found: Tested) -> Mapping[str, tuple[Sequence[float], Floats]]:
    return {s: (PER_OPERATOR, found.curve(s)) for s in CURVES if s in found.losses}


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
        published = 1e3 * PUBLISHED_SECONDS[system] if system in PUBLISHED_SECONDS else None
        random = found.over(system, RANDOM).mean
        rows.append((system, (over.mean, over.interval, random, *slr, spent, shown, published)))
    rows.sort(key=lambda row: float(str(row[1][0])))
    caption = f"test cases on {name}: means after two evaluations per operator, with 95% intervals"
    name = f"makespans-{name.replace(' ', '-')}"
    return Table(name, caption, head, rows, best=dict.fromkeys(head[1:], min))


def _trainings(results: Results) -> Table:
    """Return how far trainings of the same policy are from each other."""
    rows: list[tuple[str, Sequence[Cell]]] = []
    for setting, name in SETTINGS.items():
        found = results[setting, setting]
        for system in (one for one in SYSTEMS if one in found.losses and one != UNIFORM):
            each = (found.losses[system][:, :, -1] / found.final(HEFT)).mean(axis=1)
            effect = Effect.of(each).cell()
            ends = (float(value(each)) for value in (np.min, np.median, np.max))
            rows.append((system, (name, len(each), *effect, *ends)))
    head = ("system", "test cases on", "trainings", "mean", "interval", "least", "median", "most")
    caption = "makespan over HEFT's by training, with 95% intervals over trainings"
    return Table("trainings", caption, head, rows)


def _wins(results: Results) -> Table:
    """Return Table 6 of the paper beside our counts."""
    counted = [
        (system, test)
        for test, systems in COUNTED.items()
        for system in systems
        if system in results[SEVERAL, test].losses
    ]
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


def _pairs(found: Tested) -> Table:
    """Return the whole Table 6, every system beside every other."""
    systems = [system for system in (GIPH, *WINS) if system in found.losses]
    rows: list[tuple[str, Sequence[Cell]]] = []
    for system in systems:
        cells = (None if s == system else _shares(found.wins(system, s)) for s in systems)
        rows.append((system, tuple(cells)))
    caption = (
        "Table 6: percent of the cases of giph-code on which the system of a row is better / equal "
        "/ worse than that of a column"
    )
    return Table("pairs", caption, ("system", *systems), rows)


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
    caption = "makespan over HEFT's by streams on the longest path"
    return Table("depth", caption, head, rows, best=dict.fromkeys(head[1:], min))


def _range(low: int, high: int) -> str:
    return f"{low} to {high} streams" if high < DEEPEST else f"{low} streams or more"


def _part(found: Tested, system: str, part: np.typing.NDArray[np.bool_]) -> float | None:
    own, heft = (found.losses[name][:, part, -1].mean(axis=0) for name in (system, HEFT))
    return float((own / heft).mean()) if part.any() else None


def _others(results: Results) -> Table:
    """Return what policies and the RNN placer reach in the other experiments."""
    head = ("system", "experiment", "test", "over HEFT", "over climb", "over best random one")
    rows: list[tuple[str, Sequence[Cell]]] = []
    for (experiment, test), found in results.items():
        if (experiment, test) not in ((SINGLE, SINGLE), (SEVERAL, SEVERAL)):
            for system in (name for name in COMPARED if name in found.losses):
                overs = (str(found.over(system, rival)) for rival in (HEFT, CLIMB, RANDOM))
                named = {**SETTINGS, **FAMILIES}
                where = (named.get(name, name) for name in (experiment, test))
                rows.append((system, (*where, *overs)))
    caption = (
        "what is minimised over what plain placers reach at equal evaluations, with 95% intervals"
    )
    return Table("others", caption, head, rows)
