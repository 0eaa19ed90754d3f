"""The outcome of the study: tables with the published figures, what they show, and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from streamplace.papers.hsdag.study.comparisons import (
    SAME,
    Results,
    ablation,
    groups,
    makespans,
    published,
    rivals,
)
from streamplace.papers.hsdag.study.registered import (
    ABLATIONS,
    ACCELERATOR_ONLY,
    HSDAG,
    OWN,
    UNTRAINED,
    Workload,
)
from streamplace.papers.hsdag.study.systems import (
    FIXED,
    SEARCH,
    SEARCH_CHAINS,
    SEARCH_GROUPS,
)
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.table import Table
from streamplace.pictures.style import GREY, legend_below, line, picture
from streamplace.util.effect import Effect
from streamplace.util.text import counted

PANEL = (3.9, 3.2)  # width and height in inches
CURVES = (HSDAG, *FIXED, UNTRAINED)
LEVELS = {ACCELERATOR_ONLY: "-", SEARCH_GROUPS: "--", SEARCH: ":"}
UPPER_LEVELS = {ACCELERATOR_ONLY: "-"}
NEAR = 0.02  # relative difference within which HSDAG is called near search on the same groups
TITLE = "HSDAG (NeurIPS 2024): learned groups, plain search and ablations"


def curves_picture(path: Path, results: Results) -> None:
    """Draw makespans of placements during training over the best known one, a column per network.

    The upper panels have the mean over the placements of each update, and the lower ones the lowest
    makespan so far, with the start. Systems that are not trained are horizontal lines.
    """
    networks = results.networks
    with picture(path, (PANEL[0] * len(networks), 2 * PANEL[1] + 0.7)) as figure:
        panels = figure.subplots(2, len(networks), squeeze=False)
        drawn: dict[str, Artist] = {}
        for column, workload in enumerate(networks):
            upper, lower = panels[:, column]
            _draw_curves(upper, results, workload, "means_s")
            drawn |= _draw_levels(upper, results, workload, UPPER_LEVELS)
            drawn |= _draw_levels(lower, results, workload, LEVELS)
            drawn |= _draw_curves(lower, results, workload, "lowest_s")
            upper.set_yscale("log")
            upper.yaxis.set_major_formatter("{x:g}")
            upper.yaxis.set_minor_formatter("{x:g}")
            upper.set_title(workload.graph)
            lower.set_xlabel("evaluations")
        panels[0, 0].set_ylabel("mean makespan / best known one")
        panels[1, 0].set_ylabel("lowest makespan / best known one")
        legend_below(figure, list(drawn.values()), list(drawn))


def _draw_levels(
    axes: Axes, results: Results, workload: Workload, levels: Mapping[str, str]
) -> dict[str, Artist]:
    drawn: dict[str, Artist] = {}
    for system, dashes in levels.items():
        level = results.over(workload, system)
        if level is not None:
            drawn[system] = axes.axhline(level.mean, color=GREY, linestyle=dashes)
    return drawn


def _draw_curves(
    axes: Axes, results: Results, workload: Workload, column: str
) -> dict[str, Artist]:
    """Draw the means over the seeds of a column with a value for each update."""
    drawn: dict[str, Artist] = {}
    for i, system in enumerate(CURVES):
        rows, known = results.rows(workload, system), results.best_known(workload)
        if rows and known is not None:
            mean = np.array([row[column] for row in rows]).mean(axis=0)
            evaluations = np.arange(1, len(mean) + 1) * rows[0]["evaluations"] / len(mean)
            style = {**line(i), "marker": None}
            drawn[system] = axes.plot(evaluations, mean / known, **style)[0]
    return drawn


def _findings(plan: Plan, results: Results) -> Iterator[str]:
    """Yield what the study finds, the comparison with the best single device first."""
    networks = results.networks
    where = counted(len(networks), "network")
    yield (
        f"The mean makespan of HSDAG is at or below that of the best single device on "
        f"{_at_or_below_single(results, networks, 'best_s')} of {where}. Its episodes start from "
        "that device; the placements that the policy makes itself are at or below it on "
        f"{_at_or_below_single(results, networks, 'own_s')}."
    )
    for rival, text in ((SEARCH_GROUPS, "search on the same groups"), (SEARCH, "search")):
        within, below = _near(results, networks, rival)
        yield (
            f"At {plan.settings['evaluations']:,} evaluations, the mean makespan of HSDAG is "
            f"within {NEAR:.0%} of that of {text} on {within} of {where}, and at or below it on "
            f"{below}."
        )
    yield from _grouped(results, networks)
    learned = results.effect(UNTRAINED, HSDAG, networks, ("own_s", "own_s"))
    if learned is not None:
        yield (
            f"Without learning, the best placement of the policy has {learned} times the makespan "
            "of HSDAG's, both without the starts of episodes."
        )
    yield from _ablated(results, networks)
    yield (
        "Published latencies were measured on other devices and graphs, and ours are simulated, so "
        "that figures cannot be compared in absolute terms."
    )
    yield (
        "OpenVINO's own placement gives every operator to the first device that supports it "
        "(docs/neural-networks.md), which is 'accelerator only' where the accelerator supports all."
    )
    if not plan.settings["data_sha256"]:
        yield "The released graphs are left out; --data DIR adds them."


def _at_or_below_single(results: Results, workloads: Sequence[Workload], column: str) -> int:
    count = 0
    for workload in workloads:
        own, single = results.spread(workload, HSDAG, column), results.single(workload)
        count += own is not None and (single is None or own.mean <= single * (1 + SAME))
    return count


def _near(results: Results, workloads: Sequence[Workload], rival: str) -> tuple[int, int]:
    """Return on how many workloads HSDAG is within `NEAR` of a rival, and at or below it."""
    within = below = 0
    for workload in workloads:
        own, other = results.spread(workload, HSDAG), results.spread(workload, rival)
        if own is not None and other is not None:
            within += own.mean <= other.mean * (1 + NEAR)
            below += own.mean <= other.mean * (1 + SAME)
    return within, below


def _grouped(results: Results, workloads: Sequence[Workload]) -> Iterator[str]:
    """Yield what grouping costs a search, what the policy does at the end, and CPU seconds."""
    for rival, what in ((SEARCH_CHAINS, "chains"), (SEARCH_GROUPS, "HSDAG's groups")):
        effect = results.effect(rival, SEARCH, workloads)
        if effect is not None:
            yield f"If {what} stay together, search has {effect} times its makespan on operators."
    last = [
        row["means_s"][-1] / single
        for workload in workloads
        if (single := results.single(workload)) is not None
        for row in results.rows(workload, HSDAG)
    ]
    if last:
        yield (
            "The placements of HSDAG's last update have on average "
            f"{Effect.of(np.array(last))} times the makespan of the best single device."
        )
    spent = results.effect(HSDAG, SEARCH, workloads, ("cpu_s", "cpu_s"))
    if spent is not None:
        yield f"HSDAG takes {spent.mean:.0f} times the CPU seconds of search on average."


def _ablated(results: Results, workloads: Sequence[Workload]) -> Iterator[str]:
    """Yield which variants differ from HSDAG: those whose interval excludes equality."""
    longer, shorter, unclear = list[str](), list[str](), list[str]()
    for variant in ABLATIONS:
        effect = results.effect(variant, HSDAG, workloads)
        if effect is None or effect.interval is None:
            continue
        text = f"{variant} ({effect.mean:.3f})"
        if effect.low > 1 + SAME:
            longer.append(text)
        elif effect.high < 1 - SAME:
            shorter.append(text)
        else:
            unclear.append(text)
    for several, how in (
        (longer, "longer than HSDAG's with a 95% interval above 1"),
        (shorter, "shorter than HSDAG's with a 95% interval below 1"),
        (unclear, "not distinguished from HSDAG's by the 95% interval"),
    ):
        if several:
            yield f"Makespans of these variants are {how}: {', '.join(several)}."


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the pictures and what they show."""
    results = Results(rows)
    pictures = {"curves": partial(curves_picture, results=results)}
    return Outcome(TITLE, tuple(_findings(plan, results)), tuple(_tables(results)), pictures)


def _tables(results: Results) -> Iterator[Table]:
    for source in dict.fromkeys(one.source for one in results.workloads):
        part = [one for one in results.workloads if one.source == source]
        what = "our networks" if source == OWN else f"graphs of {source}"
        yield makespans(results, part, f"makespans-{source}", what)
    yield rivals(results, results.networks)
    yield published(results, results.networks)
    yield ablation(results, results.networks)
    yield groups(results, results.workloads)
