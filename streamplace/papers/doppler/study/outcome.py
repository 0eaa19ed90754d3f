"""The outcome of the study: tables with the published figures, what they show, and a picture."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from pathlib import Path

from matplotlib.artist import Artist

from streamplace.papers.doppler.study.comparisons import (
    Results,
    ablations,
    barriers,
    checkpoints,
    makespans,
    transfers,
    with_little_memory,
)
from streamplace.papers.doppler.study.registered import (
    DOPPLER,
    OF_SEARCH,
    RELEASED_CODE,
    STAGED,
    WITHOUT_IMITATION,
)
from streamplace.papers.doppler.study.staged import combinations
from streamplace.papers.doppler.study.systems import CLIMB, ENUMERATIVE, SEARCH
from streamplace.papers.doppler.study.workloads import ALIKE, OWN, RELEASED, Workload
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.table import Table
from streamplace.pictures.style import GREY, legend_below, line, picture
from streamplace.util.text import counted

PANEL = (3.9, 3.2)  # width and height in inches
COLUMNS = 4
CURVES = (DOPPLER, RELEASED_CODE, WITHOUT_IMITATION, OF_SEARCH)
LEVELS = {CLIMB: "--", SEARCH: ":"}
SAME = 1e-3  # relative difference of mean makespans that counts as none: tables have three digits
TITLE = "DOPPLER (ICLR 2026): placements of dataflow graphs, ablations and plain search"


def curves_picture(path: Path, results: Results, workloads: Sequence[Workload]) -> None:
    """Draw the best makespan over the best known one, a panel per workload.

    Climb and search with as many evaluations as a training are horizontal lines.
    """
    columns = min(COLUMNS, len(workloads))
    count = ceil(len(workloads) / columns)
    with picture(path, (PANEL[0] * columns, PANEL[1] * count + 0.5)) as figure:
        panels = figure.subplots(count, columns, squeeze=False).flatten()
        drawn: dict[str, Artist] = {}
        for axes, workload in zip(panels, workloads, strict=False):
            for system, dashes in LEVELS.items():
                level = results.over(workload, system)
                assert level is not None, "climb and search find placements without limits"
                drawn[system] = axes.axhline(level.mean, color=GREY, linestyle=dashes)
            for i, system in enumerate(CURVES):
                episodes, means = _curve(results, workload, system)
                drawn[system] = axes.plot(episodes, means, **line(i))[0]
            axes.set_title(workload.name)
            axes.set_xlabel("simulated episodes")
            axes.set_ylabel("makespan / best known one")
        for axes in panels[len(workloads) :]:
            axes.set_visible(False)
        legend_below(figure, list(drawn.values()), list(drawn))


def _curve(results: Results, workload: Workload, system: str) -> tuple[list[int], list[float]]:
    """Return episodes, and the mean over the seeds of the best makespan after them."""
    points: list[tuple[int, float]] = []
    number = 0
    while True:
        rows = results.after(workload, system, number)
        over = results.over_best(workload, rows)
        if over is not None:
            points.append((rows[0]["episodes"], over.mean))
        elif number:
            break
        number += 1
    return [episodes for episodes, _ in points], [mean for _, mean in points]


def _findings(plan: Plan, results: Results) -> Iterator[str]:
    """Yield what the study finds, the comparison with search at equal evaluations first."""
    shorter = dict.fromkeys((CLIMB, SEARCH, ENUMERATIVE), 0)
    done = [one for one in results.workloads if results.rows(one, DOPPLER)]
    infeasible = []
    for workload in done:
        overs = {s: results.over(workload, s) for s in (DOPPLER, *shorter)}
        own = overs[DOPPLER]
        if own is None:
            infeasible.append(f"On {workload.name}, DOPPLER finds no feasible placement.")
            continue
        for rival in shorter:
            other = overs[rival]
            if other is None or own.mean < other.mean * (1 - SAME):
                shorter[rival] += 1
    counts = zip(plan.settings["devices"], plan.settings["evaluations"], strict=True)
    episodes = [f"{count:,} on {devices} devices" for devices, count in counts]
    where = counted(len(done), "workload")
    yield (
        "After as many simulated episodes as climb and search have evaluations "
        f"({' and '.join(episodes)}), the mean makespan of DOPPLER's best placements is below "
        f"climb's on {shorter[CLIMB]} of {where}, below search's on {shorter[SEARCH]}, and below "
        f"EnumerativeOptimizer's on {shorter[ENUMERATIVE]}. Our FFNN is in no table, because every "
        "informed placer ends at 1.014 of the best known makespan there."
    )
    yield from infeasible
    yield (
        "Published milliseconds were measured on GPUs and ours are simulated, so that only ratios "
        "within a column can be compared."
    )
    if not plan.settings["released_sha256"]:
        yield "The released graphs are left out; --released DIR adds them."


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the picture and what they show."""
    results = Results([row for row in rows if (row["source"], row["graph"]) != ALIKE])
    devices = plan.settings["devices"][0]
    first = [one for one in _free(results) if one.devices == devices and not one.variant]
    pictures = {"curves": partial(curves_picture, results=results, workloads=first)}
    return Outcome(TITLE, tuple(_findings(plan, results)), tuple(_tables(results, first)), pictures)


def _free(results: Results) -> list[Workload]:
    """Return the workloads without limits of memory."""
    return [one for one in results.workloads if not one.limited]


def _tables(results: Results, first: Sequence[Workload]) -> Iterator[Table]:
    """Yield the tables.

    Parameters
    ----------
    first
        The workloads on the number of devices on which all systems are trained.
    """
    free = _free(results)
    for source in (OWN, RELEASED):
        kinds = dict.fromkeys((one.devices, one.variant) for one in free if one.source == source)
        for kind in kinds:
            same = (one for one in free if (one.devices, one.variant) == kind)
            yield makespans(results, [one for one in same if one.source == source])
    for source in (OWN, RELEASED):
        part = [one for one in first if one.source == source]
        if part:
            yield ablations(results, part)
    yield checkpoints(results, free)
    if results.transferred:
        yield transfers(results)
    limited = [one for one in results.workloads if one.limited]
    for variant in dict.fromkeys(one.variant for one in limited):
        yield with_little_memory(results, [one for one in limited if one.variant == variant])
    yield barriers(results, free)
    if any(results.rows(one, system) for one in first for system in STAGED):
        yield combinations(results, first)
