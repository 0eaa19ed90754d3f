"""The command `plan`: the devices that a graph needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from streamplace.capacity.plan.plan import plan as workflow
from streamplace.capacity.settings import PlanSettings
from streamplace.cli import inputs, options, param_types
from streamplace.cli.command import (
    argument,
    command,
    end_if_unproven,
    group,
    made_of,
    print_note,
)
from streamplace.cli.output_files import check_targets, print_embedded, refuse_other_names
from streamplace.cli.settings import NAMES, options_of
from streamplace.cli.terminal import print_command
from streamplace.cli.typical import basis_of, print_answer, with_typical_costs
from streamplace.display.formats import kind_of
from streamplace.errors import ClusterError, InfeasibleError, located
from streamplace.execution.progress import search_line, working
from streamplace.files import read_graph
from streamplace.files.reading import name_of
from streamplace.problem.assumptions import several_sinks, without_tuples
from streamplace.problem.counts import expanded
from streamplace.scoring.throughput import simulate
from streamplace.util.extras import load_drawing
from streamplace.workflows.replace_problem import with_pins

DRAW = "streamplace.pictures.plan:draw_plan"


@dataclass(frozen=True)
class PlanOptions(options.Common):
    """The options of `plan`."""

    graph: str = argument(type=param_types.GRAPH)
    cluster: options.ClusterChoice = options.cluster()
    lost: options.LostDevices = group(options.LostDevices)
    constraints_file: str | None = options.constraints()
    pins: Mapping[str, str] = options.pins()
    typical_costs: bool = options.typical_costs()
    throughput: options.ThroughputChoice = options.throughput(
        several="With several, the plan is for the highest", engine=False
    )
    objective: None = options.no_objective(
        "plan finds the throughput that devices sustain, and serves no other objective; "
        "compare --objective makespan --clusters FILE compares clusters by makespan"
    )
    settings: Mapping[str, Any] = made_of(
        options_of(
            *(PlanSettings, "most", "survive", "max_latency", "seconds"),
            names=NAMES,
            added={
                "max_latency": "The exit code is 3 if none is found that keeps the limit, though "
                "some may."
            },
        ),
        dict,
    )
    output: str | None = options.file(
        "-o",
        "Placement file to write: a placement on the fewest or cheapest devices that keep up, for "
        "place --start; - is stdout.  [default: no file]",
    )
    plot: str | None = options.file(
        "--plot",
        "Plot file to write (sustained source rate against number of devices): .png, .svg or .pdf.",
    )


@command(PlanOptions)
def plan(chosen: PlanOptions) -> None:
    """Find the fewest or cheapest devices that sustain a rate.

    If all devices of the cluster are equal, the table shows the source rate (tuples/s) that 1, 2, …
    devices of this kind sustain. Otherwise the result is the cheapest set of the cluster's devices
    that keeps up, by the prices in the cluster file, with a proof or a lower bound on the price.

    \b
    Examples:
    streamplace plan graph.json --source-rate 2e4 --devices 5x2500
    streamplace plan graph.json --target-utilisation 0.7 --plot plan.png
    streamplace plan graph.json --cluster racks.json --survive 1
    streamplace plan graph.json --cluster racks.json --pin alert=rack1
    streamplace plan graph.json --devices 5x2500 --max-latency p99=200ms
    """
    if chosen.plot is not None:  # before anything runs
        kind_of(chosen.plot)
        load_drawing(DRAW)
    if chosen.settings["max_latency"] is not None and chosen.settings["survive"]:
        raise click.UsageError("cannot combine --max-latency with --survive")
    if chosen.as_json and chosen.output == "-":
        raise click.UsageError("only one of -o and --json can write to stdout")
    refuse_other_names(chosen.output)
    check_targets(
        {"-o": chosen.output, "--plot": chosen.plot},
        (chosen.graph, chosen.cluster.cluster_file, chosen.constraints_file),
    )
    with working("reading"):
        with located(name_of(chosen.graph)):
            stated = chosen.throughput.of_sources(read_graph(chosen.graph))
            read = expanded(with_typical_costs(stated, wanted=chosen.typical_costs))
        constraints = inputs.the_constraints(chosen.constraints_file)
        cluster = inputs.the_cluster(chosen.cluster)
    rules_file = chosen.constraints_file and name_of(chosen.constraints_file)
    named = rules_file or name_of(chosen.graph)
    with inputs.naming_the_default(cluster is None):
        constraints, replaced = with_pins(chosen.pins, cluster, constraints, read)
    cluster, constraints = inputs.after_losses(chosen.lost, cluster, constraints, read, named)
    of_cluster = located(chosen.cluster.cluster_file or named, only=ClusterError)
    of_graph = located(name_of(chosen.graph), constraints=rules_file)
    default = inputs.naming_the_default(cluster is None, only_names=True)
    with search_line("planning"), of_graph, of_cluster, default:
        found = workflow(
            read,
            cluster,
            source_rate=chosen.throughput.highest_rate,
            constraints=constraints,
            model=chosen.throughput.model,  # type: ignore[arg-type]  # one of MODELS
            target_utilisation=chosen.throughput.target_utilisation,
            seed=chosen.seed,
            **chosen.settings,
        )
    if chosen.plot is not None:
        load_drawing(DRAW)(chosen.plot, found)
    inputs.print_assumed(chosen.cluster)
    print_note("; ".join(replaced))
    best = found.placement or found.rows[-1].placement
    score = None if best is None else simulate(best)
    inputs.print_suspect(read, cluster, found.source_rate, score)
    print_note(several_sinks(read))
    print_note(without_tuples(read))
    if found.unpriced:
        print_note("no device has a price: each counts 1, so that the cheapest are the fewest")
    basis = basis_of(read, best, chosen.seed)
    print_answer([found], basis, as_json=chosen.as_json, to_stderr=chosen.output == "-")
    if found.max_latency is not None and found.fewest_devices is None and found.proven:
        raise InfeasibleError(f"plan: {found.headline}")
    if chosen.output is not None:
        files = chosen.graph, chosen.cluster.cluster_file, chosen.constraints_file
        found.save(chosen.output, inputs=inputs.names_of_inputs(*files))
        print_embedded(chosen.output, found.placement)
    if found.cheapest is not None and not chosen.as_json and chosen.output != "-":
        excluded = [*param_types.names_in(chosen.lost.without), *found.cheapest.unused]
        print_command(
            "streamplace place",
            chosen.graph,
            {
                "--cluster": chosen.cluster.cluster_file,
                "--devices": chosen.cluster.devices,
                "--without": param_types.names_out(excluded),
                "--slow": chosen.lost.slow,
                "--constraints": chosen.constraints_file,
                "--pin": [f"{operator}={device}" for operator, device in chosen.pins.items()],
                "--source-rate": chosen.throughput.stating(found.source_rate),
                "--model": chosen.throughput.model,
                "--target-utilisation": chosen.throughput.target_utilisation,
                "--max-latency": chosen.settings["max_latency"],
                "--typical-costs": chosen.typical_costs or None,
            },
        )
    end_if_unproven(found.latency)
