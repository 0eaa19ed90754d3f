"""The command `export`: placements in the formats of other programs."""

from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_json, print_note
from streamplace.cli.output_files import check_targets
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.assignments import read_placement_json
from streamplace.files.placements import placement_from, results_in
from streamplace.files.reading import name_of
from streamplace.workflows.export import ARGUMENTS, KINDS, NEEDED, PROGRAMS
from streamplace.workflows.export import export as exported


@dataclass(frozen=True)
class ExportOptions(options.Common):
    """The options of `export`."""

    placement: str | None = argument(type=param_types.FILE, required=False)
    kind: str = option(
        "--to",
        type=param_types.Choice(KINDS),
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
        "The document to change, YAML. gnuradio: the flowgraph (.grc), required. flink-deployment: "
        "[default: only what changes is written]",
    )
    node_label: str | None = option(
        "--node-label",
        metavar="KEY",
        help="flink-deployment: label of nodes whose values are the names of devices, such as "
        "kubernetes.io/hostname; TaskManagers get the nodes, cores and memory of the devices.  "
        "[default: only numbers of instances are written]",
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
    flink-deployment  Flink Kubernetes operator: numbers of instances for a FlinkDeployment, YAML
    flink-helper    Flink: the Java class that sets those groups in a job; needs no PLACEMENT
    capsys          CAPSys, a patched Flink: a schedulercfg file, a line per subtask
    storm-ras       Storm: executors, constraints and CPU for the Resource Aware Scheduler, YAML
    ibm-spl         IBM Streams: placement clauses for SPL
    ibm-overlay     IBM Streams: job configuration overlay with the number of PEs only
    kubernetes      Deployments: one per PE, with replicas for operators of several instances
    ray             Ray: options of each operator's actors, JSON
    gnuradio        GNU Radio: the flowgraph of --patch, with the cores of each block
    gnuradio-counters  GNU Radio: the program for `profile gnuradio`; needs no PLACEMENT
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
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "export")
    _check_options(chosen)
    check_targets({"-o": chosen.output}, (chosen.placement, chosen.plan_file, chosen.patch_file))
    placement, results = None, {}
    with working("reading"):
        if chosen.placement is not None:
            value = read_placement_json(chosen.placement)
            placement, results = placement_from(value, name_of(chosen.placement)), results_in(value)
    with located(name_of(str(chosen.placement))):
        found = exported(
            placement,
            chosen.kind,
            plan=chosen.plan_file,
            patch=chosen.patch_file,
            node_label=chosen.node_label,
            results=results,
        )
    found.save(chosen.output)
    for lost in found.lost:
        print_note(f"lost in {found.kind}: {lost}")
    for assumed in found.assumed:
        print_note(f"assumed in {found.kind}: {assumed}")
    if chosen.as_json:
        print_json({"format": chosen.kind, "file": chosen.output})


def _check_options(chosen: ExportOptions) -> None:
    """Refuse options of another format, and files that are missing."""
    kind = chosen.kind
    options.refuse_unused(
        {
            f"--{name.replace('_', '-')}": f"--to {' or '.join(kinds)}"
            for name, kinds in ARGUMENTS.items()
            if kind not in kinds
        }
    )
    files = {"plan": chosen.plan_file, "patch": chosen.patch_file}
    name, what = NEEDED.get(kind, ("", ""))
    if name and files[name] is None:
        raise click.UsageError(f"missing --{name}: --to {kind} needs {what}")
    if chosen.placement is None and kind not in PROGRAMS:
        raise click.UsageError(f"missing argument 'PLACEMENT', which --to {kind} needs")
