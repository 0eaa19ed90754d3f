"""The commands `profile flink` and `profile prometheus`: costs of a running Flink job."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_note
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets, placement_writer
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cpu_times import ThreadDumps
from streamplace.engines.flink.fit import chain_notes, fit, fit_growth
from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.key_groups import with_limits
from streamplace.engines.flink.plan import read_running
from streamplace.engines.flink.poll import Watch, Watched, cpu_times_of, task_managers_of
from streamplace.engines.flink.prometheus import Prometheus
from streamplace.engines.flink.uneven import with_shares
from streamplace.engines.profile_job import JobOptions, end, read_costs, say_uneven, write_profile
from streamplace.errors import BackendError, ProblemError
from streamplace.execution.progress import working
from streamplace.files import write_cluster
from streamplace.files.reading import name_of, read_text
from streamplace.formats.profiling.estimates import TOO_FEW
from streamplace.formats.profiling.profile import (
    Profile,
    current_assignment,
    current_cluster,
    current_placement,
)
from streamplace.formats.profiling.rest import Server
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted


@dataclass(frozen=True)
class FlinkJobOptions(JobOptions):
    """The options that `flink` and `prometheus` share."""

    url: str = argument()
    job: str | None = options.flink_job()
    placement_file: str | None = options.file(
        "--placement",
        "File to write the current placement to: .csv (operator,device), or JSON under any other "
        "name. JSON requires that all numbers of the graph are known.",
    )
    cluster_out: str | None = options.file(
        "--cluster-out",
        "Cluster file to write the job's TaskManagers to, with a core of --mips for each slot.",
    )

    def check(self, *inputs: str | None) -> None:
        """Refuse outputs that exclude each other, or would overwrite an input."""
        written = (self.output, self.placement_file, self.cluster_out)
        if [*written, "-" if self.as_json else None].count("-") > 1:
            names = "-o, --placement, --cluster-out and --json"
            raise click.UsageError(f"only one of {names} can write to stdout")
        self.form.check()
        if self.form.fold and self.placement_file is not None:
            raise click.UsageError("cannot combine --placement with --fold")
        targets = zip(("-o", "--placement", "--cluster-out"), written, strict=True)
        check_targets(dict(targets), [each for each in (self.costs_file, *inputs) if each])


@dataclass(frozen=True)
class FlinkOptions(FlinkJobOptions):
    """The options of `flink`."""

    seconds: float = options.seconds("--seconds", 60, "Seconds to watch the job.")
    thread_dumps: str | None = option(
        "--thread-dumps",
        metavar="COMMAND",
        help="Command that prints a thread dump of a TaskManager within --timeout; {} stands for "
        "its id. Costs are then CPU times of threads instead of busy times, which include waits "
        "for a core.",
    )


@command(FlinkOptions)
def flink(chosen: FlinkOptions) -> None:
    """Measure a Flink job and write its graph.

    URL is the address of Flink's REST API. The numbers are printed with their standard errors.
    Numbers that cannot be measured stay unknown (null), and the reason is printed. Flink measures
    a chain of operators as a whole: its first operator then has the cost of all, and the graph
    keeps them together. Disable operator chaining in the job
    (pipeline.operator-chaining.enabled: false) to measure them one by one. If the server or the job
    fails, the measurements made so far are written.

    Busy times include the time that threads wait for a core. Where a TaskManager has fewer cores
    than busy threads, or a limit on CPU time, measure CPU times with --thread-dumps.

    \b
    Examples:
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 -o graph.json
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 --thread-dumps 'dump {}'

    In the second example, dump is a program of yours. It receives the id of a TaskManager and
    prints the output of `jcmd PID Thread.print` on the host of that TaskManager.
    """
    chosen.check()
    with_costs = read_costs(chosen.costs_file)
    dumps = (
        None if chosen.thread_dumps is None else ThreadDumps(chosen.thread_dumps, chosen.timeout)
    )
    with working("watching"):
        server = Server(chosen.url)
        job = Client(server, chosen.timeout).running_job(chosen.job)
        watch = Watch(server, job, chosen.timeout, seed=chosen.seed, thread_dumps=dumps)
        watched = watch.run(chosen.seconds, with_costs)
        cpu_times = None if dumps is None else cpu_times_of(watched)
        found = fit(watched.plan, watched.readings, chosen.mips, cpu_times)
    short = _short(found, watched, f"{server.url}: nothing was measured within", chosen.seconds)
    _write_job(chosen, watched, found, with_costs, short)
    if watched.interrupted:
        raise KeyboardInterrupt
    end(watched.fault, chosen.output)
    if short:
        raise BackendError(short)


@dataclass(frozen=True)
class PrometheusOptions(FlinkJobOptions):
    """The options of `prometheus`."""

    plan: str = option(
        "--plan",
        type=param_types.FILE,
        required=True,
        metavar="FILE|URL",
        help="The job's plan, which Prometheus does not have: a file with what Flink answers to "
        "/jobs/ID/plan, or the address of Flink's REST API.",
    )
    seconds: float = options.seconds("--seconds", 600, "Seconds up to now whose samples count.")


@command(PrometheusOptions)
def prometheus(chosen: PrometheusOptions) -> None:
    """Measure a Flink job by metrics of a Prometheus.

    URL is the address of a Prometheus that scrapes Flink's PrometheusReporter. The metrics of the
    last --seconds are read, so there is no wait, and the estimates are those of profile flink.

    \b
    Example:
    streamplace profile prometheus http://localhost:9090 --plan plan.json --mips 2500 -o graph.json
    """
    by_web = chosen.plan.startswith(("http://", "https://"))
    chosen.check(None if by_web else chosen.plan)
    with_costs = read_costs(chosen.costs_file)
    with working("reading"):
        server = Server(chosen.url, "a Prometheus")
        source = Prometheus(server, chosen.timeout)
        read = None if by_web else read_running(read_text(chosen.plan), name_of(chosen.plan))
        job = source.job(chosen.job)
        plan = read or Client(Server(chosen.plan), chosen.timeout).plan(job)
        with_costs(plan.logical)
        watched, notes = source.watched(job, plan, chosen.seconds)
        found = fit_growth(Growth(plan, watched.readings), chosen.mips)
    origin = Server(chosen.plan).url if by_web else name_of(chosen.plan)
    lacks = (
        "not in Prometheus: streams, chains and numbers of instances, which are those of "
        f"{origin}; "
        "the largest numbers of instances that state allows, and slots that the job does not use, "
        "stay unknown"
    )
    for note in (lacks, *notes):
        print_note(note)
    short = _short(found, watched, f"{server.url}: nothing was scraped in the last", chosen.seconds)
    _write_job(chosen, watched, found, with_costs, short)
    if short:
        raise BackendError(short)


def _short(found: Profile, watched: Watched, what: str, seconds: float) -> str:
    """Return the fault of a measurement that was too short; empty if it was not."""
    is_empty = bool(seconds) and not found.intervals and not watched.interrupted
    return f"{what} {seconds:g} s: {TOO_FEW}" if is_empty else ""


def _write_job(
    chosen: FlinkJobOptions,
    watched: Watched,
    found: Profile,
    with_costs: Callable[[LogicalGraph], LogicalGraph],
    short: str,
) -> None:
    """Write the graph of a job, what runs where and the cluster, and print the measurements."""
    fault = watched.fault or short
    costed = with_limits(with_costs(found.logical), watched.logical_limits)
    costed = with_shares(costed, watched.plan, watched.subtasks, watched.last)
    for note in [*watched.notes, *chain_notes(found)]:
        print_note(note)
    say_uneven(costed)
    graph = graph_of(costed, chosen.form)
    hosts = task_managers_of(watched)
    to_stderr = "-" in (chosen.output, chosen.placement_file, chosen.cluster_out)
    write_profile(found, costed.graph, graph, chosen, fault, to_stderr, hosts=hosts)
    with suppress(BackendError) if fault else nullcontext():
        if chosen.cluster_out is not None:
            _write_cluster(chosen.cluster_out, hosts, watched.task_managers, chosen.mips)
        if chosen.placement_file is not None:
            instances = to_instances(costed)
            _write_placement(
                chosen.placement_file, instances, hosts, watched.task_managers, chosen.mips
            )


def _write_cluster(
    file: str, hosts: Mapping[str, Sequence[str]], slots: Mapping[str, int], mips: float
) -> None:
    """Write the cluster that the job runs on, and say what was assumed."""
    if not hosts and not slots:
        raise BackendError("cannot write the cluster: no TaskManager of the job is known")
    cluster = current_cluster(hosts, slots, mips)
    write_cluster(file, cluster)
    network = cluster.network
    print_note(
        f"cluster: {counted(len(cluster.names), 'TaskManager')}; assumed: a core of {mips:g} MIPS "
        f"for each slot, links of {network.bandwidth_mbps:g} Mbit/s and {network.latency_s:g} s, "
        "no limits on memory"
    )


def _write_placement(
    file: str,
    graph: StreamGraph,
    hosts: Mapping[str, Sequence[str]],
    slots: Mapping[str, int],
    mips: float,
) -> None:
    """Write the current placement; see `placement_writer`."""
    try:
        placement_writer(
            file,
            partial(current_assignment, graph, hosts),
            partial(current_placement, graph, hosts, slots, mips),
        )()
    except ProblemError as error:
        if error.fault.remedy:
            error.update(remedy="state what is missing in --costs")
        raise BackendError(
            f"cannot write the current placement: {error}; a .csv file can be written without costs"
        ) from None
