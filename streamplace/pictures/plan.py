"""A plan: the source rates that numbers of devices sustain."""

from pathlib import Path
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from streamplace.capacity.plan.result import Plan
from streamplace.pictures.style import COLOURS, GREY, legend_below, picture
from streamplace.problem.objective import MAX_RATE
from streamplace.util.text import printable

SIZE_OF_PLAN = (6.4, 4.2)  # width and height in inches
TITLE = 84  # letters of the title in a line
SUSTAINED, OFFERED, CHOSEN = COLOURS[:3]


def draw_plan(path: str | Path, plan: Plan) -> None:
    """Draw a plan; the file's suffix sets the picture format.

    The title is the plan's answer. Of the fewest devices that keep up, a ring marks the sustained
    rate, and a vertical line how far it is above the offered one.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    bounded = [row for row in plan.rows if row.bound < MAX_RATE]
    with picture(path, SIZE_OF_PLAN) as figure:
        axes = figure.subplots()
        axes.plot(
            [row.devices for row in bounded],
            [row.bound for row in bounded],
            ":",
            color=GREY,
            marker="_",
            label="upper bound",
        )
        axes.plot(
            [row.devices for row in plan.rows],
            [row.max_source_rate for row in plan.rows],
            color=SUSTAINED,
            marker="o",
            label="sustained",
        )
        offered = f"offered: {plan.source_rate:,.6g}"
        axes.axhline(plan.source_rate, color=OFFERED, linestyle="--", linewidth=1.2, label=offered)
        for row in plan.rows:
            if row.devices == plan.fewest_devices:
                _mark(axes, row.devices, row.max_source_rate, plan.source_rate)
        axes.set(xlabel="devices", ylabel="source rate, tuples/s")
        axes.set_title(fill(printable(plan.headline), TITLE), loc="left")
        rates = [row.max_source_rate for row in plan.rows] + [row.bound for row in bounded]
        axes.set_ylim(0.0, 1.08 * max([*rates, plan.source_rate]))
        axes.margins(x=0.04)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.12g}"))
        legend_below(figure, axes.lines, [str(one.get_label()) for one in axes.lines])


def _mark(axes: Axes, devices: int, rate: float, offered: float) -> None:
    """Mark the fewest devices that keep up, and the headroom that they leave."""
    axes.plot(
        devices,
        rate,
        linestyle="",
        marker="o",
        color=CHOSEN,
        markersize=11,
        fillstyle="none",
        markeredgewidth=1.6,
        label=f"fewest that keep up: {devices}",
    )
    above = f"{rate / offered - 1:.0%} above the offered rate"
    axes.plot([devices] * 2, [offered, rate], color=CHOSEN, linewidth=2.5, label=above)
