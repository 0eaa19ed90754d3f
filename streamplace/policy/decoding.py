"""Decoding: the choice of devices from logits."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Sampler:
    """How devices are chosen.

    Parameters
    ----------
    generator
        The source of chance; None: the likeliest device.
    temperature
        Of sampling: logits are divided by it.
    first_is_likeliest
        Whether the first sample of every problem takes the likeliest device.
    """

    generator: torch.Generator | None = None
    temperature: float = 1.0
    first_is_likeliest: bool = False

    def __call__(self, logits: Tensor, samples: int) -> Tensor:
        """Choose a device a row from logits, (R, D), `samples` rows a problem; return (R,)."""
        if self.generator is None:
            return logits.argmax(dim=1)
        drawn = torch.rand(logits.shape, generator=self.generator, device=self.generator.device)
        gumbel = -torch.log(-torch.log(drawn.to(logits.device).clamp_(1e-30, 1 - 1e-7)))
        if self.first_is_likeliest:
            gumbel[::samples] = 0.0
        return (logits / self.temperature + gumbel).argmax(dim=1)
