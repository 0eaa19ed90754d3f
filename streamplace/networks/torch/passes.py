"""Passes of an exported graph, node by node, with the time of each node."""

from collections.abc import Callable, Collection, Sequence
from time import perf_counter, process_time
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

Stopwatch = Callable[[], float]


class CpuClock:
    """The clock of the CPU, where an operator has ended when its call returns.

    Parameters
    ----------
    cpu_time
        Whether it counts the CPU time of the process, which waits for no other process.
    """

    def __init__(self, *, cpu_time: bool = False) -> None:
        self._now = process_time if cpu_time else perf_counter

    def measured(self, work: Callable[[], Any]) -> tuple[Any, Stopwatch]:
        """Run work; return its result, and a function that returns its seconds."""
        start = self._now()
        result = work()
        seconds = self._now() - start
        return result, lambda: seconds


class GpuClock:
    """Events on the GPU's stream, because operators run there after their call has returned.

    The seconds of work are known once the GPU has done it, so a pass asks for them at its end.
    """

    def measured(self, work: Callable[[], Any]) -> tuple[Any, Stopwatch]:
        """Run work; return its result, and a function that waits and returns its seconds."""
        start, end = (
            torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch has no types for it
            for _ in range(2)
        )
        start.record()
        result = work()
        end.record()

        def seconds() -> float:
            end.synchronize()
            return float(start.elapsed_time(end)) / 1e3

        return result, seconds


class Passes(Interpreter):
    """An exported graph that runs node by node.

    Parameters
    ----------
    graph
        The exported graph.
    operators
        Its nodes whose time is measured.
    arguments
        The values of its placeholders.
    clock
        The clock of the device on which it runs.

    Attributes
    ----------
    times
        Node -> its seconds in each pass.
    """

    def __init__(
        self,
        graph: GraphModule,
        operators: Collection[Node],
        arguments: Sequence[Any],
        clock: CpuClock | GpuClock,
    ) -> None:
        super().__init__(graph)
        self.clock = clock
        self.times: dict[Node, list[float]] = {node: [] for node in operators}
        self._arguments = arguments
        self._stopwatches: list[tuple[Node, Stopwatch]] = []

    def run_once(self) -> Any:
        """Run all nodes, add their times, and return the results of the graph."""
        self._stopwatches = []
        results = self.run(*self._arguments)
        for node, seconds in self._stopwatches:
            self.times[node].append(seconds())
        return results

    def forget(self) -> None:
        """Forget the times of all passes so far."""
        self.times = {node: [] for node in self.times}

    def run_node(self, n: Node) -> Any:
        """Run a node; measure it if it is an operator."""
        if n not in self.times or not callable(n.target):
            return super().run_node(n)
        target = n.target
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        result, seconds = self.clock.measured(lambda: target(*args, **kwargs))
        self._stopwatches.append((n, seconds))
        return result
