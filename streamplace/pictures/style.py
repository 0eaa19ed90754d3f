"""Plot style: sizes, colours, lines, legends and saving.

The eight colours are Okabe and Ito's palette for colour-blind readers, with the yellow darkened for
white paper. Lines also differ in dashes and markers, and bars in hatches, so that plots are
readable in greyscale.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from streamplace.display.formats import kind_of
from streamplace.files.writing import atomic
from streamplace.util.text import counted, shortened

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#a59a00",
)
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (9, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo")
GREY = "#6b6b6b"
NAME = 34  # maximum number of characters of a name in a legend
MAX_COLOURED = 6  # more lines cannot be distinguished; others are grey
RC: dict[Any, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,  # as ticks without their sum would mislead
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.unicode_minus": True,
    "figure.constrained_layout.h_pad": 0.08,  # inches
    "figure.constrained_layout.w_pad": 0.08,
    "font.size": 9.5,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.fontsize": "small",
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "path.simplify": True,
    "pdf.fonttype": 42,  # TrueType, which publishers require
    "savefig.dpi": 150,
    "svg.hashsalt": "streamplace",  # makes the bytes reproducible
    "text.parse_math": False,  # names may contain dollar signs
}
UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


@contextmanager
def picture(path: str | Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Yield a figure of a size in inches (width, height), which is saved to a file at the end.

    The file's suffix sets the picture format. The same drawing gives the same bytes.

    Raises
    ------
    UsageError
        If the file's suffix is not a known picture format.
    FormatError
        If the file cannot be written.
    """
    kind = kind_of(path)
    with styled_figure(size) as figure:
        yield figure
        with atomic(path) as file:
            save(figure, file, kind)


@contextmanager
def styled_figure(size: tuple[float, float]) -> Iterator[Figure]:
    """Yield a figure of a size in inches (width, height), in the style of all plots."""
    with mpl.rc_context(RC):
        yield Figure(figsize=size, layout="constrained")


def save(figure: Figure, file: IO[bytes], kind: str) -> None:
    """Write a figure to an open file as ``png``, ``svg`` or ``pdf``, within `styled_figure`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # boxes are drawn instead
        figure.savefig(file, format=kind, metadata=UNDATED[kind])


def line(i: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the i-th line; the first 168 differ."""
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": DASHES[i % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markerfacecolor": "white",
    }


def line_of_few(i: int) -> dict[str, Any]:
    """Return the look of the i-th line of a picture with any number; see `legend_of_few`."""
    if i < MAX_COLOURED:
        return line(i)
    return {"color": GREY, "linestyle": "-", "marker": "", "linewidth": 0.7, "alpha": 0.5}


def legend_of_few(figure: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Put one legend below all axes with the first lines, and how many others are grey."""
    shown, others = list(names[:MAX_COLOURED]), len(names) - MAX_COLOURED
    if others > 0:
        shown.append(counted(others, "other"))
    legend_below(figure, handles[: len(shown)], shown)


def bar(i: int) -> dict[str, Any]:
    """Return colour and hatch of the i-th group of bars."""
    return {
        "facecolor": COLOURS[i % len(COLOURS)],
        "hatch": HATCHES[i // len(COLOURS) % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.4,
    }


def legend_below(
    figure: Figure, handles: Sequence[Artist], names: Sequence[str], title: str | None = None
) -> None:
    """Put one legend below all axes, in as many columns as fit, with a title above it."""
    longest = max((len(name) for name in names), default=0)
    width = figure.get_figwidth()
    columns = max(1, min(len(names), int(width / (0.5 + 0.075 * longest))))
    legend = figure.legend(
        handles=list(handles),
        labels=[visible(name) for name in names],
        loc="outside lower center",
        ncols=columns,
        title=title,
        title_fontsize="medium",
    )
    legend.get_title().set_multialignment("center")


def legend_right(axes: Axes) -> None:
    """Put a legend of all lines beside the axes."""
    axes.legend(
        handles=list(axes.lines),  # without them, matplotlib omits names that begin with _
        labels=[visible(str(handle.get_label())) for handle in axes.lines],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
    )


def visible(name: str, length: int = NAME) -> str:
    """Return a name for a legend, shortened, and never with a leading _: matplotlib omits those."""
    name = shortened(name, length)
    return f"\u2009{name}" if name.startswith("_") else name
