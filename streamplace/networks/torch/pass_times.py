"""Times of whole passes of a module that run by placements."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import torch

from streamplace.errors import UsageError
from streamplace.networks.torch.loading import InputSpec, load_module
from streamplace.networks.torch.measuring import WARM_UP, torch_threads
from streamplace.networks.torch.placed import PlacedModule
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints


class PassTimes:
    """The seconds that one pass of a PyTorch module takes by each placement.

    It measures running times for `streamplace train --measure` and `sp.train`. Each placement first
    makes two passes that do not count. Then the placements take turns, so that a disturbance meets
    them alike, and the time of a placement is the median of its passes. A pass ends when all its
    devices have finished. Passes run as those of `PlacedModule`, without gradients.

    Parameters
    ----------
    module, example_inputs
        See `from_module`.
    devices
        Device of the cluster -> device of PyTorch, such as ``cuda:0``; None: the devices of the
        cluster have the names of PyTorch's.
    repeats
        Passes of each placement that count.
    threads
        Threads that an operator uses on the CPU.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Sequence[Any],
        devices: Mapping[str, str] | None = None,
        *,
        repeats: int = 10,
        threads: int = 1,
    ) -> None:
        for name, count in (("repeats", repeats), ("threads", threads)):
            if count < 1:
                raise UsageError(f"{name}: must be at least 1 (got {count})")
        self._module, self._inputs = module, tuple(example_inputs)
        self._devices, self._repeats, self._threads = devices, repeats, threads
        self._placed: PlacedModule | None = None

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the seconds of each of K placements, (K,), from device indices, (K, V).

        Raises
        ------
        GraphError
            See `PlacedModule`.
        UsageError
            If PyTorch cannot use a device of the cluster.
        """
        names = [device.name for device in problem.cluster.devices]
        devices = dict(zip(names, names, strict=True)) if self._devices is None else self._devices
        assignments = [
            {operator: names[d] for operator, d in zip(problem.graph.names, row, strict=True)}
            for row in placements
        ]
        times: list[list[float]] = [[] for _ in assignments]
        with torch_threads(self._threads), torch.no_grad():
            for number in range(WARM_UP + self._repeats):
                for assignment, of_placement in zip(assignments, times, strict=True):
                    placed = self._by(assignment, devices)
                    seconds = self._seconds(placed)
                    if number >= WARM_UP:
                        of_placement.append(seconds)
        return np.array([np.median(each) for each in times])

    def _by(self, assignment: Mapping[str, str], devices: Mapping[str, str]) -> PlacedModule:
        """Return the module by a placement; it is exported once."""
        if self._placed is None:
            self._placed = PlacedModule(self._module, self._inputs, assignment, devices)
        else:
            self._placed.place(assignment, devices)
        return self._placed

    def _seconds(self, placed: PlacedModule) -> float:
        _wait(placed)
        begin = perf_counter()
        placed(*self._inputs)
        _wait(placed)
        return perf_counter() - begin


class ModuleTimes(PassTimes):
    """The times of passes of a module that a text names, for `streamplace train --measure`.

    Its options are written after its name, such as
    ``…:ModuleTimes:module=block.Block:inputs=1x128x256:devices=cpu+cuda/0``.

    Parameters
    ----------
    module
        ``module.Class`` or ``module.function``; see `load_module`, which has a colon there.
    inputs
        Shapes of the inputs, separated by ``+``; a type follows a slash, as in ``1x128/int64``.
        Without them, those that the function returns.
    devices
        PyTorch's devices for the devices of the cluster, in their order, separated by ``+``, with a
        slash for the colon; without them, these have PyTorch's names.
    repeats, threads
        See `PassTimes`.
    """

    def __init__(
        self, module: str, inputs: str = "", devices: str = "", repeats: int = 10, threads: int = 1
    ) -> None:
        specs = [InputSpec.parse(each) for each in _items_of(inputs)]
        found, tensors = load_module(":".join(module.rsplit(".", 1)), specs)
        super().__init__(found, tensors, repeats=repeats, threads=threads)
        self._in_order = _items_of(devices)

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the seconds of each placement, (K,); see `PassTimes`.

        Raises
        ------
        UsageError
            If the cluster has another number of devices.
        """
        names = [device.name for device in problem.cluster.devices]
        if self._in_order:
            if len(names) != len(self._in_order):
                counts = f"{len(self._in_order)} are named, and the cluster has {len(names)}"
                raise UsageError(f"devices: {counts}; name one for each")
            self._devices = dict(zip(names, self._in_order, strict=True))
        return super().__call__(problem, placements)


def _items_of(text: str) -> list[str]:
    """Return the items of an option, in which a slash stands for a colon."""
    return text.replace("/", ":").split("+") if text else []


def _wait(placed: PlacedModule) -> None:
    """Wait until the GPUs of a placement have finished."""
    for device in placed.devices:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
