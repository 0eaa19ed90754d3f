"""The commands `profile storm` and `profile ray`: costs measured in running jobs."""

from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_note
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets
from streamplace.engines.profile_job import JobOptions, end, read_costs, say_uneven, write_profile
from streamplace.engines.ray.dashboard import Dashboard
from streamplace.engines.ray.profile import actors_of, watch
from streamplace.engines.ray.profile import fit as fit_actors
from streamplace.engines.storm.documents import topology_from
from streamplace.engines.storm.profile import documents
from streamplace.engines.storm.profile import fit as fit_topology
from streamplace.errors import BackendError, FormatError, located
from streamplace.execution.progress import working
from streamplace.files import read_graph
from streamplace.files.reading import name_of, read_json
from streamplace.formats.profiling.estimates import TOO_FEW
from streamplace.formats.profiling.rest import Server

OF_A_SERVER = ("--topology", "--window", "--timeout")


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


@command(StormOptions)
def storm(chosen: StormOptions) -> None:
    """Measure a Storm topology and write its graph.

    URL is the address of Storm's UI. FILE is a saved response of the UI's /metrics or
    /visualization endpoint, or a JSON object with the keys topology, metrics, visualization and
    components, the last one with the response of /component/NAME for each name. Storm counts no
    bytes and does not time spouts: put payload_bytes, and the instructions of spouts, into the
    --costs file.

    \b
    Examples:
    streamplace profile storm http://localhost:8080 --topology words-1-17 --mips 2500 -o graph.json
    streamplace profile storm metrics.json --mips 2500 --costs costs.toml -o graph.json
    """
    chosen.form.check()
    options.refuse_both_on_stdout(chosen.output, chosen.as_json)
    by_web = chosen.source.startswith(("http://", "https://"))
    if by_web and chosen.topology is None:
        raise click.UsageError("a URL requires --topology")
    if not by_web:
        options.refuse_unused(dict.fromkeys(OF_A_SERVER, "the URL of Storm's UI"))
    check_targets({"-o": chosen.output}, (None if by_web else chosen.source, chosen.costs_file))
    with_costs = read_costs(chosen.costs_file)
    fault = ""
    with working("reading"):
        if chosen.topology is None:
            where = name_of(chosen.source)
            value = read_json(chosen.source)
        else:
            server = Server(chosen.source, "Storm's UI")
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
    say_uneven(costed)
    graph = graph_of(costed, chosen.form)
    hosts = topology_from(value, where).hosts
    write_profile(found, costed.graph, graph, chosen, fault, chosen.output == "-", hosts=hosts)
    end(fault, chosen.output)


@dataclass(frozen=True)
class RayOptions(JobOptions):
    """The options of `ray`."""

    url: str = argument()
    graph_file: str = options.file(
        "--graph",
        "Graph with the pipeline's operators and streams, which Ray does not know.",
        required=True,
    )
    namespace: str | None = option(
        "--namespace",
        metavar="NAME",
        help="Namespace of the actors.  [default: the one that has actors of the graph]",
    )
    seconds: float = options.seconds("--seconds", 60, "Seconds to watch the pipeline.")


@command(RayOptions)
def ray(chosen: RayOptions) -> None:
    """Measure a pipeline of Ray actors and write its graph.

    URL is the address of Ray's dashboard. Each actor has the name of its operator in --graph, or
    `NAME[0]`, `NAME[1]`, … where an operator has several. A call counts as a tuple. Its work is the
    CPU time of the actor's process, with what Ray itself does for the call. Payloads, memory, and
    selectivities of streams whose target has several inputs are kept from --graph. If the dashboard
    or an actor fails, the measurements made so far are written.

    \b
    Example:
    streamplace profile ray http://localhost:8265 --graph streams.json --mips 2500 -o graph.json
    """
    options.refuse_both_on_stdout(chosen.output, chosen.as_json)
    chosen.form.check()
    check_targets({"-o": chosen.output}, (chosen.graph_file, chosen.costs_file))
    with_costs = read_costs(chosen.costs_file)
    streams = read_graph(chosen.graph_file)
    with working("watching"):
        dashboard = Dashboard(Server(chosen.url, "Ray's dashboard"), chosen.timeout)
        actors = actors_of(streams, dashboard.actors(), chosen.namespace)
        watched = watch(dashboard, actors, chosen.seconds, seed=chosen.seed)
        found = fit_actors(streams, watched, chosen.mips)
    costed = with_costs(found.logical)
    say_uneven(costed)
    graph = graph_of(costed, chosen.form)
    print_note("kept from --graph: payloads, memory, and what could not be measured")
    write_profile(
        found,
        costed.graph,
        graph,
        chosen,
        watched.fault,
        chosen.output == "-",
        hosts=watched.hosts,
    )
    if watched.interrupted:
        raise KeyboardInterrupt
    end(watched.fault, chosen.output)
    if chosen.seconds and not found.intervals:
        url, once = dashboard.server.url, "each actor was read once only; increase --seconds"
        why = TOO_FEW if len(watched.readings) > 1 else once
        raise BackendError(f"{url}: nothing was measured within {chosen.seconds:g} s: {why}")
