"""The command `size`: numbers of instances of operators, and the devices that they need."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import click

from streamplace.capacity.settings import SizeSettings
from streamplace.capacity.size import SINGLE, sizes
from streamplace.capacity.size import size as sized
from streamplace.capacity.sizing.lower_rates import naming_lower_rate
from streamplace.capacity.sizing.result import SizeResult, SizeTable
from streamplace.cli import inputs, options, param_types
from streamplace.cli.command import (
    argument,
    command,
    end_if_unproven,
    group,
    made_of,
    option,
    print_note,
)
from streamplace.cli.output_files import (
    check_targets,
    print_embedded,
    refuse_folder,
    refuse_other_names,
)
from streamplace.cli.settings import NAMES, options_of
from streamplace.cli.typical import basis_of, print_answer, with_typical_costs
from streamplace.errors import ClusterError, located
from streamplace.execution.progress import search_line, working
from streamplace.files import (
    read_graph,
    write_dataset,
)
from streamplace.files.reading import folder_of, name_of, read_json
from streamplace.files.writing import held
from streamplace.jobs.files import graph_files, jobs_from
from streamplace.jobs.size import JobsSize, file_names, size_jobs
from streamplace.problem.assumptions import several_sinks, without_tuples
from streamplace.workflows.replace_problem import with_pins

JSON = ".json"
ENDED = "ended the search, so that the answer depends on how fast and how busy the machine is"
GRAPH_NEEDED = "simulate and place --start of this placement require the graph of --graph-out"


@dataclass(frozen=True)
class SizeOptions(options.Common):
    """The options of `size`."""

    graph: str | None = argument(type=param_types.GRAPH, required=False)
    job_file: str | None = options.file(
        "--job-file",
        "Jobs that share the cluster, instead of GRAPH, as for place. All of them get their whole "
        "source rates.",
    )
    cluster: options.ClusterChoice = options.cluster()
    lost: options.LostDevices = group(options.LostDevices)
    constraints_file: str | None = options.constraints()
    pins: Mapping[str, str] = options.pins()
    typical_costs: bool = options.typical_costs()
    throughput: options.ThroughputChoice = options.throughput(
        several="With several, the size is for the highest", engine=False
    )
    objective: None = options.no_objective(
        "size finds the instances that sustain a source rate, and serves no other objective"
    )
    at: tuple[float, ...] | None = option(
        "--at",
        callback=param_types.rates,
        metavar="R1[,R2…]",
        help="Source rates in tuples/s to size for, one after another, instead of --source-rate.",
    )
    settings: Mapping[str, Any] = made_of(
        options_of(
            *(SizeSettings, "minimise", "restart", "catch_up", "survive", "max_latency", "resize"),
            *("whole_operators", "seconds"),
            names=NAMES,
            added={"max_latency": "The exit code is 3 if none is confirmed."},
        ),
        dict,
    )
    output: str | None = options.file(
        "-o",
        "Placement file of the instances to write; - is stdout. With --job-file, a name that does "
        "not end in .json is a folder: a placement and a graph per job, and together.json.  "
        "[default: no file]",
    )
    graph_out: str | None = options.graph_output(
        "Graph file to write, which states the chosen numbers; for simulate and place --start.",
        "--graph-out",
        None,
    )


@command(SizeOptions)
def size(chosen: SizeOptions) -> None:
    """Find how many instances operators need, and where.

    The numbers of instances of operators that state none, or "parallelism": "free", are chosen
    together with their devices, such that the source rate is sustained. Limits are
    "min_parallelism", "max_parallelism" and "partitions" of operators, one thread per instance, and
    "slots" and "memory_bytes" of devices. The result is a placement of all instances.

    \b
    Examples:
    streamplace size graph.json --source-rate 2e4 --cluster cluster.json
    streamplace size graph.json --target-utilisation 0.7 --minimise money -o placement.json
    streamplace size graph.json --at 1e4,2e4,4e4 --restart 60 --catch-up 600
    streamplace size graph.json --max-latency p99=100ms
    streamplace size --job-file jobs.json --cluster cluster.json -o sizes
    """
    _check_options(chosen)
    refuse_other_names(chosen.output)
    settings: dict[str, Any] = {
        **chosen.settings,
        "model": chosen.throughput.model,
        "target_utilisation": chosen.throughput.target_utilisation,
        "seed": chosen.seed,
    }
    found: Any
    basis = None
    if chosen.job_file is not None:
        found = _size_jobs(chosen.job_file, chosen, settings)
        one = found.whole
    else:
        found = _size_graph(str(chosen.graph), chosen, settings)
        one = found if chosen.at is None else None
        sized_graph = found.graph if chosen.at is None else found.sized[-1].graph
        basis = basis_of(sized_graph, one and one.placement, chosen.seed)
    if chosen.graph_out is not None and one is not None:
        write_dataset(chosen.graph_out, [one.graph])
    print_answer([found], basis, as_json=chosen.as_json, to_stderr=chosen.output == "-")
    results = found.sized if isinstance(found, SizeTable) else (one,)
    limit_s = chosen.settings["seconds"]
    if limit_s is not None and any(each.cut_off for each in results):
        print_note(f"--time-limit {limit_s:g} {ENDED}")
    for each in results:
        end_if_unproven(each.latency)


def _check_options(chosen: SizeOptions) -> None:
    """Refuse options that exclude each other."""
    if chosen.at is not None and chosen.throughput.source_rates is not None:
        raise click.UsageError("cannot combine --at with --source-rate")
    outputs = {"-o": chosen.output, "--graph-out": chosen.graph_out}
    for name, output in outputs.items():
        if chosen.at is not None and output is not None:
            raise click.UsageError(f"cannot combine --at with {name}: there are several results")
    if [*outputs.values(), "-" if chosen.as_json else None].count("-") > 1:
        raise click.UsageError("only one of -o, --graph-out and --json can write to stdout")
    if chosen.job_file is None:
        if chosen.graph is None:
            raise click.UsageError("missing argument 'GRAPH' or option '--job-file'")
        return
    for_one_graph = {
        "GRAPH": chosen.graph,
        "--without": chosen.lost.without,
        "--slow": chosen.lost.slow,
        "--pin": chosen.pins or None,
        "--source-rate": chosen.throughput.source_rates,
        "--at": chosen.at,
        "--typical-costs": chosen.typical_costs or None,
    }
    for name, value in for_one_graph.items():
        if value is not None:
            raise click.UsageError(f"cannot combine --job-file with {name}")


def _size_graph(
    graph: str, chosen: SizeOptions, settings: dict[str, Any]
) -> SizeResult | SizeTable:
    """Size one graph, and write what -o names; `settings` are those of `capacity.size.size`."""
    constraints_file, cluster_file = chosen.constraints_file, chosen.cluster.cluster_file
    targets = {"-o": chosen.output, "--graph-out": chosen.graph_out}
    check_targets(targets, (graph, cluster_file, constraints_file))
    rules_file = constraints_file and name_of(constraints_file)
    named = rules_file or name_of(graph)
    with working("reading"):
        constraints = inputs.the_constraints(constraints_file)
        cluster = inputs.the_cluster(chosen.cluster)
        stated = chosen.throughput.of_sources(read_graph(graph))
        read = with_typical_costs(stated, wanted=chosen.typical_costs)
    with inputs.naming_the_default(cluster is None):
        constraints, replaced = with_pins(chosen.pins, cluster, constraints, read, sized=True)
    cluster, constraints = inputs.after_losses(chosen.lost, cluster, constraints, read, named)
    settings = {**settings, "constraints": constraints}
    of_cluster = located(cluster_file or named, only=ClusterError)
    of_graph = located(name_of(graph), constraints=rules_file)
    default = inputs.naming_the_default(cluster is None, only_names=True)
    with search_line("sizing"), of_graph, of_cluster, default, naming_lower_rate():
        found: SizeResult | SizeTable
        if chosen.at is not None:
            found = sizes(read, cluster, chosen.at, **settings)
        else:
            rate = chosen.throughput.highest_rate
            found = sized(read, cluster, source_rate=rate, **settings)
    inputs.print_assumed(chosen.cluster)
    print_note("; ".join(replaced))
    print_note(SINGLE if read.instance_of else "")
    rate = max(chosen.at) if chosen.at else chosen.throughput.highest_rate
    largest = found if isinstance(found, SizeResult) else found.sized[-1]
    inputs.print_suspect(read, cluster, rate, largest.score)
    print_note(several_sinks(read))
    print_note(without_tuples(read))
    if chosen.output is not None and isinstance(found, SizeResult):
        named_files = inputs.names_of_inputs(graph, cluster_file, constraints_file)
        found.save(chosen.output, inputs=named_files)
        if found.placement is not None:
            print_embedded(chosen.output, found.placement)
        several = any(count > 1 for count in found.parallelism.values())
        if several and chosen.graph_out is None and found.graph != read:
            print_note(GRAPH_NEEDED)
    return found


def _size_jobs(file: str, chosen: SizeOptions, settings: dict[str, Any]) -> JobsSize:
    """Size the jobs of a job file, and write what -o names; `settings`: those of `size_jobs`."""
    output, cluster_file = chosen.output, chosen.cluster.cluster_file
    into_folder = output is not None and output != "-" and not output.endswith(JSON)
    where, beside = name_of(file), folder_of(file)
    with working("reading"):
        value = read_json(file)
        graphs = [str(path) for path in graph_files(value, where, beside)]
    read_files = (file, cluster_file, chosen.constraints_file, *graphs)
    check_targets(
        {"-o": None if into_folder else output, "--graph-out": chosen.graph_out}, read_files
    )
    with working("reading"):
        cluster = inputs.the_cluster(chosen.cluster)
        jobs = inputs.constrained(jobs_from(value, where, beside), chosen.constraints_file)
    if into_folder:
        refuse_folder("-o", str(output), file_names(jobs.names), read_files)
    with held(str(output)) if into_folder else nullcontext():  # before anything runs
        of_cluster = located(cluster_file or where, only=ClusterError)
        with search_line("sizing"), located(where), of_cluster, naming_lower_rate():
            found = size_jobs(jobs, cluster, **settings)
        inputs.print_assumed(chosen.cluster)
        if into_folder:
            found.save_folder(str(output))
        elif output is not None:
            found.save(output)
    return found
