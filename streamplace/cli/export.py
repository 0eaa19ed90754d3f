"""The command that writes a placement as other programs take it."""

import click

from streamplace.cli import options, param_types
from streamplace.integrations.kinds import WRITERS


@click.command()
@click.argument("placement", type=param_types.FILE)
@click.option(
    "--to",
    "kind",
    type=param_types.Choice(["json", "csv", "cepsim", *WRITERS]),
    required=True,
    metavar="KIND",
    help="One of those above.",
)
@options.output()
@options.common
def export(placement: str, kind: str, output: str, seed: int, as_json: bool) -> None:
    """Write PLACEMENT as others take it.

    \b
    json, csv       our own file; a line an operator: operator,device
    flink           Flink: slot-sharing groups, operator=peN
    flink-helper    Flink: the Java class that sets those groups in a job
    capsys          CAPSys, a patched Flink: schedulercfg, a line a subtask
    storm-ras       Storm: constraints and CPU for the Resource Aware Scheduler, YAML
    ibm-spl         IBM Streams: placement clauses for SPL
    ibm-overlay     IBM Streams: job configuration overlay, the number of PEs alone
    kubernetes      a Deployment per PE, YAML
    cepsim          CEPSim's runner, JSON
    dot, graphml    the graph with its devices

    flink, storm-ras and ibm-spl know whole operators only: place --whole-operators keeps the
    instances of each on one device.

    \b
    streamplace export placement.json --to csv
    streamplace export placement.json --to kubernetes -o deployments.yaml
    """
    if output == "-" and as_json:
        raise click.UsageError("--json tells of the file that -o names, so it needs one")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - a command loads what it needs
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import export  # noqa: PLC0415
    from streamplace.files.atomic import write_text  # noqa: PLC0415
    from streamplace.files.placements import placement_from, results_in  # noqa: PLC0415
    from streamplace.files.reading import name_of, read_json  # noqa: PLC0415
    from streamplace.integrations.registry import export_text  # noqa: PLC0415

    check_targets({"-o": output}, (placement,))
    with working("reading"):
        value = read_json(placement)
        read = placement_from(value, name_of(placement))
    with located(name_of(placement)):
        if kind in WRITERS:
            text = export_text(read, kind)
        else:
            text = export.EXPORTERS[kind](read, **(results_in(value) if kind == "json" else {}))
    write_text(output, text)
    if as_json:
        options.print_json({"format": kind, "file": output})
