"""The command `import`: graphs, clusters and recorded runs from files of other programs."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, group, option, print_json
from streamplace.cli.output_files import check_targets, placement_writer
from streamplace.cli.terminal import console, print_line
from streamplace.display.view import Line, Names
from streamplace.errors import FormatError, ProblemError, UsageError, located
from streamplace.execution.progress import working
from streamplace.files import write_cluster, write_dataset
from streamplace.files.foreign import OURS, import_command, what_is
from streamplace.files.reading import STDIO, name_of
from streamplace.formats.commands.format_names import FormatName, ListsReaders
from streamplace.formats.documents import kind_of_file, read_cluster_document
from streamplace.formats.registry import format_named
from streamplace.formats.speeds import Speed, with_speeds
from streamplace.problem.cluster import Cluster
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.text import counted
from streamplace.workflows.read_job import ReadJob, read_job

MAX_DIMENSION = 10**12  # as of --input
MAX_GUESSED_BYTES = 2**26  # of a file whose format is looked for
OF_JOBS = (
    *("--input", "--dim", "--costs", "--typical-costs", "--fold", "--logical"),
    *("--cluster-out", "--placement", "--device-count"),
)


def _is_short(file: str) -> bool:
    """Return whether a file is read, or refused, in a moment; a pipe may never end."""
    if os.path.isdir(file) or not os.path.exists(file):
        return file != STDIO
    return os.path.isfile(file) and os.path.getsize(file) <= MAX_GUESSED_BYTES


def _named_kind(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the value of --from; without it, the error says what FILE is, if that is known."""
    if value is not None:
        return value
    file = ctx.params["file"]
    is_read = not ctx.resilient_parsing and ":" not in file and _is_short(file)  # m:Class is code
    kind = kind_of_file(file) if is_read else None
    if kind is None:
        unknown = f" the format of {name_of(file)} is not recognised;" if is_read else ""
        raise click.UsageError(f"missing option '--from':{unknown} the help lists all formats", ctx)
    if kind.startswith(OURS):
        raise FormatError(f"{name_of(file)}: {what_is(kind)}")
    command = import_command(kind, name_of(file))
    raise UsageError(f"missing option --from: {name_of(file)} {what_is(kind)}; write {command}")


def _dims(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    """Return dimension -> size."""
    found: dict[str, int] = {}
    for value in values:
        name, _, text = value.rpartition("=")
        if not name or not text.isdecimal() or not 0 < int(text) < MAX_DIMENSION:
            expected = "expected NAME=N with a whole number of at least 1, such as batch=1"
            raise click.BadParameter(f"{expected} (got {value!r:.60})", ctx, param)
        if found.setdefault(name, int(text)) != int(text):
            raise click.BadParameter(f"{name!r:.40} has two sizes", ctx, param)
    return found


def _speeds(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[Speed]:
    """Return the speeds in text such as ``2500`` or ``node-a=3000``; names may contain =."""
    found: list[Speed] = []
    for value in values:
        name, is_named, text = value.rpartition("=")
        mips = param_types.MIPS.convert(text, param, ctx)
        param_types.above_0(ctx, param, mips)
        found.append((name if is_named else None, mips))
    return found


@dataclass(frozen=True)
class ImportOptions(options.Common):
    """The options of `import`."""

    file: str = argument(type=param_types.FILE)
    kind: str = option(
        "--from",
        type=FormatName("reads"),
        callback=_named_kind,
        metavar="KIND",
        help="Format of FILE: one of the names above.  [required]",
    )
    inputs: tuple[str, ...] = options.inputs(
        "onnx and openvino need it where the file leaves shapes open. torch: "
    )
    dims: Mapping[str, int] = option(
        "--dim",
        multiple=True,
        callback=_dims,
        metavar="NAME=N",
        help="onnx, openvino: size of a dimension that FILE leaves open, such as batch=1; once per "
        "dimension. One without a name is named after its input and axis, such as x[0].",
    )
    costs_file: str | None = options.costs(
        "File of numbers by operator and stream: they replace those in FILE, except that [default] "
        "only fills gaps. CSV if its name ends in .csv, otherwise TOML; see above.",
        "COSTS",
    )
    typical_costs: bool = options.typical_costs()
    form: options.InstanceForm = group(options.InstanceForm)
    speeds: Sequence[Speed] = option(
        "--mips",
        multiple=True,
        callback=_speeds,
        metavar="[NAME=]M",
        help="Formats of clusters: speed of a core, in million instructions/s, of all devices or "
        "those with a name, label or group. A name counts before a label or group, and these "
        "before all devices; of equal ones, the last.  [default: 2500]",
    )
    output: str = options.graph_output(
        "Graph file to write, or cluster file for formats of clusters; - is stdout.  [default: -]"
    )
    cluster_out: str | None = option(
        "--cluster-out",
        type=param_types.NAME,
        metavar="CLUSTER",
        help="Cluster file to write, for formats whose files come with one; - is stdout.",
    )
    placement_file: str | None = options.file(
        "--placement",
        "File to write the recorded placement to, for formats that have one: .csv "
        "(operator,device), or JSON under any other name; - is stdout.",
        "PLACEMENT",
    )
    device_count: int | None = option(
        "--device-count",
        type=param_types.Whole(1),
        metavar="N",
        help="Number of devices in CLUSTER, for formats with a cluster of any size.  [default: 4]",
    )

    @property
    def outputs(self) -> dict[str, str | None]:
        """The option of each file to write -> its name, if it is to be written."""
        return {
            "-o": self.output,
            "--cluster-out": self.cluster_out,
            "--placement": self.placement_file,
        }


@command(ImportOptions, "import", kind=ListsReaders)
def import_(chosen: ImportOptions) -> None:
    """Convert jobs and neural networks to graphs, nodes to clusters.

    \b
    FORMATS

    An operator of parallelism p becomes p instances operator[0] … operator[p-1]; `streamplace
    place --whole-operators` keeps them on one device. Numbers that are neither in FILE nor in COSTS
    stay unknown (null) without --typical-costs; `streamplace place` lists those that it needs.

    \b
    Examples:
    streamplace import plan.json --from flink-plan --costs costs.toml -o graph.json
    streamplace import mynets:Net --from torch --input 1x3x224x224 -o graph.json
    streamplace import w.json --from dnn-latency -o graph.json --cluster-out cluster.json
    streamplace import run.json --from wfformat -o graph.json --placement run-placement.json
    streamplace import job.csv --from csv -o graph.json
    streamplace import nodes.json --from kubernetes-nodes --mips 2500 -o cluster.json

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
    emits (sum 1). Instead of both, [source_rates] or a column source_rate has the tuples/s of each
    source. instructions are per tuple processed, payload_bytes per tuple emitted.
    selectivity is the number of tuples put on a stream per tuple processed: that of an operator
    applies to each of its streams, unless [streams] has another for the stream. Where FILE names
    streams, "parse->count:ID" is one of those between two operators. memory_bytes
    (default 0) and resources, such as resources = {gpu = 1} or a column resources.gpu, are per
    instance: each of the p instances of an operator takes that much. instructions_se,
    payload_bytes_se and selectivity_se are standard errors, for `place --confidence`. Columns of
    CSV may be in your words and units, such as name, "CPU (ms)" and payload_kb. Numbers in COSTS
    replace those in FILE and their standard errors; only those in [default] apply just where a
    number is unknown.
    """
    chosen.form.check()
    _check_options(chosen)
    kind = format_named(chosen.kind)
    is_code = kind.read_code is not None
    read_files = (None if is_code else chosen.file, chosen.costs_file)
    check_targets(chosen.outputs, read_files)
    if kind.read_cluster is not None:
        _import_cluster(chosen)
        return
    with working("reading"), redirect_stdout(sys.stderr):  # the code of a module may print
        job = read_job(
            chosen.file,
            chosen.kind,
            costs=chosen.costs_file,
            form=chosen.form.name,
            device_count=chosen.device_count,
            inputs=chosen.inputs,
            dims=chosen.dims,
            seed=chosen.seed,
            typical_costs=chosen.typical_costs,
        )
        notes = [*job.notes]
        with located(name_of(chosen.file)):
            write_run = _run_writer(job, chosen, notes)
    if job.cluster is not None:
        notes.append(_write_cluster(job.cluster, job.devices_assumed, chosen))
    write_run()
    write_dataset(chosen.output, [job.graph])
    if chosen.as_json:
        print_json(
            {
                "file": chosen.output,
                **job.to_dict(),
                "notes": notes,
                "cluster": chosen.cluster_out,
                "placement": chosen.placement_file,
            }
        )
    else:
        _print_import(job, notes, chosen.output)


def _import_cluster(chosen: ImportOptions) -> None:
    """Write the cluster that a file describes, and say what was assumed or left out."""
    with working("reading"):
        read, notes = read_cluster_document(chosen.file, chosen.kind)
        cluster, assumed = with_speeds(read, chosen.speeds)
    write_cluster(chosen.output, cluster)
    notes += assumed
    if chosen.as_json:
        devices = len(cluster.devices)
        print_json({"file": chosen.output, "devices": devices, "notes": notes})
        return
    out, count = console(to_stderr=True), counted(len(cluster.devices), "device")
    out.print(f"wrote {chosen.output}: {count}" if chosen.output != "-" else count)
    for note in notes:
        out.print(f"note: {note}")


def _check_options(chosen: ImportOptions) -> None:
    """Refuse options that exclude each other, or that the format has no use for."""
    kind = format_named(chosen.kind)
    options.refuse_both_on_stdout(chosen.output, chosen.as_json)
    to_stdout = [name for name, file in chosen.outputs.items() if file == "-"]
    to_stdout += ["--json"] if chosen.as_json else []
    if len(to_stdout) > 1:
        raise click.UsageError(f"only one of {' and '.join(to_stdout)} can write to stdout")
    if kind.read_cluster is not None:
        options.refuse_unused(
            dict.fromkeys(OF_JOBS, f"a format of jobs; {kind.name} is of clusters")
        )
        return
    required = {"--mips": "a format of clusters, such as kubernetes-nodes"}
    if not kind.has_cluster:
        required["--cluster-out"] = f"a file with a cluster; {kind.name} has none"
    if not kind.has_placement:
        required["--placement"] = f"a file of a run; {kind.name} records none"
    if chosen.cluster_out is None or kind.states_count:
        required["--device-count"] = "--cluster-out and a format with a cluster of any size"
    if kind.read_code is None and kind.read_sized is None:
        required["--input"] = "--from torch, onnx or openvino"
    if kind.read_sized is None:
        required["--dim"] = "--from onnx or openvino"
    options.refuse_unused(required)


def _run_writer(job: ReadJob, chosen: ImportOptions, notes: list[str]) -> Callable[[], None]:
    """Return what writes the recorded placement, if asked for; add notes for the user.

    Raises
    ------
    FormatError
        If the file does not have the cluster or the placement that is to be written.
    ProblemError
        If a number that makespans need is unknown.
    """
    file, cluster, assignment = chosen.placement_file, job.cluster, job.assignment
    if (
        cluster is None
        and chosen.cluster_out is not None
        and format_named(chosen.kind).has_placement
    ):
        raise FormatError("names no machine, so there is no cluster; leave out --cluster-out")
    if file is None:
        if assignment is not None:
            notes.append("the recorded placement is not written; write it with --placement")
        return lambda: None
    if assignment is None or cluster is None:
        raise FormatError(
            "does not say for every task where it ran, so there is no recorded placement; leave "
            "out --placement"
        )
    try:
        return placement_writer(
            file,
            lambda: assignment,
            lambda: Placement.of(Problem(job.graph, cluster, objective=Makespan()), assignment),
        )
    except ProblemError as error:
        remedy = "state what is unknown in --costs, or write a .csv file"
        raise ProblemError(f"the recorded placement has no makespan: {error}; {remedy}") from None


def _write_cluster(cluster: Cluster, assumed: bool, chosen: ImportOptions) -> str:
    """Write the cluster that belongs to the file, if asked for; return a note for the user."""
    if chosen.cluster_out is None:
        return "the cluster that belongs to the file is not written; write it with --cluster-out"
    write_cluster(chosen.cluster_out, cluster)
    devices = counted(len(cluster.devices), "device")
    why = "; the file does not state how many, see --device-count" if assumed else ""
    return f"the cluster has {devices}{why}"


def _print_import(job: ReadJob, notes: Sequence[str], file: str) -> None:
    """Print on stderr what was read, what was guessed, and what is unknown."""
    out, graph, guessed = console(to_stderr=True), job.graph, job.guessed
    sizes = {"operator": len(graph.names), "stream": len(graph.streams)}
    counts = ", ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for what, n in sizes.items())
    out.print(f"wrote {file}: {counts}" if file != "-" else counts)
    if guessed:
        print_line(
            out, Line("guessed streams: {}", (Names.of([f"{a} -> {b}" for a, b in guessed]),))
        )
    for note in notes:
        out.print(f"note: {note}")
    for unknown in graph.lacking:
        out.print(f"unknown: {unknown}")
    if graph.source_rate is None:
        needed = ", which only throughput needs" if graph.firing == "all" else ""
        out.print(f"unknown: source rate{needed}; set it in --costs or with place --source-rate")
