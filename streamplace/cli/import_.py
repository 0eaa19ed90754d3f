"""The command `import`: graphs from files of stream-processing systems and other programs."""

import sys
from contextlib import redirect_stdout

import click

from streamplace.cli import checks, options, param_types, printing
from streamplace.cli.logical_forms import check_forms, graph_of
from streamplace.integrations.kinds import ANY_COUNT, MODULES, READERS, WITH_CLUSTER


@click.command("import")
@click.argument("file", type=param_types.FILE)
@click.option(
    "--from",
    "kind",
    type=param_types.Choice([*READERS, *MODULES]),
    required=True,
    metavar="KIND",
    help="Format of FILE: one of the names above.",
)
@options.inputs("torch: shape of an input")
@options.costs(
    "File of numbers by operator and stream: they replace those in FILE, except that [default] "
    "only fills gaps. CSV if its name ends in .csv, otherwise TOML; see above.",
    "COSTS",
)
@options.fold
@options.logical
@options.output("Graph file to write; - is stdout.  [default: -]", "GRAPH")
@click.option(
    "--cluster-out",
    callback=checks.file_name,
    metavar="CLUSTER",
    help="Cluster file to write, for formats whose files come with one; - is stdout.",
)
@click.option(
    "--device-count",
    type=param_types.Whole(1),
    metavar="N",
    help="Number of devices in CLUSTER, for formats that do not state it: doppler, pipedream.  "
    "[default: 4]",
)
@options.common
def import_(
    file: str,
    kind: str,
    inputs: tuple[str, ...],
    costs_file: str | None,
    fold: bool,
    logical: bool,
    output: str,
    cluster_out: str | None,
    device_count: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Convert a job of Flink, Storm, … or a neural network to a graph.

    \b
    flink-plan      Flink: getExecutionPlan(), explain_sql(), COMPILE PLAN, GET /jobs/ID/plan
    storm-flux      Storm: a Flux topology, YAML
    storm-ui        Storm: a topology from the UI's REST API, JSON
    ibm-adl         IBM Streams: an application's ADL, XML
    ibm-streamsx    IBM Streams: the graph that the Python package streamsx writes, JSON
    kafka-streams   Kafka Streams: Topology.describe(), text
    dream           a file of the published DREAM benchmark (Ni et al., AAAI 2020), JSON
    cepsim          a graph of CEPSim, JSON
    graphml, dot    graphs of other programs, and files that `streamplace export` writes
    torch           PyTorch: FILE is module:Class or module:function, which is imported
    openvino        OpenVINO: the XML file of a model (IR 10 or 11)
    onnx            ONNX: a model; needs streamplace[onnx]
    doppler         DOPPLER: a released computation graph, text, with a cluster
    pipedream       PipeDream: the profile of a neural network, graph.txt, with a cluster
    dnn-partitioning, dnn-latency
                    msr-fiddle/dnn-partitioning: a workload for throughput or latency, JSON, with
                    a cluster

    An operator of parallelism p becomes p instances operator[0] … operator[p-1]; `streamplace
    place --whole-operators` keeps them on one device. Numbers that are neither in FILE nor in COSTS
    stay unknown (null); `streamplace place` lists those that it needs.

    \b
    Examples:
    streamplace import plan.json --from flink-plan --costs costs.toml -o graph.json
    streamplace import mynets:Net --from torch --input 1x3x224x224 -o graph.json
    streamplace import w.json --from dnn-latency -o graph.json --cluster-out cluster.json

    \b
    COSTS as TOML:              COSTS as CSV:
    source_rate = 1e4           operator,instructions,payload_bytes
    [default]                   parse,20000,250
    payload_bytes = 100         count,35000,
    [operators.parse]
    instructions = 20000
    selectivity = 0.5
    [streams]
    "parse->count" = 0.25
    [source_shares]
    clicks = 0.9
    views = 0.1

    source_rate is in tuples/s over all sources; source_shares are the parts of it that each source
    emits (sum 1). instructions are per tuple processed, payload_bytes per tuple emitted.
    selectivity is the number of tuples put on a stream per tuple processed: that of an operator
    applies to each of its streams, unless [streams] has another for the stream. memory_bytes
    (default 0) and resources, such as resources = {gpu = 1} or a column resources.gpu, are per
    instance: each of the p instances of an operator takes that much. instructions_se,
    payload_bytes_se and selectivity_se are standard errors, for `place --confidence`. Numbers in
    COSTS replace those in FILE and their standard errors; only those in [default] apply just where
    a number is unknown.
    """
    check_forms(fold=fold, logical=logical)
    _check_options(file, kind, inputs, costs_file, output, cluster_out, device_count, as_json)
    from streamplace.cli import import_summary, imported_cluster  # noqa: PLC0415 - loaded when the command runs
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import write_dataset  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.integrations.costs import Costs  # noqa: PLC0415
    from streamplace.integrations.registry import read_document, read_module  # noqa: PLC0415

    inputs_of = (None if kind in MODULES else file, costs_file)
    check_targets({"-o": output, "--cluster-out": cluster_out}, inputs_of)
    with working("reading"), redirect_stdout(sys.stderr):  # the code of a module may print
        if kind in MODULES:
            found = read_module(file, kind, inputs, seed)
        else:
            found = read_document(file, kind)
        if costs_file is not None:
            with located(name_of(costs_file)):
                found = Costs.read(costs_file).of(found)
        with located(name_of(file)):
            graph = graph_of(found, fold=fold, logical=logical)
    notes = [*found.notes, *import_summary.assumptions(found.graph)]
    if found.cluster is not None:
        notes += imported_cluster.write(found.cluster, kind, cluster_out, device_count)
    write_dataset(output, [graph])
    if as_json:
        printing.print_json(
            {
                "file": output,
                "operators": len(graph.names),
                "streams": len(graph.streams),
                "guessed": [list(ends) for ends in found.guessed],
                "source_rate": graph.source_rate,
                "unknown": graph.unknown,
                "notes": notes,
                "cluster": cluster_out,
            }
        )
    else:
        import_summary.print_import(graph, found.guessed, notes, output)


def _check_options(
    file: str,
    kind: str,
    inputs: tuple[str, ...],
    costs_file: str | None,
    output: str,
    cluster_out: str | None,
    device_count: int | None,
    as_json: bool,
) -> None:
    """Refuse options that exclude each other, or that the format has no use for."""
    if output == "-" and as_json:
        raise click.UsageError("--json requires -o GRAPH, since the graph goes to stdout otherwise")
    if output == cluster_out == "-":
        raise click.UsageError("cannot write both GRAPH and CLUSTER to stdout")
    if as_json and cluster_out == "-":
        raise click.UsageError("cannot combine --json with --cluster-out -")
    if cluster_out is not None and kind not in WITH_CLUSTER:
        raise click.UsageError(f"--cluster-out requires a file with a cluster; {kind} has none")
    if device_count is not None and (cluster_out is None or kind not in ANY_COUNT):
        known = " or ".join(sorted(ANY_COUNT))
        raise click.UsageError(f"--device-count requires --cluster-out and --from {known}")
    if file == costs_file == "-":
        raise click.UsageError("cannot read both FILE and --costs from stdin")
    if inputs and kind not in MODULES:
        raise click.UsageError(f"--input requires --from {' or '.join(MODULES)}")
