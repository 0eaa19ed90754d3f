"""Options of `simulate --model engine`, and the run that they describe."""

from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import click

from streamplace.cli.command import option, print_note
from streamplace.cli.options import file
from streamplace.cli.output_files import check_targets
from streamplace.cli.param_types import AUTO_TICK, NUMBER, SECONDS, TICK, Choice
from streamplace.errors import FormatError, ProblemError, UsageError
from streamplace.files import write_json
from streamplace.files.engine_runs import scene_from, trace_to
from streamplace.files.reading import name_of, read_json
from streamplace.pictures.formats import kind_of
from streamplace.problem.placement import Placement
from streamplace.scoring import engine
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.tuples import tuple_score
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.engine import RunMetrics, Settings

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


@dataclass(frozen=True)
class EngineOptions:
    """The options of the engine; None where one is left out."""

    duration: float | None = option(
        "--duration", type=SECONDS, metavar="S", help="Engine: seconds to simulate.  [default: 61]"
    )
    tick: float | None = option(
        "--tick",
        type=TICK,
        metavar="S|auto",
        help="Engine: seconds per tick; shortened if queues or windows require it. auto starts "
        "with 0.1 and halves the tick until the throughput no longer changes.  [default: auto]",
    )
    scheduler: str | None = option(
        "--scheduler",
        type=Choice(["default", "dynamic"]),
        help="Engine: operators have fixed shares of their device (default), or unused shares go "
        "to operators with work left (dynamic).  [default: default]",
    )
    allocation: str | None = option(
        "--allocation",
        type=Choice(["uniform", "weighted"]),
        help="Engine: operators on a device get equal shares of it (uniform), or shares in "
        "proportion to the work that arrives for them (weighted).  [default: weighted]",
    )
    queue: float | None = option(
        "--queue",
        type=NUMBER,
        metavar="N",
        help="Engine: tuples that may wait on a stream; 0 is unlimited.  [default: 2048]",
    )
    source_queue: float | None = option(
        "--source-queue",
        type=NUMBER,
        metavar="N",
        help="Engine: tuples that may wait at a source; any beyond that are dropped. 0 is "
        "unlimited.  [default: 0]",
    )
    backpressure: bool | None = option(
        "--backpressure/--no-backpressure",
        default=None,
        help="Engine: whether overloaded links slow their senders. If so, tuples in transit "
        "between devices count towards --queue. A full queue slows its senders in either case.  "
        "[default: backpressure]",
    )
    source_wait: bool | None = option(
        "--without-source-wait",
        flag_value=False,
        type=bool,
        default=None,
        help="Engine: measure the latency of a tuple from when its source takes it, as CEPSim "
        "does, and not from when it is offered to the source.",
    )
    arrivals: str | None = option(
        "--arrivals",
        type=Choice(["poisson", "bursts"]),
        help="Engine: simulate single tuples that arrive at random, instead of ticks. poisson: "
        "with independent exponential times between them; bursts: at rates that alternate between "
        "1.5 times and half the source rate, for about 1 s each. Requires --service; of the other "
        "options of the engine, only --duration can be used.",
    )
    service: str | None = option(
        "--service",
        type=Choice(["exponential", "deterministic"]),
        help="Engine: distribution of the time that an operator takes for a tuple. Requires "
        "--arrivals.",
    )
    scene: str | None = file(
        "--scene",
        "Engine: file (JSON) that describes source rates over time, windows and slow devices "
        "during the run; see `streamplace schema scene`.",
    )
    trace: str | None = file(
        "--trace",
        "Engine: file to write (JSON) with rates, queues and utilisations for every second of "
        "the run; - is stdout.",
    )
    plot: str | None = file(
        "--plot",
        "Engine: plot file to write (the trace over time): .png, .svg or .pdf.",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """Option -> value, for the options that the user specified."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def checked(chosen: dict[str, Any], inputs: tuple[str | None, ...], seed: int) -> Settings:
    """Return the settings of the engine, before anything is read; an error names the option.

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
    if not _is_of_single_tuples(chosen):
        return _settings(chosen)
    for name, other in permutations(SINGLE_TUPLES):
        if name not in chosen:
            raise click.UsageError(f"--{other} requires --{name}")
    for name in (each for each in chosen if each not in {*SINGLE_TUPLES, "duration"}):
        raise click.UsageError(f"cannot combine --arrivals with --{name.replace('_', '-')}")
    return _settings({**chosen, "seed": seed})


def _is_of_single_tuples(chosen: dict[str, Any]) -> bool:
    return any(name in chosen for name in SINGLE_TUPLES)


def scored(placement: Placement, chosen: dict[str, Any], settings: Settings) -> ThroughputScore:
    """Return the score of a placement by a run of ticks, or of single tuples; see `run`."""
    if _is_of_single_tuples(chosen):
        return tuple_score(placement, settings)
    return engine.score_of_run(*run(placement, chosen, settings))


def _settings(chosen: dict[str, Any]) -> Settings:
    """Return the settings of the engine; an error names the option."""
    values = {SETTING_NAMES[name]: value for name, value in chosen.items() if name in SETTING_NAMES}
    if values.get("tick_s", AUTO_TICK) == AUTO_TICK:
        values["tick_s"] = None
    try:
        return Settings(**values)
    except ValueError as error:
        field, _, fault = str(error).partition(": ")
        option = next(name for name, setting in SETTING_NAMES.items() if setting == field)
        raise UsageError(f"--{option.replace('_', '-')}: {fault}") from None


def run(
    placement: Placement, chosen: dict[str, Any], settings: Settings
) -> tuple[Placement, RunMetrics]:
    """Run a placement in the engine; write the trace and the plot if the options name files.

    With several source rates, only the run at the rate with the lowest score is returned and
    written; see `scoring.engine.worst_run`.

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
        placed, metrics = engine.worst_run(
            placement, settings, scene, SAMPLE_INTERVAL_S if sampled else None
        )
    except ProblemError as error:  # the placement is valid, so the fault is in the scene
        if scene is None:
            raise
        fault = str(error).removeprefix("scene: ")
        raise FormatError(f"{name_of(chosen['scene'])}: {fault}") from None
    if scene is not None and scene.windows:
        _warn_of_windows(metrics, name_of(chosen["scene"]))
    if "plot" in chosen:
        from streamplace.pictures.engine_run import draw_run  # noqa: PLC0415 - loads matplotlib

        draw_run(chosen["plot"], placed, metrics)
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
