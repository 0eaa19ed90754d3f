"""The command `import`: graphs from job files of stream-processing systems."""

import sys
from contextlib import redirect_stdout

import click

from streamplace.cli import options, param_types
from streamplace.integrations.kinds import MODULES, READERS


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
@options.output("Graph file to write; - is stdout.  [default: -]", "GRAPH")
@options.common
def import_(
    file: str,
    kind: str,
    inputs: tuple[str, ...],
    costs_file: str | None,
    fold: bool,
    output: str,
    seed: int,
    as_json: bool,
) -> None:
    """Convert a job or a neural network of another program to a graph.

    \b
    flink-plan      Flink: getExecutionPlan(), explain_sql(), or GET /jobs/ID/plan
    storm-flux      Storm: a Flux topology, YAML
    storm-ui        Storm: a topology from the UI's REST API, JSON
    ibm-adl         IBM Streams: an application's ADL, XML
    ibm-streamsx    IBM Streams: the graph that the Python package streamsx writes, JSON
    kafka-streams   Kafka Streams: Topology.describe(), text
    dream           a file of the published DREAM benchmark (Ni et al., AAAI 2020), JSON
    cepsim          a graph of CEPSim, JSON
    graphml, dot    graphs of other programs, and files that `streamplace export` writes
    torch           PyTorch: FILE is module:Class or module:function, which is imported

    An operator of parallelism p becomes p instances operator[0] … operator[p-1]; `streamplace
    place --whole-operators` keeps them on one device. Numbers that are neither in FILE nor in COSTS
    stay unknown (null); `streamplace place` lists those that it needs.

    \b
    Examples:
    streamplace import plan.json --from flink-plan --costs costs.toml -o graph.json
    streamplace import mynets:Net --from torch --input 1x3x224x224 -o graph.json

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
    if output == "-" and as_json:
        raise click.UsageError("--json requires -o GRAPH, since the graph goes to stdout otherwise")
    if file == costs_file == "-":
        raise click.UsageError("cannot read both FILE and --costs from stdin")
    if inputs and kind not in MODULES:
        raise click.UsageError(f"--input requires --from {' or '.join(MODULES)}")
    from streamplace.cli import import_summary  # noqa: PLC0415 - loaded when the command runs
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import write_dataset  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.integrations.costs import Costs  # noqa: PLC0415
    from streamplace.integrations.registry import read_document, read_module  # noqa: PLC0415
    from streamplace.problem.expansion import to_instances, to_operators  # noqa: PLC0415

    check_targets({"-o": output}, (None if kind in MODULES else file, costs_file))
    with working("reading"), redirect_stdout(sys.stderr):  # the code of a module may print
        if kind in MODULES:
            logical = read_module(file, kind, inputs, seed)
        else:
            logical = read_document(file, kind)
        if costs_file is not None:
            with located(name_of(costs_file)):
                logical = Costs.read(costs_file).of(logical)
        with located(name_of(file)):
            graph = to_operators(logical) if fold else to_instances(logical)
    notes = [*logical.notes, *import_summary.assumptions(logical.graph)]
    write_dataset(output, [graph])
    if as_json:
        options.print_json(
            {
                "file": output,
                "operators": len(graph.names),
                "streams": len(graph.streams),
                "guessed": [list(ends) for ends in logical.guessed],
                "source_rate": graph.source_rate,
                "unknown": graph.unknown,
                "notes": notes,
            }
        )
    else:
        import_summary.print_import(graph, logical.guessed, notes, output)
