"""The command that imports documents of stream-processing systems."""

import click

from streamplace.cli import options, param_types
from streamplace.integrations.kinds import READERS


@click.command("import")
@click.argument("file", type=param_types.FILE)
@click.option(
    "--from",
    "kind",
    type=param_types.Choice(list(READERS)),
    required=True,
    metavar="KIND",
    help="What FILE is, one of those above.",
)
@options.costs("What FILE does not tell, by operator: .csv, else TOML.", "COSTS")
@options.fold
@options.output("Graph to write.  [default: -]", "GRAPH")
@options.common
def import_(
    file: str,
    kind: str,
    costs_file: str | None,
    fold: bool,
    output: str,
    seed: int,
    as_json: bool,
) -> None:
    """Read an engine's document FILE as a stream graph.

    \b
    flink-plan      Flink: getExecutionPlan(), explain_sql(), or GET /jobs/ID/plan
    storm-flux      Storm: a Flux topology, YAML
    storm-ui        Storm: what its UI tells of a topology, JSON
    ibm-adl         IBM Streams: an application's ADL, XML
    ibm-streamsx    IBM Streams: the graph of Python's streamsx, JSON
    kafka-streams   Kafka Streams: Topology.describe(), text
    dream, cepsim   JSON of the benchmarks
    graphml, dot    graphs of others, and what export writes

    An operator of parallelism p becomes the instances operator[0] … operator[p-1]; place
    --whole-operators keeps them on one device. What neither FILE nor COSTS tells stays unknown
    (null), and place lists what it needs.

    \b
    streamplace import plan.json --from flink-plan --costs costs.toml -o graph.json

    \b
    COSTS   source_rate = 1e4                     as CSV:
            [default]                             operator,instructions,payload_bytes
            payload_bytes = 100                   parse,20000,250
            [operators.parse]                     count,35000,
            instructions = 20000
            selectivity = 0.5
            [streams]
            "parse->count" = 0.25
            [source_shares]
            clicks = 0.9
            views = 0.1

    instructions, payload_bytes and selectivity are those of a tuple, memory_bytes (0 if not told)
    is that of one instance: of an operator of parallelism p each of the p instances takes it.
    """
    if output == "-" and as_json:
        raise click.UsageError("--json tells of the file that -o names, so it needs one")
    if file == costs_file == "-":
        raise click.UsageError("FILE and --costs both want stdin")
    from streamplace.cli import import_summary  # noqa: PLC0415 - a command loads what it needs
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import write_dataset  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.integrations.costs import Costs  # noqa: PLC0415
    from streamplace.integrations.registry import read_document  # noqa: PLC0415
    from streamplace.problem.expansion import to_instances, to_operators  # noqa: PLC0415

    check_targets({"-o": output}, (file, costs_file))
    with working("reading"):
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
