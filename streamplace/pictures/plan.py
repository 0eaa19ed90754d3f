"""A plan: the source rates that numbers of devices sustain."""

from pathlib import Path
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from streamplace.capacity.plan.result import Plan
from streamplace.pictures.style import COLOURS, GREY, legend_below, picture

SIZE_OF_PLAN = (6.4, 4.2)  # width and height in inches


def draw_plan(path: str | Path, plan: Plan) -> None:
    """Draw a plan; the file's suffix sets the picture format.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    devices = [row.devices for row in plan.rows]
    with picture(path, SIZE_OF_PLAN) as figure:
        axes = figure.subplots()
        bounds = [row.bound for row in plan.rows]
        axes.plot(devices, bounds, ":", color=GREY, marker="_", label="upper bound")
        rates = [row.max_source_rate for row in plan.rows]
        axes.plot(devices, rates, color=COLOURS[0], marker="o", label="sustained")
        dashed: dict[str, Any] = {"color": COLOURS[1], "linestyle": "--", "linewidth": 1.2}
        axes.axhline(plan.source_rate, **dashed, label=f"planned: {plan.source_rate:,.6g}")
        if plan.fewest_devices is not None:
            i = devices.index(plan.fewest_devices)
            label = f"fewest devices that keep up: {plan.fewest_devices}"
            ring: dict[str, Any] = {"markersize": 11, "fillstyle": "none", "markeredgewidth": 1.6}
            at = (devices[i : i + 1], rates[i : i + 1])
            axes.plot(*at, linestyle="", marker="o", color=COLOURS[2], label=label, **ring)
        axes.set(xlabel="devices", ylabel="source rate, tuples/s")
        axes.set_ylim(0.0, 1.08 * max([*bounds, *rates, plan.source_rate]))
        axes.margins(x=0.04)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.6g}"))
        lines: list[Line2D] = list(axes.lines)
        legend_below(figure, lines, [str(one.get_label()) for one in lines])
