"""The command `profile torch`: the operators of a PyTorch module, measured on this machine."""

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from streamplace.cli import checks, options, param_types, printing

if TYPE_CHECKING:
    from streamplace.integrations.profiling.estimates import Estimate
    from streamplace.integrations.torch.measuring import Measurement


def _threads(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Refuse more threads than cores: they would measure each other, and many end the process."""
    cores = os.cpu_count() or 1
    if value > cores:
        raise click.BadParameter(f"must be at most the cores here, {cores} (got {value})")
    return value


def _kind(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("must not be empty")
    return value


@click.command()
@click.argument("module")
@options.inputs("Shape of an input")
@click.option(
    "--device",
    type=param_types.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Device of this machine to measure.",
)
@click.option(
    "--kind",
    callback=_kind,
    metavar="NAME",
    help="Kind of device that the times are for, as in the cluster file.  [default: cpu or cuda]",
)
@click.option(
    "--threads",
    type=param_types.Whole(1),
    callback=_threads,
    default=1,
    show_default=True,
    metavar="N",
    help="Threads that an operator uses on the CPU.",
)
@click.option(
    "--repeats",
    type=param_types.Whole(1),
    default=30,
    show_default=True,
    metavar="N",
    help="Passes to measure.",
)
@options.seconds("--seconds", 60, "Seconds after which no further pass begins.")
@click.option(
    "--cpu-time",
    is_flag=True,
    help="Measure the CPU time of the process, on a machine that is busy with other work.",
)
@click.option(
    "--add",
    "add_file",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="GRAPH",
    help="Graph of an earlier profile of this module, whose times for other kinds of device are "
    "kept.",
)
@options.output("Graph file to write; - is stdout.  [default: -]", "GRAPH")
@options.no_objective("profile measures costs, which serve every objective")
@options.common
def torch(
    module: str,
    inputs: tuple[str, ...],
    device: str,
    kind: str | None,
    threads: int,
    repeats: int,
    seconds: float,
    cpu_time: bool,
    add_file: str | None,
    output: str,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the operators of a PyTorch module and write its graph.

    MODULE is module:Class, a torch.nn.Module that is constructed without arguments, or
    module:function, which returns a module, perhaps with a tuple of example inputs. Modules in
    the current folder come first. The code is imported and run; weights are what it makes them,
    usually random.

    The graph has one operator for each of ATen's core operators that computes, as in `streamplace
    import --from torch`, and seconds_on with the median of its times in seconds per pass. On
    stderr, their sum is compared with the time of the whole module.

    \b
    Examples:
    streamplace profile torch mynets:Net --input 1x3x224x224 -o graph.json
    streamplace profile torch mynets:Net --input 1x3x224x224 --kind old-cpu --add graph.json
    """
    if output == "-" and as_json:
        raise click.UsageError("--json requires -o GRAPH, since the graph goes to stdout otherwise")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_graph, write_dataset  # noqa: PLC0415

    check_targets({"-o": output}, (add_file,))
    earlier = None if add_file is None else read_graph(add_file)
    from streamplace.util.extras import check_learn  # noqa: PLC0415

    check_learn("profile torch")
    from streamplace.integrations.torch.inputs import InputSpec  # noqa: PLC0415 - torch is slow to load
    from streamplace.integrations.torch.loading import load_module  # noqa: PLC0415
    from streamplace.integrations.torch.measuring import check_device, measure, with_times  # noqa: PLC0415

    check_device(device)
    specs = [InputSpec.parse(text) for text in inputs]
    with working("measuring"), redirect_stdout(sys.stderr):  # the code of a module may print
        made, tensors = load_module(module, specs, seed)
        with located(module):
            found = measure(
                made,
                tensors,
                kind=kind,
                device=device,
                threads=threads,
                repeats=repeats,
                seconds=seconds,
                cpu_time=cpu_time,
            )
    graph = found.graph
    if earlier is not None:
        with located(add_file or ""):
            graph = with_times(graph, earlier)
    write_dataset(output, [graph])
    for note in found.notes:
        printing.print_note(f"note: {note}")
    printing.print_note(_comparison(found, threads if device == "cpu" else None))
    if as_json:
        facts = {"file": output, "fault": None, "device": device, "threads": threads}
        printing.print_json({**facts, **found.to_dict(), "unknown": graph.unknown})
    else:
        _print_times(found, output == "-")


def _comparison(found: "Measurement", threads: int | None) -> str:
    """Return a line that compares the sum of the operators with the whole module."""
    from streamplace.util.text import counted  # noqa: PLC0415 - loaded when the command runs

    how = counted(found.repeats, "repeat")
    if threads is not None:
        how += f", {counted(threads, 'thread')}"
    whole = found.module.value or 0.0
    share = f", {found.sum_s / whole:.0%} of it" if whole else ""
    return (
        f"whole module {_milliseconds(found.module)}; its operators "
        f"{1e3 * found.sum_s:,.4g} ms in all{share} ({how})"
    )


def _print_times(found: "Measurement", to_stderr: bool) -> None:
    from streamplace.cli.table import print_table  # noqa: PLC0415 - loaded when the command runs
    from streamplace.cli.terminal import console  # noqa: PLC0415
    from streamplace.display.view import Grid  # noqa: PLC0415
    from streamplace.util.finite import finite  # noqa: PLC0415

    operators = found.graph.operators

    def row(i: int) -> tuple[str, ...]:
        each = operators[i]
        work = finite(each.instructions)
        numbers = ("-" if work is None else f"{work:,.5g}", f"{each.payload_bytes:,.5g}")
        return each.name, *numbers, _milliseconds(found.seconds[each.name], unit="")

    columns = ("operator", "instructions", "bytes", "ms")
    print_table(console(to_stderr), Grid(columns, len(operators), row))


def _milliseconds(time: "Estimate", unit: str = " ms") -> str:
    """Return a time with its standard error."""
    error = "" if time.error is None else f" ± {1e3 * time.error:,.2g}"
    return f"{1e3 * (time.value or 0.0):,.4g}{error}{unit}"
