"""The pictures of the study: makespans against evaluations, and the ablation."""

from pathlib import Path

import numpy as np
from matplotlib.artist import Artist

from streamplace.plots.style import COLOURS, GREY, legend_below, line, picture
from streamplace.studies.hsdag.groups import FIXED
from streamplace.studies.hsdag.plain import RANDOM_GROUPS, SEARCH, SEARCH_GROUPS
from streamplace.studies.hsdag.published import ACCELERATOR_ONLY, HSDAG
from streamplace.studies.hsdag.registered import ABLATIONS, UNTRAINED
from streamplace.studies.hsdag.results import Results

PANEL = (3.9, 3.2)  # width and height in inches
CURVES = (HSDAG, *FIXED, UNTRAINED)
LEVELS = {ACCELERATOR_ONLY: "-", RANDOM_GROUPS: "-.", SEARCH_GROUPS: "--", SEARCH: ":"}
ROW_HEIGHT = 0.3  # inches for a variant


def curves_picture(path: Path, results: Results) -> None:
    """Draw the lowest makespan so far over the best known one, a panel per network.

    Systems that are not trained are horizontal lines; those above the start are left out.
    """
    networks = results.networks
    with picture(path, (PANEL[0] * len(networks), PANEL[1] + 0.7)) as figure:
        panels = figure.subplots(1, len(networks), squeeze=False)[0]
        drawn: dict[str, Artist] = {}
        for axes, workload in zip(panels, networks, strict=True):
            known, single = results.best_known(workload), results.single(workload)
            for system, dashes in LEVELS.items():
                level = results.over(workload, system)
                if level is not None and (single is None or level.mean <= 1.05 * single / known):
                    drawn[system] = axes.axhline(level.mean, color=GREY, linestyle=dashes)
            for i, system in enumerate(CURVES):
                rows = results.rows(workload, system)
                if rows:
                    lowest = np.array([row["lowest_s"] for row in rows]).mean(axis=0) / known
                    updates = np.arange(1, len(lowest) + 1)
                    evaluations = updates * rows[0]["evaluations"] / len(lowest)
                    style = {**line(i), "marker": None}
                    drawn[system] = axes.plot(evaluations, lowest, **style)[0]
            axes.set_title(workload.graph)
            axes.set_xlabel("evaluations")
        panels[0].set_ylabel("makespan / best known one")
        legend_below(figure, list(drawn.values()), list(drawn))


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
