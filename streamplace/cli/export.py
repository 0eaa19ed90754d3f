"""The command `export`: placements in the formats of other programs."""

import click

from streamplace.cli import options, param_types, printing
from streamplace.integrations.kinds import WRITERS

HELPER = "flink-helper"


@click.command()
@click.argument("placement", type=param_types.FILE, required=False)
@click.option(
    "--to",
    "kind",
    type=param_types.Choice(["json", "csv", "cepsim", *WRITERS]),
    required=True,
    metavar="KIND",
    help="Format to write: one of the names above.",
)
@options.output()
@options.common
def export(placement: str | None, kind: str, output: str, seed: int, as_json: bool) -> None:
    """Write a placement in another program's format.

    \b
    json            streamplace's placement file
    csv             a row per operator: operator,device
    flink           Flink: slot-sharing groups, operator=peN, with labels if devices differ
    flink-config    Flink: the lines that each TaskManager's configuration needs for its labels
    flink-helper    Flink: the Java class that sets those groups in a job; needs no PLACEMENT
    capsys          CAPSys, a patched Flink: a schedulercfg file, a line per subtask
    storm-ras       Storm: executors, constraints and CPU for the Resource Aware Scheduler, YAML
    ibm-spl         IBM Streams: placement clauses for SPL
    ibm-overlay     IBM Streams: job configuration overlay with the number of PEs only
    kubernetes      Deployments: one per PE, with replicas for operators of several instances
    cepsim          a placement file for CEPSim's runner, JSON
    dot, graphml    the graph with the device of each operator

    A PE (processing element) is the set of operators on one device. ibm-spl can only place whole
    operators: `streamplace place --whole-operators` keeps all instances of an operator on one
    device. storm-ras, flink and kubernetes keep the number of instances. Facts that a format cannot
    express, or assumes, are printed, and written into the file where it has comments.

    \b
    Examples:
    streamplace export placement.json --to csv
    streamplace export placement.json --to kubernetes -o deployments.yaml
    """
    if output == "-" and as_json:
        raise click.UsageError("--json requires -o FILE, since the export goes to stdout otherwise")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import export  # noqa: PLC0415
    from streamplace.files.assignments import read_placement_json  # noqa: PLC0415
    from streamplace.files.atomic import write_text  # noqa: PLC0415
    from streamplace.files.placements import placement_from, results_in  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.integrations.losses import assumptions, losses  # noqa: PLC0415
    from streamplace.integrations.registry import export_text  # noqa: PLC0415

    if placement is None:
        _export_helper(kind, output, as_json)
        return
    check_targets({"-o": output}, (placement,))
    with working("reading"):
        value = read_placement_json(placement)
        read = placement_from(value, name_of(placement))
    with located(name_of(placement)):
        if kind in WRITERS:
            text = export_text(read, kind)
        else:
            text = export.EXPORTERS[kind](read, **(results_in(value) if kind == "json" else {}))
    write_text(output, text)
    for lost in losses(read, kind):
        printing.print_note(f"lost in {kind}: {lost}")
    for assumed in assumptions(read, kind):
        printing.print_note(f"assumed in {kind}: {assumed}")
    if as_json:
        printing.print_json({"format": kind, "file": output})


def _export_helper(kind: str, output: str, as_json: bool) -> None:
    """Write the Java class, which is the same for every placement."""
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files.atomic import write_text  # noqa: PLC0415
    from streamplace.integrations.flink.helper import helper_source  # noqa: PLC0415

    if kind != HELPER:
        raise click.UsageError(f"missing argument 'PLACEMENT', which --to {kind} needs")
    check_targets({"-o": output}, ())
    write_text(output, helper_source())
    if as_json:
        printing.print_json({"format": kind, "file": output})
