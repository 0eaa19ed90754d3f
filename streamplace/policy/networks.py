"""Networks by name, and what all of them offer."""

from dataclasses import asdict
from typing import Any, Protocol, TypeAlias, cast

from torch import nn

from streamplace.arrays import Ints
from streamplace.policy.batch import Batch
from streamplace.policy.device_scorer import DeviceScorer, DeviceScorerConfig
from streamplace.policy.rollout import Choice, Rollout

DEVICE_SCORER, ENCODER_DECODER = "device-scorer", "encoder-decoder"
KINDS = (DEVICE_SCORER, ENCODER_DECODER)


class Decodes(Protocol):
    """A network that places batches of problems.

    Attributes
    ----------
    breaks_symmetry
        Whether it is offered only the first of equal devices that run nothing.
    """

    breaks_symmetry: bool

    def sample(self, batch: Batch, samples: int, choose: Choice) -> Ints:
        """Place every problem `samples` times; return (P, S, V), see `Rollout`."""
        ...

    def beam(self, batch: Batch, width: int) -> Ints:
        """Return the likeliest placements of one problem that a beam search finds, (width, V)."""
        ...

    def rollout(
        self, batch: Batch, samples: int, choose: Choice, forced: Ints | None = None
    ) -> Rollout:
        """Place every problem `samples` times, taking forced devices, (P, S, V), where >= 0."""
        ...


class Network(nn.Module, Decodes):
    """What the type checker calls a module that decodes."""


Sizes: TypeAlias = dict[str, Any]


def make_network(kind: str, sizes: Sizes) -> Network:
    """Build a network with random weights.

    Raises
    ------
    ValueError
        On an unknown kind, size, or a size of the wrong type.
    """
    if kind == DEVICE_SCORER:
        return cast("Network", DeviceScorer(DeviceScorerConfig(**sizes)))
    if kind == ENCODER_DECODER:
        from streamplace.policy.paper import (  # noqa: PLC0415 - torch-geometric is slow to load
            EncoderDecoder,
            PaperConfig,
        )

        return cast("Network", EncoderDecoder(PaperConfig(**sizes)))
    raise ValueError(f"no network is called {kind!r}; there are {', '.join(KINDS)}")


def sizes_of(network: nn.Module) -> Sizes:
    """Return the sizes that build a network like this one."""
    return asdict(network.config)  # type: ignore[call-overload,no-any-return]
