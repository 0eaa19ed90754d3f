"""The command `export`: placements in the formats of other programs."""

from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_json, print_note
from streamplace.cli.format_names import FormatName, ListsWriters
from streamplace.cli.output_files import check_targets
from streamplace.engines.flink import deployment
from streamplace.engines.flink.plan import read_running
from streamplace.engines.flink.slot_groups import helper_source
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.assignments import read_placement_json
from streamplace.files.placements import as_csv, as_json, placement_from, results_in
from streamplace.files.reading import name_of, read_text
from streamplace.files.writing import write_text
from streamplace.formats.documents import export_text
from streamplace.formats.labels import dns_label
from streamplace.formats.registry import named
from streamplace.formats.yaml import to_yaml
from streamplace.problem.placement import Placement

OWN = JSON, CSV = "json", "csv"
"""Formats of streamplace itself."""
HELPER, DEPLOYMENT = "flink-helper", "flink-deployment"
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
    if chosen.placement is None:
        _export_helper(chosen.kind, chosen.output, chosen.as_json)
        return
    check_targets({"-o": chosen.output}, (chosen.placement, chosen.plan_file, chosen.patch_file))
    with working("reading"):
        value = read_placement_json(chosen.placement)
        read = placement_from(value, name_of(chosen.placement))
    if chosen.kind == DEPLOYMENT:
        _export_deployment(read, chosen)
        return
    with located(name_of(chosen.placement)):
        if chosen.kind == JSON:
            text = as_json(read, **results_in(value))
        elif chosen.kind == CSV:
            text = as_csv(read)
        else:
            text = export_text(read, chosen.kind)
    write_text(chosen.output, text)
    if chosen.kind not in OWN:
        kind = named(chosen.kind)
        for lost in kind.lost(read):
            print_note(f"lost in {chosen.kind}: {lost}")
        for assumed in kind.assumed(read):
            print_note(f"assumed in {chosen.kind}: {assumed}")
    if chosen.as_json:
        print_json({"format": chosen.kind, "file": chosen.output})


def _check_options(chosen: ExportOptions) -> None:
    """Refuse options of another format, and files that are missing."""
    if chosen.kind != DEPLOYMENT:
        options.refuse_unused(dict.fromkeys(OF_DEPLOYMENT, f"--to {DEPLOYMENT}"))
    elif chosen.plan_file is None:
        raise click.UsageError(
            f"missing --plan: --to {DEPLOYMENT} needs the ids of the running job's vertices: "
            "curl URL/jobs/ID/plan > plan.json"
        )


def _export_deployment(placement: Placement, chosen: ExportOptions) -> None:
    """Write what the Flink Kubernetes operator needs to run a placement's numbers of instances."""
    plan_file, base = str(chosen.plan_file), None
    plan = read_running(read_text(plan_file), name_of(plan_file))
    if chosen.patch_file is not None:
        base = deployment.base_document(read_text(chosen.patch_file), name_of(chosen.patch_file))
        metadata = base["metadata"]
        owner = deployment.Owner(base["kind"], metadata["name"], metadata.get("namespace", ""))
    else:
        name = placement.job or placement.problem.graph.name or "job"
        owner = deployment.Owner(deployment.DEPLOYMENT, dns_label(name))
    with located(name_of(str(chosen.placement))):
        document = deployment.write(placement, owner, plan, chosen.node_label)
    label = chosen.node_label
    notes = [f"lost: {each}" for each in deployment.losses(placement, label)]
    notes += [f"assumed: {each}" for each in deployment.assumptions(label)]
    head = "".join(f"# {each[0].upper()}{each[1:]}\n" for each in notes) + deployment.HEAD
    if base is None:
        head += f"# {owner.command}\n"
    else:
        document = deployment.patched(base, document)
        notes.append(f"lost: comments of {name_of(str(chosen.patch_file))}")
    write_text(chosen.output, head + to_yaml([document]))
    for note in notes:
        what, _, text = note.partition(": ")
        print_note(f"{what} in {DEPLOYMENT}: {text}")
    if chosen.as_json:
        print_json({"format": chosen.kind, "file": chosen.output})


def _export_helper(kind: str, output: str, as_json: bool) -> None:
    """Write the Java class, which is the same for every placement."""
    if kind != HELPER:
        raise click.UsageError(f"missing argument 'PLACEMENT', which --to {kind} needs")
    check_targets({"-o": output}, ())
    write_text(output, helper_source())
    if as_json:
        print_json({"format": kind, "file": output})
