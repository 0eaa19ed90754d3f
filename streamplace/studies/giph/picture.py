"""The picture of the study: makespans against evaluations."""

from collections.abc import Mapping
from pathlib import Path

from streamplace.plots.style import GREY, legend_below, line, picture
from streamplace.studies.giph.plain import CLIMB, EFT, PEFT, RANDOM, SEARCH
from streamplace.studies.giph.registered import GIPH, OURS, PAPER_TRAINED, PER_OPERATOR
from streamplace.studies.giph.results import Tested

PANEL = (4.4, 3.4)  # width and height in inches
DRAWN = (GIPH, OURS, PAPER_TRAINED, RANDOM, EFT, CLIMB, SEARCH, PEFT)


def curves_picture(path: Path, results: Mapping[str, Tested]) -> None:
    """Draw mean makespans over HEFT's after each checkpoint, a panel per setting."""
    with picture(path, (PANEL[0] * len(results), PANEL[1] + 0.5)) as figure:
        panels = figure.subplots(1, len(results), squeeze=False, sharey=True)[0]
        lines = []
        for axes, (name, found) in zip(panels, results.items(), strict=True):
            axes.axhline(1.0, color=GREY, linewidth=0.9)
            lines = [
                axes.plot(PER_OPERATOR, found.curve(system), **line(s))[0]
                for s, system in enumerate(DRAWN)
            ]
            axes.set_title(name)
            axes.set_xlabel("evaluations per operator")
        panels[0].set_ylabel("makespan / HEFT's")
        legend_below(figure, lines, list(DRAWN))
