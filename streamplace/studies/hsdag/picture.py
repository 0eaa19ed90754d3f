"""The pictures of the study: makespans against evaluations, and the ablation."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from streamplace.plots.style import COLOURS, GREY, legend_below, line, picture
from streamplace.studies.hsdag.groups import FIXED
from streamplace.studies.hsdag.plain import SEARCH, SEARCH_GROUPS
from streamplace.studies.hsdag.registered import ABLATIONS, ACCELERATOR_ONLY, HSDAG, UNTRAINED
from streamplace.studies.hsdag.results import Results
from streamplace.studies.hsdag.workloads import Workload

PANEL = (3.9, 3.2)  # width and height in inches
CURVES = (HSDAG, *FIXED, UNTRAINED)
LEVELS = {ACCELERATOR_ONLY: "-", SEARCH_GROUPS: "--", SEARCH: ":"}
UPPER_LEVELS = {ACCELERATOR_ONLY: "-"}
ROW_HEIGHT = 0.3  # inches for a variant


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


def ablation_picture(path: Path, results: Results) -> None:
    """Draw the makespans of variants over HSDAG's, with 95% intervals over networks and seeds."""
    networks = results.networks
    effects = {variant: results.effect(variant, HSDAG, networks) for variant in ABLATIONS}
    known = {variant: effect for variant, effect in effects.items() if effect is not None}
    with picture(path, (6.5, ROW_HEIGHT * len(known) + 0.8)) as figure:
        axes = figure.subplots()
        axes.axvline(1.0, color=GREY, linewidth=0.9)
        for row, effect in enumerate(known.values()):
            ends = [[effect.mean - effect.low], [effect.high - effect.mean]]
            error = np.maximum(np.nan_to_num(ends), 0.0)
            axes.errorbar(effect.mean, row, xerr=error, fmt="o", color=COLOURS[0], capsize=2.5)
        axes.set_yticks(range(len(known)), list(known))
        axes.invert_yaxis()
        axes.set_xlabel("makespan / HSDAG's with the same seed")
