"""Options that several commands share: fields of dataclasses, see `command`."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from streamplace.cli.command import group, option
from streamplace.cli.param_types import (
    FILE,
    NAME,
    NUMBER,
    OBJECTIVE,
    SECONDS,
    Choice,
    Whole,
    at_least_0,
    checked_id,
    names_out,
    pairs,
    share,
    source_rates,
    wait,
)
from streamplace.display.formats import KINDS
from streamplace.errors import located
from streamplace.execution.backends import BACKENDS, Backend
from streamplace.execution.progress import quietly
from streamplace.files.datasets import check_name
from streamplace.problem.counts import FormName
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import MODELS

NO_PLOTS = "none"


def _hush(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value:
        ctx.call_on_close(quietly())
    return value


@dataclass(frozen=True)
class Printed:
    """The options --json and --quiet."""

    as_json: bool = option("--json", is_flag=True, help="Print the result as JSON on stdout.")
    quiet: bool = option(
        "-q",
        "--quiet",
        is_flag=True,
        is_eager=True,  # before callbacks that print notes
        callback=_hush,
        help="Print only errors on stderr.",
    )


@dataclass(frozen=True)
class Seeded:
    """The option --seed."""

    seed: int = option(
        "--seed",
        type=Whole(0),
        default=0,
        show_default=True,
        metavar="N",
        help="Seed of all random choices.",
    )


@dataclass(frozen=True)
class Common(Printed, Seeded):
    """The options that commands have in common."""


def refuse_unused(required: Mapping[str, str]) -> None:
    """Refuse options of the command line that would have no effect.

    Parameters
    ----------
    required
        Option, such as ``--patch`` -> what it requires, and the command line lacks.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        named = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        for name in parameter.opts:
            if named and name in required:
                raise click.UsageError(f"{name} requires {required[name]}")


def refuse_both_on_stdout(
    output: str | None, as_json: bool, what: str = "graph", option: str = "-o"
) -> None:
    """Refuse --json where `what` goes to stdout; `option` names a file for it."""
    if output == "-" and as_json:
        raise click.UsageError(f"--json requires {option} FILE, since the {what} goes to stdout")


def identifier(name: str, text: str) -> Any:
    """Return an option for the id of a job or topology, which must not be empty."""
    return option(name, callback=checked_id, metavar="ID", help=text)


def flink_job(prefix: str = "") -> Any:
    """Return the option --job for the id of a Flink job, see `Client.running_job`."""
    return identifier("--job", f"{prefix}Id of the job.  [default: the only one that runs]")


def seconds(name: str, default: float, text: str, check: Callable[..., float] = wait) -> Any:
    """Return an option for a time in seconds; `check` is `wait`, or `limit` for a time limit."""
    return option(
        name,
        type=SECONDS,
        callback=check,
        default=default,
        show_default=True,
        metavar="S",
        help=text,
    )


def file(name: str, text: str, metavar: str = "FILE", *, required: bool = False) -> Any:
    """Return an option for the name of a file, which must not be empty."""
    return option(name, type=FILE, required=required, metavar=metavar, help=text)


def output(text: str = "File to write; - is stdout.  [default: -]", metavar: str = "FILE") -> Any:
    """Return the option -o of commands that write to stdout by default."""
    return option("-o", type=FILE, default="-", metavar=metavar, help=text)


def _graph_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not os.path.exists(value):  # it may be a folder, or an input
        check_name(value)
    return value


def graph_output(
    text: str = "Graph file to write; - is stdout.  [default: -]",
    name: str = "-o",
    default: str | None = "-",
) -> Any:
    """Return an option for a graph to write, whose name is checked before the work."""
    return option(
        name, type=FILE, callback=_graph_name, default=default, metavar="GRAPH", help=text
    )


def constraints(of: str = "graph") -> Any:
    """Return the option --constraints, which replaces the constraints of a graph or placement."""
    return file("--constraints", f"Constraints file (JSON), instead of the {of}'s.")


def _pins(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    return pairs(value, "OPERATOR=DEVICE, such as parse=rack1", ctx, param)


def pins() -> Any:
    """Return the option --pin, whose value is operator -> device."""
    return option(
        "--pin",
        multiple=True,
        callback=_pins,
        metavar="OPERATOR=DEVICE",
        help="The device that an operator must run on. Repeatable.\fIt is added to the other "
        "constraints, and replaces another pin of the operator.",
    )


def costs(text: str, metavar: str = "FILE") -> Any:
    """Return the option --costs, a file of numbers that the user knows, with its help text."""
    return file("--costs", text, metavar)


def typical_costs() -> Any:
    """Return the option --typical-costs."""
    return option(
        "--typical-costs",
        is_flag=True,
        help="Fill unknown costs with guesses.\fTypical values by the type of each "
        "operator, from published measurements, with standard errors. The answer says how many "
        "costs are typical values, and which one to measure first.",
    )


def clusters(meaning: str) -> Any:
    """Return the option --clusters; `meaning` ends the first clause of its help."""
    return file("--clusters", f"Clusters (.jsonl or .jsonl.gz, one per line) {meaning}")


def objective(default: str = "throughput") -> Any:
    """Return the option --objective."""
    return option(
        "--objective",
        type=OBJECTIVE,
        metavar="NAME",
        help="throughput, makespan, total-cost or module:Class.  "
        f"[default: {default}]\fWith options, your own is module:Class[:OPTION=VALUE…], e.g. "
        "mymodule:MyObjective:price=2.",
    )


def no_objective(reason: str) -> Any:
    """Return a hidden option --objective that explains why a command does not have it.

    It accepts throughput, which such commands serve.
    """

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value not in (None, "throughput"):
            raise click.BadParameter(f"{reason} (got {value!r:.60})", ctx, param)

    return option("--objective", hidden=True, callback=check, help=f"Not here: {reason}.")


def time_limit(text: str) -> Any:
    """Return the option --time-limit, in seconds, with its help text."""
    return option("--time-limit", type=SECONDS, callback=at_least_0, metavar="S", help=text)


def inputs(text: str) -> Any:
    """Return the option --input, the shapes of a network's inputs, with the end of its help."""
    return option(
        "--input",
        multiple=True,
        metavar="SHAPE[:TYPE]",
        help=f"Shape of an input, such as 1x3x224x224, once per input. {text}a type, such as "
        "1x128:int64, may follow (float32 by default); values are random, whole numbers are 1.",
    )


@dataclass(frozen=True, kw_only=True)
class ClusterChoice:
    """The options --cluster and --devices."""

    cluster_file: str | None = file(
        "--cluster",
        "Cluster file (JSON): devices and network.\f`streamplace init` writes an example.",
    )
    devices: str | None


def cluster(default: str = "5x2500") -> Any:
    """Return the options --cluster and --devices."""
    devices = option(
        "--devices",
        metavar="COUNTxMIPS",
        help="Devices instead of a cluster file, as COUNTxMIPS[xCORES][,…].  "
        f"[default: {default}]\f5x2500,1x2000x4 means five devices of 2500 MIPS (million "
        "instructions/s) and one device with 4 cores of 2000 MIPS each.",
    )
    return group(ClusterChoice, devices=devices)


@dataclass(frozen=True)
class LostDevices:
    """The options --without and --slow."""

    without: str | None = option(
        "--without",
        metavar="NAME[,…]",
        help="Devices or groups of the cluster that are lost.\fHere and with --slow, a name with a "
        """comma is in double quotes: '"rack1,2",n1'.""",
    )
    slow: str | None = option(
        "--slow",
        metavar="NAME=SHARE[,…]",
        help="Slow devices or groups: rack2=0.5 is half as fast.\fSHARE is the share of "
        "the speed that is left. Times by kind of device (seconds_on) are longer as well.",
    )


@dataclass(frozen=True)
class ThroughputChoice:
    """The options --source-rate, --model and --target-utilisation."""

    rates: tuple[float, ...] | Mapping[str, float] | None
    """Rates of all sources together, or source -> rate."""
    model: str | None
    target_utilisation: float | None

    @property
    def source_rates(self) -> tuple[float, ...] | None:
        """The rates of all sources together; None: that of the graph."""
        return (sum(self.rates.values()),) if isinstance(self.rates, Mapping) else self.rates

    @property
    def highest_rate(self) -> float | None:
        """The highest source rate; None: that of the graph."""
        return None if self.source_rates is None else max(self.source_rates)

    def of_sources(self, graph: StreamGraph) -> StreamGraph:
        """Return a graph with the rates of single sources, if they are stated.

        Raises
        ------
        GraphError
            If they do not name exactly the sources, or are not valid.
        """
        if not isinstance(self.rates, Mapping):
            return graph
        with located("--source-rate"):
            return graph.with_numbers(source_rates=self.rates)[0]

    def stating(self, rate: float) -> str | None:
        """Return the value of --source-rate for one rate of it; None without the option."""
        if isinstance(self.rates, Mapping):
            return names_out(f"{source}={own:.17g}" for source, own in self.rates.items())
        return None if self.rates is None else f"{rate:.17g}"

    @property
    def changes(self) -> dict[str, Any]:
        """Arguments of `Objective.with_changes`; None where an option is left out."""
        return {
            "source_rate": self.source_rates,
            "model": self.model,
            "target_utilisation": self.target_utilisation,
        }


def throughput(
    default: str | None = None,
    rate: str = "the graph's",
    several: str = "With several, the rate with the lowest relative throughput decides the score",
    *,
    engine: bool = True,
) -> Any:
    """Return the options of throughput.

    Parameters
    ----------
    default
        Whose values are the defaults, such as "the placement's"; None: each has its own default.
    rate
        The default of the source rate if `default` is None.
    several
        What several rates mean.
    engine
        Whether the help of --model offers the engine.
    """
    bottleneck = "bottleneck (the busiest device or link limits the sources)"
    average = (
        "path-average (a published model: throughput averaged over paths; busy links do not slow "
        "the sources)"
    )
    simulation = "engine (a simulation over time)"
    models = f"{bottleneck}, {average} or {simulation}" if engine else f"{bottleneck} or {average}"
    return group(
        ThroughputChoice,
        rates=option(
            "--source-rate",
            multiple=True,
            callback=source_rates,
            metavar="R[,R2…]",
            help="Tuples/s of all sources, e.g. 1e4, or orders=8000,clicks=2000.  "
            f"[default: {default or rate}]\f{several}.",
        ),
        model=option(
            "--model",
            type=Choice(MODELS),
            metavar=None if engine else "[bottleneck|path-average]",
            help="How throughput is computed.  "
            f"[default: {default or 'bottleneck'}]\fThe models are {models}.",
        ),
        target_utilisation=option(
            "--target-utilisation",
            type=NUMBER,
            callback=share,
            metavar="U",
            help="Highest utilisation, e.g. 0.8.  "
            f"[default: {default or 1}]\fThe share of each device and link that may be used, "
            "above 0 and at most 1; the rest is headroom.",
        ),
    )


@dataclass(frozen=True)
class Workers:
    """The options --jobs, --backend and --address."""

    jobs: int | None = option(
        "--jobs",
        type=Whole(1),
        metavar="N",
        help="Worker processes to run at once.  [default: up to one per core, or all of a cluster]",
    )
    backend: str = option(
        "--backend",
        type=Choice(BACKENDS),
        default="local",
        show_default=True,
        help="Where worker processes run: on this machine (local), on a Ray or on a Dask "
        "cluster. Results are the same.",
    )
    address: str | None = option(
        "--address",
        metavar="HOST:PORT",
        help="Address of the Ray head or Dask scheduler to use with --backend, e.g. "
        "10.0.0.1:6379.  [default: start a cluster on this machine]",
    )

    @property
    def where(self) -> Backend:
        """Where the processes run."""
        return Backend(self.backend, self.address)


@dataclass(frozen=True)
class InstanceForm:
    """The options --fold and --logical: how parallel operators are written."""

    fold: bool = option(
        "--fold",
        is_flag=True,
        help="Keep a parallel operator as one operator, with the total memory of its instances.",
    )
    logical: bool = option(
        "--logical",
        is_flag=True,
        help="Keep a parallel operator as one operator that states its number of instances "
        "(parallelism), as size needs it. Other commands expand it into instances.",
    )

    @property
    def name(self) -> FormName:
        """The form; see `in_form`."""
        return "logical" if self.logical else "folded" if self.fold else "instances"

    def check(self) -> None:
        """Refuse both options together."""
        if self.fold and self.logical:
            raise click.UsageError("cannot combine --fold with --logical")


@dataclass(frozen=True)
class Folder:
    """The options -o and --plots of commands that write results, tables and plots."""

    folder: str | None
    plots: str | None = option(
        "--plots",
        type=Choice((*KINDS, NO_PLOTS)),
        help="File format of the plots in DIR.  [default: png]",
    )

    @property
    def pictures(self) -> str | None:
        """The format of the plots; None: no plots."""
        return None if self.plots == NO_PLOTS else self.plots or KINDS[0]


def folder(text: str, *, required: bool = False) -> Any:
    """Return the options -o, whose help is `text`, and --plots."""
    return group(Folder, folder=file("-o", text, "DIR", required=required))


@dataclass(frozen=True)
class FlinkProgram:
    """The options for the program of a Flink job, as it is started again."""

    jar: str | None
    entry_class: str | None = option(
        "--entry-class", metavar="CLASS", help="Main class.  [default: the jar's]"
    )
    arguments: tuple[str, ...] = option(
        "--arg", multiple=True, metavar="TEXT", help="An argument; repeatable."
    )
    savepoint_dir: str | None = option(
        "--savepoint-dir", metavar="URL", help="Folder for savepoints.  [default: Flink's]"
    )
    without_uids: bool = option(
        "--without-uids",
        is_flag=True,
        help="Accept operators without uid if their ids stay the same, as without operator "
        "chaining.",
    )


def program(*, required: bool) -> Any:
    """Return the options of a Flink program; `required` says whether --jar is required."""
    jar = option(
        "--jar",
        type=NAME,
        required=required,
        metavar="FILE|ID",
        help="Jar of the job, a file or the id of an uploaded jar. It calls "
        "StreamplaceMapping.apply.",
    )
    return group(FlinkProgram, jar=jar)
