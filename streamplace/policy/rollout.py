"""What comes of decoding a batch: placements, and how likely they were."""

from dataclasses import dataclass

import torch
from torch import Tensor

from streamplace.arrays import Ints


@dataclass(frozen=True)
class Rollout:
    """S placements of each of P problems.

    Attributes
    ----------
    placements
        (P, S, V) device of each operator, by its number; -1 beyond the problem's size.
    log_probability
        (P, S) of the whole placement; differentiable where gradients are on.
    entropy
        (P, S) mean over the decisions, in nats.
    """

    placements: Ints
    log_probability: Tensor
    entropy: Tensor


@dataclass
class Choice:
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
