"""The registry of networks, and their protocol."""

from collections.abc import Sequence
from typing import Protocol, cast

from torch import nn

from streamplace.policy.batch import Batch
from streamplace.policy.config import DeviceScorerKind, EncoderDecoderKind
from streamplace.policy.decoding import Sampler
from streamplace.policy.device_scorer.network import DeviceScorer
from streamplace.policy.rollout import Rollout
from streamplace.util.arrays import Ints


class ConstructivePolicy(Protocol):
    """A network that places batches of problems.

    Attributes
    ----------
    breaks_symmetry
        Whether it is offered only the first of equal devices that run nothing.
    orders
        Decoding orders that samples take in turn, see `Prepared`.
    """

    breaks_symmetry: bool
    orders: Sequence[int]

    def sample(self, batch: Batch, samples: int, choose: Sampler) -> Ints:
        """Place every problem `samples` times; return (P, S, V), see `Rollout`."""
        ...

    def beam(self, batch: Batch, width: int) -> Ints:
        """Return the likeliest placements of one problem that a beam search finds, (width, V)."""
        ...

    def rollout(
        self, batch: Batch, samples: int, choose: Sampler, forced: Ints | None = None
    ) -> Rollout:
        """Place every problem `samples` times, taking forced devices, (P, S, V), where >= 0."""
        ...


class Network(nn.Module, ConstructivePolicy):
    """What the type checker calls a module that decodes."""


def make_network(kind: DeviceScorerKind | EncoderDecoderKind) -> Network:
    """Build a network with random weights."""
    if isinstance(kind, DeviceScorerKind):
        return cast("Network", DeviceScorer(kind.sizes))
    from streamplace.policy.ni2020.network import EncoderDecoder  # noqa: PLC0415 - torch-geometric is slow to load

    return cast("Network", EncoderDecoder(kind.sizes))
