"""Training with several processes, on one or several machines, started by `torchrun`."""

import logging
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import distributed, nn

from streamplace.learning.policy.base import AnyPolicy

CPU = torch.device("cpu")
_log = logging.getLogger(__name__)


class Workers(AbstractContextManager["Workers"]):
    """The processes that train one policy together.

    Attributes
    ----------
    rank
        Number of this process, from 0.
    count
        Number of processes.
    local_count
        Number of processes on this machine.
    device
        Torch device on which this process computes, except with policies that need the CPU.
    """

    def __init__(
        self, rank: int = 0, count: int = 1, local_count: int = 1, device: torch.device = CPU
    ) -> None:
        self.rank, self.count, self.local_count, self.device = rank, count, local_count, device

    @classmethod
    def of_torchrun(cls) -> "Workers":
        """Return the processes that torchrun started, or the current process alone.

        Each process computes on a GPU of its own if there are enough, otherwise on the CPU.
        """
        count = int(os.environ.get("WORLD_SIZE", "1"))
        local_count = int(os.environ.get("LOCAL_WORLD_SIZE", str(count)))
        device = CPU
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if gpus >= local_count:
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        elif gpus and is_rank_zero():  # NCCL refuses processes that share a GPU
            _log.warning("training on the CPU: %d processes have %d GPU(s)", local_count, gpus)
        if count > 1:
            distributed.init_process_group("cpu:gloo,cuda:nccl" if device != CPU else "gloo")
        return cls(_rank(), count, local_count, device)

    def move(self, policy: AnyPolicy) -> None:
        """Move a policy to the device of this process, if the policy can compute there."""
        if not policy.gpu:
            return
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        policy.to(self.device)

    @property
    def is_rank_zero(self) -> bool:
        """Whether this process is the one that prints and writes files."""
        return self.rank == 0

    def mean_gradients(self, network: nn.Module) -> None:
        """Replace every gradient by its mean over the processes."""
        if self.count == 1:
            return
        for parameter in network.parameters():
            if parameter.grad is None:  # this process had nothing to learn from
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in network.parameters() if p.grad is not None]
        flat = torch.cat([g.reshape(-1) for g in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        offset = 0
        for gradient in gradients:
            gradient.copy_(flat[offset : offset + gradient.numel()].view_as(gradient))
            offset += gradient.numel()

    def gathered(self, value: Any) -> list[Any]:
        """Return the values of all processes, by rank; every process must call it."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        distributed.all_gather_object(values, value)
        return values

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process; every process must call it."""
        return any(self.gathered(flag))

    def __exit__(self, *error: object) -> None:
        if self.count > 1:
            distributed.destroy_process_group()


def is_rank_zero() -> bool:
    """Return whether this process is the one that prints and writes files."""
    return _rank() == 0


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def share(numbers: Iterable[int], workers: Workers) -> list[int]:
    """Return this process's share of the numbers; all processes get equally many."""
    every = list(numbers)
    each = len(every) // workers.count
    return every[workers.rank :: workers.count][:each]
