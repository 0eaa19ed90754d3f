"""The command `profile ray`: costs of a running pipeline of Ray actors."""

from dataclasses import dataclass

import click

from streamplace.cli import options, printing
from streamplace.cli.command import argument, command, option
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets
from streamplace.cli.profile_job import JobOptions, end, read_costs, write_profile
from streamplace.errors import BackendError
from streamplace.execution.progress import working
from streamplace.files import read_graph
from streamplace.integrations.profiling.estimates import TOO_FEW
from streamplace.integrations.profiling.rest import Server
from streamplace.integrations.ray.dashboard import Dashboard
from streamplace.integrations.ray.profile import actors_of, fit, watch


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
    if chosen.output == "-" and chosen.as_json:
        raise click.UsageError("--json requires -o FILE, since the graph goes to stdout otherwise")
    chosen.form.check()
    check_targets({"-o": chosen.output}, (chosen.graph_file, chosen.costs_file))
    with_costs = read_costs(chosen.costs_file)
    streams = read_graph(chosen.graph_file)
    with working("watching"):
        dashboard = Dashboard(Server(chosen.url), chosen.timeout)
        actors = actors_of(streams, dashboard.actors(), chosen.namespace)
        watched = watch(dashboard, actors, chosen.seconds, seed=chosen.seed)
        found = fit(streams, watched, chosen.mips)
    costed = with_costs(found.logical)
    graph = graph_of(costed, chosen.form)
    printing.print_note("kept from --graph: payloads, memory, and what could not be measured")
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
