"""The command `profile torch`: the operators of a PyTorch module, measured on this machine."""

import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_json, print_note
from streamplace.cli.output_files import check_targets
from streamplace.cli.terminal import console, print_table
from streamplace.display.view import Grid
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files import read_graph, write_dataset
from streamplace.formats.profiling.estimates import Estimate
from streamplace.util.checks import finite
from streamplace.util.extras import check_learn
from streamplace.util.text import counted

if TYPE_CHECKING:
    from streamplace.networks.torch.measuring import Measurement


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


@dataclass(frozen=True)
class TorchOptions(options.Common):
    """The options of `torch`."""

    module: str = argument()
    inputs: tuple[str, ...] = options.inputs("Also ")
    device: str = option(
        "--device",
        type=param_types.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Device of this machine to measure.",
    )
    kind: str | None = option(
        "--kind",
        callback=_kind,
        metavar="NAME",
        help="Kind of device that the times are for, as in the cluster file.  [default: cpu or "
        "cuda]",
    )
    threads: int = option(
        "--threads",
        type=param_types.Whole(1),
        callback=_threads,
        default=1,
        show_default=True,
        metavar="N",
        help="Threads that an operator uses on the CPU.",
    )
    repeats: int = option(
        "--repeats",
        type=param_types.Whole(1),
        default=30,
        show_default=True,
        metavar="N",
        help="Passes to measure.",
    )
    seconds: float = options.seconds("--seconds", 60, "Seconds after which no further pass begins.")
    cpu_time: bool = option(
        "--cpu-time",
        is_flag=True,
        help="Measure the CPU time of the process, on a machine that is busy with other work.",
    )
    add_file: str | None = option(
        "--add",
        type=param_types.FILE,
        metavar="GRAPH",
        help="Graph of an earlier profile of this module, whose times for other kinds of device "
        "are kept.",
    )
    output: str = options.graph_output()
    objective: None = options.no_objective("profile measures costs, which serve every objective")


@command(TorchOptions)
def torch(chosen: TorchOptions) -> None:
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
    options.refuse_both_on_stdout(chosen.output, chosen.as_json)
    if chosen.device != "cpu":
        options.refuse_unused({"--threads": "--device cpu"})
    check_targets({"-o": chosen.output}, (chosen.add_file,))
    earlier = None if chosen.add_file is None else read_graph(chosen.add_file)
    check_learn("profile torch")
    from streamplace.networks.torch import loading, measuring  # noqa: PLC0415 - torch

    measuring.check_device(chosen.device)
    specs = [loading.InputSpec.parse(text) for text in chosen.inputs]
    with working("measuring"), redirect_stdout(sys.stderr):  # the code of a module may print
        made, tensors = loading.load_module(chosen.module, specs, chosen.seed)
        with located(chosen.module):
            found = measuring.measure(
                made,
                tensors,
                kind=chosen.kind,
                device=chosen.device,
                threads=chosen.threads,
                repeats=chosen.repeats,
                seconds=chosen.seconds,
                cpu_time=chosen.cpu_time,
            )
    graph = found.graph
    if earlier is not None:
        with located(chosen.add_file or ""):
            graph = measuring.with_times(graph, earlier)
    write_dataset(chosen.output, [graph])
    for note in found.notes:
        print_note(f"note: {note}")
    print_note(_comparison(found, chosen.threads if chosen.device == "cpu" else None))
    if chosen.as_json:
        facts = {
            "file": chosen.output,
            "fault": None,
            "device": chosen.device,
            "threads": chosen.threads,
        }
        print_json({**facts, **found.to_dict(), "unknown": graph.unknown})
    else:
        _print_times(found, chosen.output == "-")


def _comparison(found: "Measurement", threads: int | None) -> str:
    """Return a line that compares the sum of the operators with the whole module."""

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
