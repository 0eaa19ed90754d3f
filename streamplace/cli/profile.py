"""The command `profile`: costs measured in running jobs, and in modules of neural networks."""

from dataclasses import dataclass

import click

from streamplace.cli import (
    options,
    param_types,
    profile_flink,
    profile_gnuradio,
    profile_ray,
    profile_torch,
)
from streamplace.cli.command import argument, command, option
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets
from streamplace.cli.profile_job import JobOptions, end, read_costs, write_profile
from streamplace.errors import BackendError, FormatError, located
from streamplace.execution.progress import working
from streamplace.files.reading import name_of, read_json
from streamplace.integrations.profiling.rest import Server
from streamplace.integrations.storm.profile import documents
from streamplace.integrations.storm.profile import fit as fit_topology

OF_A_SERVER = ("--topology", "--window", "--timeout")


@click.group()
def profile() -> None:
    """Measure the operators of a running job or of a neural network.

    \b
    Examples:
    streamplace profile flink http://localhost:8081 --job 0a1b… --mips 2500 -o graph.json
    streamplace profile prometheus http://localhost:9090 --plan plan.json --mips 2500 -o graph.json
    streamplace profile storm http://localhost:8080 --topology words-1-17 --mips 2500 -o graph.json
    streamplace profile ray http://localhost:8265 --graph streams.json --mips 2500 -o graph.json
    streamplace profile gnuradio counters.jsonl --mips 2500 -o graph.json
    streamplace profile torch mynets:Net --input 1x3x224x224 -o graph.json
    """


for measuring in (
    profile_flink.flink,
    profile_flink.prometheus,
    profile_ray.ray,
    profile_gnuradio.gnuradio,
    profile_torch.torch,
):
    profile.add_command(measuring)


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
    write_profile(found, costed.graph, graph, chosen, fault, chosen.output == "-")
    end(fault, chosen.output)
