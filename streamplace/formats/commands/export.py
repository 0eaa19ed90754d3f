"""The command `export`: placements in the formats of other programs."""

from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_json, print_note
from streamplace.cli.output_files import check_targets, refuse_other_names
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.assignments import csv_of, read_placement_json
from streamplace.files.placements import placement_from, referring_assignment, results_in
from streamplace.files.reading import name_of
from streamplace.formats.commands.format_names import FormatName, ListsWriters
from streamplace.workflows.export import (
    CSV,
    DEPLOYMENT,
    JSON,
    OWN,
    PLAN_NEEDED,
    Export,
    needs_placement,
)
from streamplace.workflows.export import export as exported

OF_DEPLOYMENT = ("--plan", "--patch", "--node-label")
"""Options that only `DEPLOYMENT` has."""


@dataclass(frozen=True)
class ExportOptions(options.Common):
    """The options of `export`."""

    placement: str | None = argument(type=param_types.FILE, required=False)
    kind: str = option(
        "--to",
        type=FormatName("writes", *OWN, DEPLOYMENT),
        required=True,
        metavar="KIND",
        help="Format to write: one of the names above.",
    )
    plan_file: str | None = options.file(
        "--plan",
        "flink-deployment: plan of the running job, as /jobs/ID/plan of Flink's REST API returns "
        "it, with the ids of its vertices.  [required there]",
    )
    patch_file: str | None = options.file(
        "--patch",
        "flink-deployment: the document to change, YAML.  [default: only what changes is written]",
    )
    node_label: str | None = option(
        "--node-label",
        metavar="KEY",
        help="flink-deployment: label of nodes whose values are the names of devices, such as "
        "kubernetes.io/hostname; TaskManagers get the nodes, cores and memory of the devices.  "
        "[default: only numbers of instances are written]",
    )
    output: str = options.output()


@command(ExportOptions, kind=ListsWriters)
def export(chosen: ExportOptions) -> None:
    """Write a placement in another program's format.

    \b
    json              streamplace's placement file
    csv               a row per operator: operator,device
    flink-deployment  Flink Kubernetes operator: numbers of instances for a FlinkDeployment, YAML
    FORMATS

    A PE (processing element) is the set of operators on one device. ibm-spl can only place whole
    operators: `streamplace place --whole-operators` keeps all instances of an operator on one
    device. storm-ras, flink and kubernetes keep the number of instances. Facts that a format cannot
    express, or assumes, are printed, and written into the file where it has comments.

    \b
    Examples:
    streamplace export placement.json --to csv
    streamplace export placement.json --to kubernetes -o deployments.yaml
    """
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "export")
    _check_options(chosen)
    if chosen.kind == JSON:
        refuse_other_names(chosen.output)
    check_targets({"-o": chosen.output}, (chosen.placement, chosen.plan_file, chosen.patch_file))
    with working("reading"):
        found = _exported(chosen)
    found.save(chosen.output)
    for lost in found.lost:
        print_note(f"lost in {found.kind}: {lost}")
    for assumed in found.assumed:
        print_note(f"assumed in {found.kind}: {assumed}")
    if chosen.as_json:
        print_json({"format": chosen.kind, "file": chosen.output})


def _exported(chosen: ExportOptions) -> Export:
    placement, results, where = None, {}, name_of(str(chosen.placement))
    if chosen.placement is not None:
        value = read_placement_json(chosen.placement)
        if chosen.kind == CSV and (assignment := referring_assignment(value, where)) is not None:
            return Export(CSV, csv_of(assignment))
        placement, results = placement_from(value, where), results_in(value)
    with located(where):
        return exported(
            placement,
            chosen.kind,
            plan=chosen.plan_file,
            patch=chosen.patch_file,
            node_label=chosen.node_label,
            results=results,
        )


def _check_options(chosen: ExportOptions) -> None:
    """Refuse options of another format, and files that are missing."""
    if chosen.kind != DEPLOYMENT:
        options.refuse_unused(dict.fromkeys(OF_DEPLOYMENT, f"--to {DEPLOYMENT}"))
    elif chosen.plan_file is None:
        raise click.UsageError(f"missing --plan: --to {DEPLOYMENT} needs {PLAN_NEEDED}")
    if chosen.placement is None and needs_placement(chosen.kind):
        raise click.UsageError(f"missing argument 'PLACEMENT', which --to {chosen.kind} needs")
