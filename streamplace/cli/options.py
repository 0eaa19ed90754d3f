"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from streamplace.cli.checks import at_least_0, checked_id, file_name, rates, share, wait
from streamplace.cli.param_types import FILE, NUMBER, OBJECTIVE, Choice, Whole
from streamplace.execution.backends import BACKENDS
from streamplace.execution.progress import quietly
from streamplace.problem.objective import MODELS

Command = TypeVar("Command", bound=Callable[..., Any])


def identifier(name: str, text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Return an option for the id of a job or topology, which must not be empty."""
    return click.option(name, required=required, callback=checked_id, metavar="ID", help=text)


def seconds(name: str, default: float, text: str) -> Callable[[Command], Command]:
    """Return an option for a time in seconds, see `wait`."""
    return click.option(
        name,
        type=NUMBER,
        callback=wait,
        default=default,
        show_default=True,
        metavar="S",
        help=text,
    )


def _hush(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.call_on_close(quietly())


as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON on stdout."
)
seed = click.option(
    "--seed",
    type=Whole(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of all random choices.",
)
quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_hush,
    help="Print only errors on stderr.",
)
constraints = click.option(
    "--constraints",
    "constraints_file",
    callback=file_name,
    type=FILE,
    metavar="FILE",
    help="Constraints file (JSON), used instead of the graph's constraints.",
)
fold = click.option(
    "--fold",
    is_flag=True,
    help="Keep a parallel operator as one operator, with the total memory of its instances.",
)
logical = click.option(
    "--logical",
    is_flag=True,
    help="Keep a parallel operator as one operator that states its number of instances "
    "(parallelism), as size needs it. Other commands expand it into instances.",
)


def model(default: str = "bottleneck", engine: bool = True) -> Callable[[Command], Command]:
    """Return the option --model; `engine` says whether the help offers the engine."""
    bottleneck = "bottleneck (the busiest device or link limits the sources)"
    average = (
        "path-average (the published model of Ni et al., AAAI 2020: throughput averaged over "
        "paths; busy links do not slow the sources)"
    )
    simulation = "engine (a simulation over time)"
    models = f"{bottleneck}, {average} or {simulation}" if engine else f"{bottleneck} or {average}"
    return click.option(
        "--model",
        type=Choice(MODELS),
        metavar=None if engine else "[bottleneck|path-average]",
        help=f"How throughput is computed: {models}.  [default: {default}]",
    )


def source_rates(
    default: str = "the graph's",
    several: str = "with several, the rate with the lowest relative throughput decides the score",
) -> Callable[[Command], Command]:
    """Return the option --source-rate; `several` says what several rates mean."""
    return click.option(
        "--source-rate",
        "source_rates",
        callback=rates,
        metavar="R[,R2…]",
        help=f"Tuples/s over all sources together, e.g. 1e4; {several}.  [default: {default}]",
    )


def target_utilisation(default: str = "1") -> Callable[[Command], Command]:
    """Return the option --target-utilisation."""
    return click.option(
        "--target-utilisation",
        type=NUMBER,
        callback=share,
        metavar="U",
        help="Share of each device and link that may be used, above 0 and at most 1; the rest "
        f"is headroom. E.g. 0.8.  [default: {default}]",
    )


def objective(default: str = "throughput") -> Callable[[Command], Command]:
    """Return the option --objective."""
    return click.option(
        "--objective",
        type=OBJECTIVE,
        metavar="NAME",
        help="What to improve: throughput, makespan, or your own as NAME[:OPTION=VALUE…], e.g. "
        f"mymodule:MyObjective:price=2.  [default: {default}]",
    )


def no_objective(reason: str) -> Callable[[Command], Command]:
    """Return a hidden option --objective that explains why a command does not have it.

    It accepts throughput, which such commands serve.
    """

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value not in (None, "throughput"):
            raise click.BadParameter(f"{reason} (got {value!r:.60})", ctx, param)

    return click.option(
        "--objective", hidden=True, expose_value=False, callback=check, help=f"Not here: {reason}."
    )


def time_limit(text: str) -> Callable[[Command], Command]:
    """Return the option --time-limit, in seconds, with its help text."""
    return click.option("--time-limit", type=NUMBER, callback=at_least_0, metavar="S", help=text)


def costs(text: str, metavar: str = "FILE") -> Callable[[Command], Command]:
    """Return the option --costs, a file of numbers that the user knows, with its help text."""
    return click.option(
        "--costs",
        "costs_file",
        callback=file_name,
        type=FILE,
        metavar=metavar,
        help=text,
    )


def inputs(text: str) -> Callable[[Command], Command]:
    """Return the option --input, the shapes of a module's inputs, with the start of its help."""
    return click.option(
        "--input",
        "inputs",
        multiple=True,
        metavar="SHAPE[:TYPE]",
        help=f"{text}, such as 1x3x224x224 or 1x128:int64 (float32 by default); once per input. "
        "Values are random, whole numbers are 1.",
    )


def output(
    text: str = "File to write; - is stdout.  [default: -]", metavar: str = "FILE"
) -> Callable[[Command], Command]:
    """Return the option -o of commands that write to stdout by default."""
    return click.option(
        "-o",
        "output",
        callback=file_name,
        type=FILE,
        default="-",
        metavar=metavar,
        help=text,
    )


def common(command: Command) -> Command:
    """Add --json, --quiet and --seed, which every command has."""
    return as_json(quiet(seed(command)))


def processes(command: Command) -> Command:
    """Add --jobs, --backend and --address."""
    jobs = click.option(
        "--jobs",
        type=Whole(1),
        metavar="N",
        help="Worker processes to run in parallel.  [default: one per core]",
    )
    backend = click.option(
        "--backend",
        type=Choice(BACKENDS),
        default="local",
        show_default=True,
        help="Where worker processes run: on this machine (local), on a Ray or on a Dask "
        "cluster. Results are the same.",
    )
    address = click.option(
        "--address",
        metavar="HOST:PORT",
        help="Address of the Ray head or Dask scheduler to use with --backend, e.g. "
        "10.0.0.1:6379.  [default: start a cluster on this machine]",
    )
    return jobs(backend(address(command)))


def cluster(default: str = "5x2500") -> Callable[[Command], Command]:
    """Return a decorator that adds --cluster and --devices."""

    def decorator(command: Command) -> Command:
        by_file = click.option(
            "--cluster",
            "cluster_file",
            callback=file_name,
            type=FILE,
            metavar="FILE",
            help="Cluster file (JSON): devices and network. `streamplace init` writes an example.",
        )
        by_text = click.option(
            "--devices",
            metavar="COUNTxMIPS",
            help="Devices to use instead of a cluster file, as COUNTxMIPS[xCORES][,…]: "
            "5x2500,1x2000x4 means five devices of 2500 MIPS (million instructions/s) and one "
            "device with 4 cores of 2000 MIPS each.  "
            f"[default: {default}]",
        )
        return by_file(by_text(command))

    return decorator


def losses(command: Command) -> Command:
    """Add --without and --slow."""
    without = click.option(
        "--without",
        metavar="NAME[,…]",
        help="Devices of the cluster that are lost; the name of a group means all of its devices.",
    )
    slow = click.option(
        "--slow",
        metavar="NAME=SHARE[,…]",
        help="Devices of the cluster, or groups, that are slow, with the share of their speed that "
        "is left: rack2=0.5 is half as fast. Times by kind of device (seconds_on) are longer "
        "as well.",
    )
    return without(slow(command))
