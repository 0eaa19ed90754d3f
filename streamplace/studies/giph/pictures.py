"""Curves of several systems, in panels that share a legend."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from streamplace.plots.style import GREY, legend_below, line, picture
from streamplace.util.arrays import Floats

PANEL = (4.4, 3.4)  # width and height in inches

Panels = Mapping[str, Mapping[str, tuple[Sequence[float], Floats]]]
"""Title of a panel -> name of a system -> x and y of its curve."""


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
