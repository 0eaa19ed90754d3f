"""Options of `simulate --model engine`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamplace.cli.options import file_name
from streamplace.cli.param_types import FILE, Choice

if TYPE_CHECKING:
    from sim.engine import RunMetrics
    from streamplace.problem.placement import Placement

Command = TypeVar("Command", bound=Callable[..., Any])
EVERY_S = 1.0  # seconds between the moments of a trace
OF_SETTINGS = {
    "duration": "duration_s",
    "tick": "tick_s",
    "scheduler": "scheduler",
    "allocation": "allocation",
    "queue": "queue",
    "source_queue": "source_queue",
    "backpressure": "backpressure",
}
OPTIONS = (
    click.option("--duration", type=float, metavar="S", help="Engine: seconds  [default: 61]"),
    click.option("--tick", type=float, metavar="S", help="Engine: seconds a tick  [default: 0.1]"),
    click.option(
        "--scheduler",
        type=Choice(["default", "dynamic"]),
        help="Engine: fixed shares of a device, or shares of what others leave  [default: default]",
    ),
    click.option(
        "--allocation",
        type=Choice(["uniform", "weighted"]),
        help="Engine: equal shares, or by offered work  [default: weighted]",
    ),
    click.option(
        "--queue",
        type=float,
        metavar="N",
        help="Engine: tuples a queue holds, 0: any  [default: 2048]",
    ),
    click.option(
        "--source-queue",
        type=float,
        metavar="N",
        help="Engine: tuples that may wait at a source, the rest is dropped; 0: any  [default: 0]",
    ),
    click.option(
        "--backpressure/--no-backpressure",
        default=None,
        help="Engine: whether tuples between devices count against queues  [default: they do]",
    ),
    click.option(
        "--scene",
        callback=file_name,
        type=FILE,
        metavar="FILE",
        help="Engine: source rates over time, windows, slowed devices.",
    ),
    click.option(
        "--trace", callback=file_name, type=FILE, metavar="FILE", help="Engine: what happened."
    ),
    click.option(
        "--plot",
        callback=file_name,
        type=FILE,
        metavar="FILE",
        help="Engine: the same drawn, .png, .svg or .pdf.",
    ),
)


def options(command: Command) -> Command:
    """Add the engine's options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def run(
    placement: "Placement", chosen: dict[str, Any], inputs: tuple[str | None, ...]
) -> "tuple[Placement, RunMetrics]":
    """Run a placement as the options tell; write the trace and the picture they ask for.

    Of several source rates, all that is told is of the worst; see `scoring.engine.worst_run`.

    Parameters
    ----------
    inputs
        Files that the command has read, besides the scene: none is written over.
    """
    from sim.engine import Settings  # noqa: PLC0415 - a command loads what it needs
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.errors import FormatError, ProblemError, UsageError  # noqa: PLC0415
    from streamplace.files import write_json  # noqa: PLC0415
    from streamplace.files.reading import name_of, read_json  # noqa: PLC0415
    from streamplace.files.scenes import scene_from  # noqa: PLC0415
    from streamplace.files.traces import trace_to  # noqa: PLC0415
    from streamplace.scoring import engine  # noqa: PLC0415

    targets = {f"--{option}": chosen.get(option) for option in ("trace", "plot")}
    check_targets(targets, (*inputs, chosen.get("scene")))
    try:
        settings = Settings(**{OF_SETTINGS[n]: x for n, x in chosen.items() if n in OF_SETTINGS})
    except ValueError as error:
        field, _, fault = str(error).partition(": ")
        option = next(name for name, of in OF_SETTINGS.items() if of == field)
        raise UsageError(f"--{option.replace('_', '-')}: {fault}") from None
    scene = None
    if "scene" in chosen:
        value = read_json(chosen["scene"])
        scene = scene_from(value, placement.problem, name_of(chosen["scene"]))
    if "plot" in chosen:
        from streamplace.plots.engine_run import draw_run  # noqa: PLC0415
        from streamplace.plots.formats import kind_of  # noqa: PLC0415

        kind_of(chosen["plot"])  # before anything runs
    watched = "trace" in chosen or "plot" in chosen
    try:
        placed, found = engine.worst_run(placement, settings, scene, EVERY_S if watched else None)
    except ProblemError as error:  # the placement was read, so it is the scene that does not fit
        if scene is None:
            raise
        fault = str(error).removeprefix("scene: ")
        raise FormatError(f"{name_of(chosen['scene'])}: {fault}") from None
    if "plot" in chosen:
        draw_run(chosen["plot"], placed, found)
    if "trace" in chosen:
        write_json(chosen["trace"], trace_to(placed, found))
    return placed, found
