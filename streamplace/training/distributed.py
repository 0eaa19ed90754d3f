"""Training over several processes and machines, as `torchrun` starts them."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import distributed, nn


class Workers(AbstractContextManager["Workers"]):
    """The processes that train together; one, unless torchrun started more.

    Attributes
    ----------
    rank, count
        Which of how many this is.
    here
        How many of them run on this machine.
    device
        Where this one computes: its GPU if there is one, else the processor.
    """

    def __init__(self) -> None:
        self.rank = _rank()
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.here = int(os.environ.get("LOCAL_WORLD_SIZE", str(self.count)))
        self.device = torch.device("cpu")
        if torch.cuda.is_available():
            local = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
            self.device = torch.device("cuda", local)
            torch.cuda.set_device(self.device)
        if self.count > 1:
            distributed.init_process_group("cpu:gloo,cuda:nccl" if self.on_gpu else "gloo")

    @property
    def on_gpu(self) -> bool:
        """Whether this process has a GPU."""
        return self.device.type == "cuda"

    @property
    def is_rank_zero(self) -> bool:
        """Whether this is the process that writes files."""
        return is_rank_zero()

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
    """Return whether this is the process that speaks and writes files."""
    return _rank() == 0


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def share(numbers: Iterable[int], workers: Workers) -> list[int]:
    """Return the numbers that are this process's own: the same many in every process."""
    every = list(numbers)
    each = len(every) // workers.count
    return every[workers.rank :: workers.count][:each]
