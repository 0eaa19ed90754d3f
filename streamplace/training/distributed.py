"""Training over several processes and machines, as `torchrun` starts them."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import distributed, nn

CPU = torch.device("cpu")


class Workers(AbstractContextManager["Workers"]):
    """The processes that train one policy together.

    Attributes
    ----------
    rank, count
        The number of this process, and the number of all.
    here
        The number of processes on this machine.
    device
        Where this process computes.
    """

    def __init__(
        self, rank: int = 0, count: int = 1, here: int = 1, device: torch.device = CPU
    ) -> None:
        self.rank, self.count, self.here, self.device = rank, count, here, device

    @classmethod
    def of_torchrun(cls) -> "Workers":
        """Return the processes that torchrun started, or this one alone.

        Each computes on its GPU if there is one, else on the CPU.
        """
        count = int(os.environ.get("WORLD_SIZE", "1"))
        here = int(os.environ.get("LOCAL_WORLD_SIZE", str(count)))
        device = CPU
        if torch.cuda.is_available():
            local = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
            device = torch.device("cuda", local)
            torch.cuda.set_device(device)
        if count > 1:
            distributed.init_process_group("cpu:gloo,cuda:nccl" if device != CPU else "gloo")
        return cls(_rank(), count, here, device)

    @property
    def is_rank_zero(self) -> bool:
        """Whether this is the process that writes files."""
        return self.rank == 0

    def mean_gradients(self, network: nn.Module) -> None:
        """Replace every gradient by its mean over the processes."""
        if self.count == 1:
            return
        for parameter in network.parameters():
            if parameter.grad is None:  # where this process had nothing to learn
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in network.parameters() if p.grad is not None]
        flat = torch.cat([g.reshape(-1) for g in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient))
            at += gradient.numel()

    def gathered(self, value: Any) -> list[Any]:
        """Return the values of all processes, in every process."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        distributed.all_gather_object(values, value)
        return values

    def any(self, flag: bool) -> bool:
        """Return whether the flag is up in any process."""
        return any(self.gathered(flag))

    def __exit__(self, *error: object) -> None:
        if self.count > 1:
            distributed.destroy_process_group()


def is_rank_zero() -> bool:
    """Return whether this is the process that prints and writes files."""
    return _rank() == 0


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def share(numbers: Iterable[int], workers: Workers) -> list[int]:
    """Return the numbers that are this process's own: the same many in every process."""
    every = list(numbers)
    each = len(every) // workers.count
    return every[workers.rank :: workers.count][:each]
