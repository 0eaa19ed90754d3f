"""The run that the options of `simulate --model engine` describe."""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import click

from streamplace.cli.command import print_note
from streamplace.cli.output_files import check_targets
from streamplace.cli.param_types import AUTO_TICK
from streamplace.display.formats import kind_of
from streamplace.errors import Fault, FormatError, ProblemError, UsageError
from streamplace.files import write_json
from streamplace.files.reading import name_of, read_json
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.engine import RunMetrics, SettingError, Settings
from streamplace.ticks import runs
from streamplace.ticks.evaluator import TUPLE_SCORE
from streamplace.ticks.files import scene_from, trace_to
from streamplace.util.extras import load_drawing
from streamplace.util.plugins import load_ours

DRAW = "streamplace.pictures.engine_run:draw_run"
"""Draws a run; loaded once a plot is wanted, since it loads matplotlib."""
SAMPLE_INTERVAL_S = 1.0  # between samples of the trace
SINGLE_TUPLES = ("arrivals", "service")  # options of a simulation of single tuples
SETTING_NAMES = {  # option -> field of streamplace.sim.engine.Settings
    "duration": "duration_s",
    "tick": "tick_s",
    "scheduler": "scheduler",
    "allocation": "allocation",
    "queue": "queue",
    "source_queue": "source_queue",
    "backpressure": "backpressure",
    "source_wait": "source_wait",
    "arrivals": "arrivals",
    "service": "service",
    "seed": "seed",
}


def prepared(
    chosen: dict[str, Any], inputs: tuple[str | None, ...], seed: int
) -> Callable[[Placement], ThroughputScore]:
    """Return a function that scores a placement by a run of ticks, or of single tuples.

    Options are refused before anything is read; an error names the option.

    Parameters
    ----------
    chosen
        Option -> value, for the options that the user specified.
    inputs
        Files that the command reads, except the scene; none of them is overwritten.
    seed
        Seed of random arrivals and services.
    """
    targets = {f"--{option}": chosen.get(option) for option in ("trace", "plot")}
    check_targets(targets, (*inputs, chosen.get("scene")))
    if "plot" in chosen:
        kind_of(chosen["plot"])
        load_drawing(DRAW)
    if not _is_of_single_tuples(chosen):
        settings = _settings(chosen)
        return lambda placement: runs.score_of_run(*run(placement, chosen, settings))
    for name, other in permutations(SINGLE_TUPLES):
        if name not in chosen:
            raise click.UsageError(f"--{other} requires --{name}")
    for name in (each for each in chosen if each not in {*SINGLE_TUPLES, "duration"}):
        raise click.UsageError(f"cannot combine --arrivals with --{name.replace('_', '-')}")
    return partial(load_ours(TUPLE_SCORE), settings=_settings({**chosen, "seed": seed}))


def _is_of_single_tuples(chosen: dict[str, Any]) -> bool:
    return any(name in chosen for name in SINGLE_TUPLES)


def _settings(chosen: dict[str, Any]) -> Settings:
    """Return the settings of the engine; an error names the option."""
    values = {SETTING_NAMES[name]: value for name, value in chosen.items() if name in SETTING_NAMES}
    if values.get("tick_s", AUTO_TICK) == AUTO_TICK:
        values["tick_s"] = None
    try:
        return Settings(**values)
    except SettingError as error:
        option = next(name for name, field in SETTING_NAMES.items() if field == error.setting)
        raise UsageError(Fault(error.what, option=f"--{option.replace('_', '-')}")) from None


def run(
    placement: Placement, chosen: dict[str, Any], settings: Settings
) -> tuple[Placement, RunMetrics]:
    """Run a placement in the engine; write the trace and the plot if the options name files.

    With several source rates, only the run at the rate with the lowest score is returned and
    written; see `ticks.runs.worst_run`.

    Parameters
    ----------
    chosen
        Option -> value, for the options that the user specified.
    """
    scene = None
    if "scene" in chosen:
        value = read_json(chosen["scene"])
        scene = scene_from(value, placement.problem, name_of(chosen["scene"]))
    sampled = "trace" in chosen or "plot" in chosen
    try:
        placed, metrics = runs.worst_run(
            placement, settings, scene, SAMPLE_INTERVAL_S if sampled else None
        )
    except ProblemError as error:
        if error.fault.option != runs.SCENE:
            raise
        raise FormatError(Fault(error.fault.what, name_of(chosen["scene"]))) from None
    if scene is not None and scene.windows:
        _warn_of_windows(metrics, name_of(chosen["scene"]))
    if "plot" in chosen:
        load_drawing(DRAW)(chosen["plot"], placed, metrics)
    if "trace" in chosen:
        write_json(chosen["trace"], trace_to(placed, metrics))
    return placed, metrics


def _warn_of_windows(run: RunMetrics, scene: str) -> None:
    """Print a note if the windows of a scene change the throughput by more than 1%."""
    simulation, devices = run.simulation, run.trace.devices
    before, after = (
        float(bottleneck.throughput(flow, devices)[0])
        for flow in (simulation.flow, simulation.nominal)
    )
    if abs(after - before) > 0.01 * before:
        print_note(
            f"{scene}: windows change the steady throughput from {before:,.6g} to {after:,.6g} "
            "tuples/s: a stream carries the window's ratio times its selectivity in the graph"
        )
