"""Pictures of results; matplotlib is loaded when one of the functions below is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamplace.plots.budgets import budgets_picture as budgets_picture
    from streamplace.plots.comparison import devices_picture as devices_picture
    from streamplace.plots.comparison import throughput_picture as throughput_picture
    from streamplace.plots.distributions import distributions_picture as distributions_picture
    from streamplace.plots.engine_run import draw_run as draw_run
    from streamplace.plots.gantt import draw_schedule as draw_schedule
    from streamplace.plots.makespan_comparison import makespan_picture as makespan_picture
    from streamplace.plots.plan import draw_plan as draw_plan
    from streamplace.plots.training_curves import draw_curves as draw_curves

_HOME = {
    "budgets_picture": "budgets",
    "devices_picture": "comparison",
    "distributions_picture": "distributions",
    "draw_curves": "training_curves",
    "draw_plan": "plan",
    "draw_run": "engine_run",
    "draw_schedule": "gantt",
    "makespan_picture": "makespan_comparison",
    "throughput_picture": "comparison",
}
"""Function -> its module."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
