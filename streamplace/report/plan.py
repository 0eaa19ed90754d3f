"""A plan as a picture: the source rate that 1, 2, … devices sustain."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from streamplace.files.atomic import atomic
from streamplace.planning import Plan
from streamplace.report.pictures import kind_of

SIZE = (7.0, 4.5)  # inches


def draw_plan(path: str | Path, found: Plan) -> None:
    """Draw a plan; the kind of picture follows the file's name.

    Raises
    ------
    UsageError
        If the file's name stands for no kind of picture.
    FormatError
        If it cannot be written.
    """
    kind = kind_of(path)
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    devices = [row.devices for row in found.rows]
    axes.plot(devices, [row.bound for row in found.rows], ":", color="grey", label="bound")
    rates = [row.max_source_rate for row in found.rows]
    axes.plot(devices, rates, marker="o", label="sustained")
    axes.axhline(found.source_rate, color="black", linewidth=0.8, label="planned for")
    if found.fewest_devices is not None:
        axes.axvline(found.fewest_devices, color="tab:green", linewidth=0.8, label="fewest")
    axes.set(xlabel="devices", ylabel="source rate, tuples/s", ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    with atomic(path) as file:
        figure.savefig(file, format=kind)
