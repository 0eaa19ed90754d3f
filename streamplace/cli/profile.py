"""The command `profile`: costs measured in running jobs; `profile_torch` has those of modules."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import click

from streamplace.cli import options, param_types, printing, profile_torch
from streamplace.cli.command import argument, command, group, option
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets
from streamplace.cli.profile_summary import print_profile
from streamplace.errors import BackendError, FormatError, ProblemError, located
from streamplace.execution.progress import working
from streamplace.files import write_dataset, write_placement
from streamplace.files.atomic import write_text
from streamplace.files.reading import name_of, read_json, to_csv
from streamplace.integrations.costs import Costs
from streamplace.integrations.flink.cpu_times import ThreadDumps
from streamplace.integrations.flink.fit import fit
from streamplace.integrations.flink.growth import TOO_FEW
from streamplace.integrations.flink.poll import Watch, cpu_times_of, task_managers_of
from streamplace.integrations.flink.uneven import with_shares
from streamplace.integrations.profiling.estimates import MIN_INTERVALS
from streamplace.integrations.profiling.profile import (
    Profile,
    current_assignment,
    current_placement,
)
from streamplace.integrations.profiling.rest import Server
from streamplace.integrations.storm.profile import documents
from streamplace.integrations.storm.profile import fit as fit_topology
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted


@dataclass(frozen=True)
class JobOptions(options.Common):
    """The options that the commands for jobs share."""

    mips: float = option(
        "--mips",
        type=param_types.NUMBER,
        callback=param_types.above_0,
        required=True,
        metavar="M",
        help="Speed of one core of the job's devices, in million instructions/s; used to convert "
        "measured seconds to instructions.",
    )
    timeout: float = options.seconds(
        "--timeout", 10, "Seconds to wait for each answer of the server."
    )
    costs_file: str | None = options.costs(
        "File of numbers to use instead of measured ones, or where nothing can be measured; format "
        "as in `streamplace import --help`."
    )
    objective: None = options.no_objective("profile measures costs, which serve every objective")
    form: options.Form = group(options.Form)
    output: str = options.output()


@click.group()
def profile() -> None:
    """Measure the operators of a running job or of a neural network.

    \b
    Examples:
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 -o graph.json
    streamplace profile storm http://localhost:8080 --topology words-1-17 --mips 2500 -o graph.json
    streamplace profile torch mynets:Net --input 1x3x224x224 -o graph.json
    """


profile.add_command(profile_torch.torch)


@dataclass(frozen=True)
class FlinkOptions(JobOptions):
    """The options of `flink`."""

    url: str = argument()
    job: str = options.identifier("--job", "Id of the job.", required=True)
    seconds: float = options.seconds("--seconds", 60, "Seconds to watch the job.")
    placement_file: str | None = options.file(
        "--placement",
        "File to write the current placement to: .csv (operator,device), or JSON under any other "
        "name. JSON requires that all numbers of the graph are known.",
    )
    thread_dumps: str | None = option(
        "--thread-dumps",
        metavar="COMMAND",
        help="Command that prints a thread dump of a TaskManager within --timeout; {} stands for "
        "its id. Costs are then CPU times of threads instead of busy times, which include waits "
        "for a core.",
    )


@command(FlinkOptions, of=profile.command)
def flink(chosen: FlinkOptions) -> None:
    """Measure a Flink job and write its graph.

    URL is the address of Flink's REST API. The numbers are printed with their standard errors.
    Numbers that cannot be measured stay unknown (null), and the reason is printed. Flink
    measures neither bytes nor busy time inside operator chains, so disable operator chaining in
    the job (pipeline.operator-chaining.enabled: false) while you profile it. If the server or the
    job fails, the measurements made so far are written.

    Busy times include the time that threads wait for a core. Where a TaskManager has fewer cores
    than busy threads, or a limit on CPU time, measure CPU times with --thread-dumps.

    \b
    Examples:
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 -o graph.json
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 --thread-dumps 'dump {}'

    In the second example, dump is a program of yours. It receives the id of a TaskManager and
    prints the output of `jcmd PID Thread.print` on the host of that TaskManager.
    """
    if [chosen.output, chosen.placement_file, "-" if chosen.as_json else None].count("-") > 1:
        raise click.UsageError("only one of -o, --placement and --json can write to stdout")
    chosen.form.check()
    if chosen.form.fold and chosen.placement_file is not None:
        raise click.UsageError("cannot combine --placement with --fold")

    check_targets({"-o": chosen.output, "--placement": chosen.placement_file}, (chosen.costs_file,))
    with_costs = _costs(chosen.costs_file)
    dumps = (
        None if chosen.thread_dumps is None else ThreadDumps(chosen.thread_dumps, chosen.timeout)
    )
    with working("watching"):
        watch = Watch(
            Server(chosen.url), chosen.job, chosen.timeout, seed=chosen.seed, thread_dumps=dumps
        )
        watched = watch.run(chosen.seconds, with_costs)
        cpu_times = None if dumps is None else cpu_times_of(watched)
        found = fit(watched.plan, watched.readings, chosen.mips, cpu_times)
    is_empty = bool(chosen.seconds) and not found.intervals and not watched.interrupted
    where = watch.server.url
    short = (
        f"{where}: nothing was measured within {chosen.seconds:g} s: {TOO_FEW}" if is_empty else ""
    )
    fault = watched.fault or short
    costed = replace(with_costs(found.logical), max_parallelism=watched.logical_limits)
    costed = with_shares(costed, watched.plan, watched.subtasks, watched.last)
    for name, shares in sorted(costed.measured_shares.items()):
        most = f"{max(shares):.0%} of its tuples, {max(shares) * len(shares):.3g} times the mean"
        printing.print_note(f"uneven: one of {len(shares)} instances of {name!r} has {most}")
    graph = graph_of(costed, chosen.form)
    hosts = task_managers_of(watched)
    to_stderr = "-" in (chosen.output, chosen.placement_file)
    _write(found, costed.graph, graph, chosen.output, fault, chosen.as_json, to_stderr, hosts=hosts)
    if chosen.placement_file is not None:
        with suppress(BackendError) if fault else nullcontext():
            instances = to_instances(costed)
            _write_placement(
                chosen.placement_file, instances, hosts, watched.task_managers, chosen.mips
            )
    if watched.interrupted:
        raise KeyboardInterrupt
    _end(watched.fault, chosen.output)
    if short:
        raise BackendError(short)


@dataclass(frozen=True)
class StormOptions(JobOptions):
    """The options of `storm`."""

    source: str = argument(type=param_types.FILE, metavar="URL|FILE")
    topology: str | None = options.identifier(
        "--topology", "Id of the topology; required with a URL."
    )
    window: str | None = option(
        "--window",
        type=param_types.Choice(["600", "10800", "86400"]),
        help="Period that the counters cover, in seconds: the last 10 minutes, 3 hours or 24 "
        "hours. Requires a URL.  "
        "[default: since the topology started]",
    )


@command(StormOptions, of=profile.command)
def storm(chosen: StormOptions) -> None:
    """Measure a Storm topology and write its graph.

    URL is the address of Storm's UI. FILE is a saved response of the UI's /metrics or
    /visualization endpoint, or a JSON object with the keys topology, metrics and visualization.
    Storm counts no bytes and does not time spouts: put payload_bytes, and the instructions of
    spouts, into the --costs file.

    \b
    Examples:
    streamplace profile storm http://localhost:8080 --topology words-1-17 --mips 2500 -o graph.json
    streamplace profile storm metrics.json --mips 2500 --costs costs.toml -o graph.json
    """
    chosen.form.check()
    if chosen.output == "-" and chosen.as_json:
        raise click.UsageError("--json requires -o FILE, since the graph goes to stdout otherwise")
    by_web = chosen.source.startswith(("http://", "https://"))
    if by_web and chosen.topology is None:
        raise click.UsageError("a URL requires --topology")
    if chosen.topology is not None and not by_web:
        raise click.UsageError("--topology requires the URL of Storm's UI")
    if chosen.window is not None and not by_web:
        raise click.UsageError("--window requires the URL of Storm's UI")
    check_targets({"-o": chosen.output}, (None if by_web else chosen.source, chosen.costs_file))
    with_costs = _costs(chosen.costs_file)
    fault = ""
    with working("reading"):
        if chosen.topology is None:
            where = name_of(chosen.source)
            value = read_json(chosen.source)
        else:
            server = Server(chosen.source)
            where = server.url
            value, fault = documents(
                server,
                chosen.topology,
                chosen.timeout,
                None if chosen.window is None else int(chosen.window),
            )
        try:
            with located(where, FormatError):
                found = fit_topology(value, where, chosen.mips)
        except FormatError as error:
            if chosen.topology is None:
                raise
            raise BackendError(fault or str(error)) from None
    costed = with_costs(found.logical)
    graph = graph_of(costed, chosen.form)
    _write(found, costed.graph, graph, chosen.output, fault, chosen.as_json, chosen.output == "-")
    _end(fault, chosen.output)


def _write_placement(
    file: str,
    graph: StreamGraph,
    hosts: Mapping[str, Sequence[str]],
    slots: Mapping[str, int],
    mips: float,
) -> None:
    """Write the current placement: CSV (operator,device) if the file's name ends in .csv."""
    try:
        if file.lower().endswith(".csv"):
            rows = current_assignment(graph, hosts).items()
            write_text(file, to_csv(["operator", "device"], rows))
        else:
            write_placement(file, current_placement(graph, hosts, slots, mips))
    except ProblemError as error:
        raise BackendError(
            f"cannot write the current placement: {error}; a .csv file can be written without costs"
        ) from None


def _costs(file: str | None) -> Callable[[LogicalGraph], LogicalGraph]:
    """Read the user's costs; return the function that applies them to a logical graph."""
    if file is None:
        return lambda logical: logical
    costs = Costs.read(file)

    def apply(logical: LogicalGraph) -> LogicalGraph:
        with located(file):
            return costs.of(logical)

    return apply


def _write(
    found: Profile,
    costed: StreamGraph,
    graph: StreamGraph,
    output: str,
    fault: str,
    as_json: bool,
    to_stderr: bool,
    **more: Any,
) -> None:
    """Write the graph, and print the measurements; `costed` is the logical graph with all costs."""
    write_dataset(output, [graph])
    if found.without_error and not fault:
        printing.print_note(
            f"{counted(found.without_error, 'cost')} measured without a standard error, which "
            f"needs at least {MIN_INTERVALS} intervals between readings: place --confidence takes "
            "them as exact"
        )
    if as_json:
        facts = {"file": output, "fault": fault or None, **found.to_dict()}
        printing.print_json({**facts, "unknown": graph.unknown, **more})
    else:
        print_profile(found, costed, graph, to_stderr)


def _end(fault: str, output: str) -> None:
    """Raise the server's fault, if any; the measurements made before it are already written."""
    if fault:
        kept = "on stdout" if output == "-" else f"in {output}"
        raise BackendError(f"{fault}; the measurements made before that are {kept}")
