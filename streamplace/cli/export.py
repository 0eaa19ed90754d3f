"""The command `export`: placements in the formats of other programs."""

from dataclasses import dataclass

import click

from streamplace.cli import options, param_types, printing
from streamplace.cli.command import argument, command, option
from streamplace.cli.output_files import check_targets
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.assignments import read_placement_json
from streamplace.files.atomic import write_text
from streamplace.files.export import EXPORTERS
from streamplace.files.placements import placement_from, results_in
from streamplace.files.reading import name_of
from streamplace.integrations.flink.helper import helper_source
from streamplace.integrations.kinds import WRITERS
from streamplace.integrations.losses import assumptions, losses
from streamplace.integrations.registry import export_text

HELPER = "flink-helper"


@dataclass(frozen=True)
class ExportOptions(options.Common):
    """The options of `export`."""

    placement: str | None = argument(type=param_types.FILE, required=False)
    kind: str = option(
        "--to",
        type=param_types.Choice(["json", "csv", "cepsim", *WRITERS]),
        required=True,
        metavar="KIND",
        help="Format to write: one of the names above.",
    )
    output: str = options.output()


@command(ExportOptions)
def export(chosen: ExportOptions) -> None:
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
    if chosen.output == "-" and chosen.as_json:
        raise click.UsageError("--json requires -o FILE, since the export goes to stdout otherwise")

    if chosen.placement is None:
        _export_helper(chosen.kind, chosen.output, chosen.as_json)
        return
    check_targets({"-o": chosen.output}, (chosen.placement,))
    with working("reading"):
        value = read_placement_json(chosen.placement)
        read = placement_from(value, name_of(chosen.placement))
    with located(name_of(chosen.placement)):
        if chosen.kind in WRITERS:
            text = export_text(read, chosen.kind)
        else:
            text = EXPORTERS[chosen.kind](
                read, **(results_in(value) if chosen.kind == "json" else {})
            )
    write_text(chosen.output, text)
    for lost in losses(read, chosen.kind):
        printing.print_note(f"lost in {chosen.kind}: {lost}")
    for assumed in assumptions(read, chosen.kind):
        printing.print_note(f"assumed in {chosen.kind}: {assumed}")
    if chosen.as_json:
        printing.print_json({"format": chosen.kind, "file": chosen.output})


def _export_helper(kind: str, output: str, as_json: bool) -> None:
    """Write the Java class, which is the same for every placement."""
    if kind != HELPER:
        raise click.UsageError(f"missing argument 'PLACEMENT', which --to {kind} needs")
    check_targets({"-o": output}, ())
    write_text(output, helper_source())
    if as_json:
        printing.print_json({"format": kind, "file": output})
