"""Times of the operators of a module, measured on this machine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from torch.export.passes import move_to_device_pass

from streamplace.errors import GraphError, UsageError
from streamplace.formats.profiling.estimates import MIN_INTERVALS, Estimate
from streamplace.networks.torch.graph import operators_of, read_program
from streamplace.networks.torch.passes import CpuClock, GpuClock, Passes
from streamplace.networks.torch.program import as_graph_error, export
from streamplace.problem.graph import StreamGraph
from streamplace.util.checks import finite

WARM_UP = 2
"""Passes before the measured ones, in which libraries choose their kernels and caches fill."""
IDLE = 0.85
"""Share of a measurement on the CPU during which the process must have a CPU."""
DEVICES = ("cpu", "cuda")

_MEDIAN = 1.2533
"""Standard error of the median of normal values, relative to that of their mean."""
_DEVIATION = 1.4826
"""Standard deviation of normal values, relative to their median absolute deviation."""


@dataclass(frozen=True)
class Measurement:
    """Measured times of the operators of a module.

    Parameters
    ----------
    graph
        The module's graph; `seconds_on` has the measured times.
    seconds
        Operator -> the median of its times, seconds, and the standard error of this median.
    module
        The median time of the whole module, seconds.
    kind
        Kind of device, the key in `seconds_on`.
    repeats
        Number of measured passes.
    notes
        What the graph leaves out, and what disturbed the measurement, one line each.
    """

    graph: StreamGraph
    seconds: dict[str, Estimate]
    module: Estimate
    kind: str
    repeats: int
    notes: tuple[str, ...] = ()

    @property
    def sum_s(self) -> float:
        """The sum of the operators' medians, in seconds."""
        return sum(time.value or 0.0 for time in self.seconds.values())

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {
            "kind": self.kind,
            "repeats": self.repeats,
            "operators": [
                {
                    "name": operator.name,
                    "type": operator.type,
                    "instructions": finite(operator.instructions),
                    "payload_bytes": operator.payload_bytes,
                    "seconds": self.seconds[operator.name].to_dict(),
                }
                for operator in self.graph.operators
            ],
            "sum_s": self.sum_s,
            "module": self.module.to_dict(),
            "notes": list(self.notes),
        }


def measure(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    *,
    kind: str | None = None,
    device: str = "cpu",
    threads: int = 1,
    repeats: int = 30,
    seconds: float = 60.0,
    cpu_time: bool = False,
) -> Measurement:
    """Measure the operators of a module.

    The exported graph runs node by node, and then the module itself, in turns. After two passes
    that do not count, the time of an operator is the median over the measured passes, in seconds
    per pass. Under ``cuda``, times are those between events on the stream.

    Parameters
    ----------
    module, example_inputs
        See `from_module`. Under ``cuda`` they are moved to the GPU.
    kind
        Kind of device to write in `seconds_on`; None: the name of `device`.
    device
        ``cpu`` or ``cuda``.
    threads
        Threads that an operator uses on the CPU.
    repeats
        Number of measured passes.
    seconds
        Time after which no further pass begins; at least one is measured.
    cpu_time
        Whether times are those that the process had a CPU, as on a machine that is busy with other
        work; only on the CPU.

    Raises
    ------
    GraphError
        See `from_module`.
    UsageError
        If there is no such device, or CPU time is to be measured on a GPU.
    """
    check_device(device)
    if cpu_time and device == "cuda":
        raise UsageError("CPU time says nothing about device 'cuda'; leave it out")
    on_cpu, inputs = (_all_on(each, tuple(example_inputs)) for each in ("cpu", device))
    program = export(module.cpu(), on_cpu)  # exported elsewhere, a module is another graph
    logical = read_program(program, type(module).__name__)
    if device != "cpu":
        module.to(device)
        move_to_device_pass(program.exported, device)
    operators = operators_of(program)
    passes = Passes(
        program.exported.graph_module,
        {*operators.values()},
        [*program.arguments(inputs).values()],
        GpuClock() if device == "cuda" else CpuClock(cpu_time=cpu_time),
    )
    with torch_threads(threads), torch.no_grad(), as_graph_error(inputs):
        whole, share = _run(passes, lambda: module(*inputs), repeats, seconds)
    times = {name: _median(passes.times[node]) for name, node in operators.items()}
    kind = device if kind is None else kind
    by_kind = {v: {kind: times[name].value} for v, name in enumerate(logical.graph.names)}
    graph, _ = logical.graph.with_numbers(seconds_on=by_kind)
    waits = device == "cpu" and not cpu_time
    notes = (*logical.notes, *(_interruptions(share) if waits else ()))
    return Measurement(graph, times, _median(whole), kind, len(whole), notes)


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have.

    Raises
    ------
    UsageError
        If it is unknown, or PyTorch finds no GPU.
    """
    if device not in DEVICES:
        raise UsageError(f"unknown device {device!r}; choose from {', '.join(DEVICES)}")
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("device 'cuda': PyTorch finds no GPU on this machine")


def with_times(graph: StreamGraph, earlier: StreamGraph) -> StreamGraph:
    """Return a measured graph with the times of an earlier one for other kinds of device.

    Raises
    ------
    GraphError
        If the two are not graphs of the same module and inputs.
    """
    plain, same = (each.with_numbers(seconds_on={})[0].sha256 for each in (graph, earlier))
    if plain != same:
        raise GraphError("is not a graph of this module with these inputs")
    times = {v: {**earlier.seconds_on.get(v, {}), **now} for v, now in graph.seconds_on.items()}
    return graph.with_numbers(seconds_on=times)[0]


def _run(
    passes: Passes, module: Callable[[], object], repeats: int, seconds: float
) -> tuple[list[float], float]:
    """Run passes of the operators and of the whole module in turns.

    Returns the times of the module in seconds, and the share of the time that the process had a
    CPU.
    """
    for _ in range(WARM_UP):
        passes.run_once()
        module()
    passes.forget()
    begin, begin_cpu, whole = perf_counter(), process_time(), list[float]()
    while len(whole) < repeats and (not whole or perf_counter() - begin < seconds):
        passes.run_once()
        _, time = passes.clock.measured(module)
        whole.append(time())
    return whole, (process_time() - begin_cpu) / (perf_counter() - begin)


def _interruptions(share: float) -> list[str]:
    """Return a note if other work had the CPUs for much of the measurement."""
    if share >= IDLE:
        return []
    return [
        f"this process had a CPU for only {share:.0%} of the measurement, so times may be too "
        "long, above all that of the whole module; measure again while the machine is idle, or "
        "measure CPU time (--cpu-time)"
    ]


def _median(times: Sequence[float]) -> Estimate:
    """Return the median of times, with its standard error if there are enough.

    The error follows from the median absolute deviation, so that passes that something else on the
    machine interrupted have little weight.
    """
    median = float(np.median(times))
    if len(times) < MIN_INTERVALS:
        return Estimate(median)
    deviation = _DEVIATION * float(np.median(np.abs(np.asarray(times) - median)))
    return Estimate(median, _MEDIAN * deviation / sqrt(len(times)), intervals=len(times))


def _all_on(device: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return inputs with all their tensors on a device."""
    moved: tuple[Any, ...] = torch.utils._pytree.tree_map_only(  # noqa: SLF001 - torch.export itself takes such trees
        torch.Tensor, lambda tensor: tensor.to(device), inputs
    )
    return moved


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use this number of threads in the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
