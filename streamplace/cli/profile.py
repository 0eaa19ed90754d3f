"""The command `profile`: costs measured in running jobs; `profile_torch` has those of modules."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamplace.cli import checks, options, param_types, printing, profile_torch
from streamplace.cli.logical_forms import check_forms, graph_of

if TYPE_CHECKING:
    from streamplace.integrations.profiling.profile import Profile
    from streamplace.problem.graph import StreamGraph
    from streamplace.problem.logical import LogicalGraph

Command = TypeVar("Command", bound=Callable[..., Any])


def _speed(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not 0 < value < inf:
        raise click.BadParameter(f"must be finite and above 0 (got {value:g})", ctx, param)
    return value


def _profile_options(command: Command) -> Command:
    """Add the options that all commands of `profile` share."""
    mips = click.option(
        "--mips",
        type=param_types.NUMBER,
        callback=_speed,
        required=True,
        metavar="M",
        help="Speed of one core of the job's devices, in million instructions/s; used to convert "
        "measured seconds to instructions.",
    )
    timeout = options.seconds("--timeout", 10, "Seconds to wait for each answer of the server.")
    costs = options.costs(
        "File of numbers to use instead of measured ones, or where nothing can be measured; format "
        "as in `streamplace import --help`."
    )
    rest = options.fold(options.logical(options.output()(options.common(command))))
    rest = options.no_objective("profile measures costs, which serve every objective")(rest)
    return mips(timeout(costs(rest)))


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


@profile.command()
@click.argument("url")
@options.identifier("--job", "Id of the job.", required=True)
@options.seconds("--seconds", 60, "Seconds to watch the job.")
@click.option(
    "--placement",
    "placement_file",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="File to write the current placement to: .csv (operator,device), or JSON under any other "
    "name. JSON requires that all numbers of the graph are known.",
)
@click.option(
    "--thread-dumps",
    metavar="COMMAND",
    help="Command that prints a thread dump of a TaskManager within --timeout; {} stands for its "
    "id. Costs are then CPU times of threads instead of busy times, which include waits for a "
    "core.",
)
@_profile_options
def flink(
    url: str,
    job: str,
    mips: float,
    seconds: float,
    timeout: float,
    costs_file: str | None,
    fold: bool,
    logical: bool,
    output: str,
    placement_file: str | None,
    thread_dumps: str | None,
    seed: int,
    as_json: bool,
) -> None:
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
    if [output, placement_file, "-" if as_json else None].count("-") > 1:
        raise click.UsageError("only one of -o, --placement and --json can write to stdout")
    check_forms(fold=fold, logical=logical)
    if fold and placement_file is not None:
        raise click.UsageError("cannot combine --placement with --fold")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import BackendError  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.integrations.flink.fit import fit  # noqa: PLC0415
    from streamplace.integrations.flink.growth import TOO_FEW  # noqa: PLC0415
    from streamplace.integrations.flink.poll import Watch, cpu_times_of, task_managers_of  # noqa: PLC0415
    from streamplace.integrations.flink.thread_dumps import ThreadDumps  # noqa: PLC0415
    from streamplace.integrations.flink.uneven import with_shares  # noqa: PLC0415
    from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415

    check_targets({"-o": output, "--placement": placement_file}, (costs_file,))
    with_costs = _costs(costs_file)
    dumps = None if thread_dumps is None else ThreadDumps(thread_dumps, timeout)
    with working("watching"):
        watch = Watch(Server(url), job, timeout, seed=seed, thread_dumps=dumps)
        watched = watch.run(seconds, with_costs)
        cpu_times = None if dumps is None else cpu_times_of(watched)
        found = fit(watched.plan, watched.readings, mips, cpu_times)
    is_empty = bool(seconds) and not found.intervals and not watched.interrupted
    where = watch.server.url
    short = f"{where}: nothing was measured within {seconds:g} s: {TOO_FEW}" if is_empty else ""
    fault = watched.fault or short
    costed = replace(with_costs(found.logical), max_parallelism=watched.logical_limits)
    costed = with_shares(costed, watched.plan, watched.subtasks, watched.last)
    for name, shares in sorted(costed.measured_shares.items()):
        most = f"{max(shares):.0%} of its tuples, {max(shares) * len(shares):.3g} times the mean"
        printing.print_note(f"uneven: one of {len(shares)} instances of {name!r} has {most}")
    graph = graph_of(costed, fold=fold, logical=logical)
    hosts = task_managers_of(watched)
    to_stderr = "-" in (output, placement_file)
    _write(found, costed.graph, graph, output, fault, as_json, to_stderr, hosts=hosts)
    if placement_file is not None:
        with suppress(BackendError) if fault else nullcontext():
            instances = graph_of(costed, fold=False, logical=False)
            _write_placement(placement_file, instances, hosts, watched.task_managers, mips)
    if watched.interrupted:
        raise KeyboardInterrupt
    _end(watched.fault, output)
    if short:
        raise BackendError(short)


@profile.command()
@click.argument("source", type=param_types.FILE, metavar="URL|FILE")
@options.identifier("--topology", "Id of the topology; required with a URL.")
@click.option(
    "--window",
    type=param_types.Choice(["600", "10800", "86400"]),
    help="Period that the counters cover, in seconds: the last 10 minutes, 3 hours or 24 hours. "
    "Requires a URL.  "
    "[default: since the topology started]",
)
@_profile_options
def storm(
    source: str,
    topology: str | None,
    window: str | None,
    mips: float,
    timeout: float,
    costs_file: str | None,
    fold: bool,
    logical: bool,
    output: str,
    seed: int,
    as_json: bool,
) -> None:
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
    check_forms(fold=fold, logical=logical)
    if output == "-" and as_json:
        raise click.UsageError("--json requires -o FILE, since the graph goes to stdout otherwise")
    by_web = source.startswith(("http://", "https://"))
    if by_web and topology is None:
        raise click.UsageError("a URL requires --topology")
    if topology is not None and not by_web:
        raise click.UsageError("--topology requires the URL of Storm's UI")
    if window is not None and not by_web:
        raise click.UsageError("--window requires the URL of Storm's UI")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import BackendError, FormatError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.reading import name_of, read_json  # noqa: PLC0415
    from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415
    from streamplace.integrations.storm.profile import documents, fit  # noqa: PLC0415

    check_targets({"-o": output}, (None if by_web else source, costs_file))
    with_costs = _costs(costs_file)
    fault = ""
    with working("reading"):
        if topology is None:
            where = name_of(source)
            value = read_json(source)
        else:
            server = Server(source)
            where = server.url
            value, fault = documents(
                server, topology, timeout, None if window is None else int(window)
            )
        try:
            with located(where, FormatError):
                found = fit(value, where, mips)
        except FormatError as error:
            if topology is None:
                raise
            raise BackendError(fault or str(error)) from None
    costed = with_costs(found.logical)
    graph = graph_of(costed, fold=fold, logical=logical)
    _write(found, costed.graph, graph, output, fault, as_json, output == "-")
    _end(fault, output)


def _write_placement(
    file: str,
    graph: "StreamGraph",
    hosts: Mapping[str, Sequence[str]],
    slots: Mapping[str, int],
    mips: float,
) -> None:
    """Write the current placement: CSV (operator,device) if the file's name ends in .csv."""
    from streamplace.errors import BackendError, ProblemError  # noqa: PLC0415
    from streamplace.files import write_placement  # noqa: PLC0415
    from streamplace.files.atomic import write_text  # noqa: PLC0415
    from streamplace.files.reading import to_csv  # noqa: PLC0415
    from streamplace.integrations.profiling.profile import current_assignment, current_placement  # noqa: PLC0415 - not always needed

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


def _costs(file: str | None) -> Callable[["LogicalGraph"], "LogicalGraph"]:
    """Read the user's costs; return the function that applies them to a logical graph."""
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.integrations.costs import Costs  # noqa: PLC0415 - not always needed

    if file is None:
        return lambda logical: logical
    costs = Costs.read(file)

    def apply(logical: "LogicalGraph") -> "LogicalGraph":
        with located(file):
            return costs.of(logical)

    return apply


def _write(
    found: "Profile",
    costed: "StreamGraph",
    graph: "StreamGraph",
    output: str,
    fault: str,
    as_json: bool,
    to_stderr: bool,
    **more: Any,
) -> None:
    """Write the graph, and print the measurements; `costed` is the logical graph with all costs."""
    from streamplace.cli.profile_summary import print_profile  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files import write_dataset  # noqa: PLC0415
    from streamplace.integrations.profiling.estimates import MIN_INTERVALS  # noqa: PLC0415
    from streamplace.util.text import counted  # noqa: PLC0415

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
    from streamplace.errors import BackendError  # noqa: PLC0415 - see _write

    if fault:
        kept = "on stdout" if output == "-" else f"in {output}"
        raise BackendError(f"{fault}; the measurements made before that are {kept}")
