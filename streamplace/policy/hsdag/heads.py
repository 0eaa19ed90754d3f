"""Heads: how the vectors of groups become devices."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.policy.decoding import UNAVAILABLE
from streamplace.policy.hsdag.kernels.loads import LOADS, Draws, Layers, Single, place_groups
from streamplace.policy.hsdag.offers import Offer
from streamplace.util.arrays import Ints

NO_LOADS: Single = np.zeros((0, 0, 0), np.float32)


class Head(nn.Module, ABC):
    """A head of the policy."""

    @abstractmethod
    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group, without gradients, and return what was read of devices.

        Parameters
        ----------
        vectors
            (G, d) the vectors of the groups.
        chosen
            (G,) devices; where they are below 0 on entry, the head chooses.
        """

    @abstractmethod
    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices, (N, D), of N decisions.

        Parameters
        ----------
        vectors
            (N, d) the vectors of the groups.
        loads
            (N, D, L) what `decide` returned.
        """


class Independent(Head):
    """The head of the paper: a hidden layer, and an output for each device."""

    def __init__(self, features: int, hidden: int, devices: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, devices)
        )

    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group; see `Head.decide`."""
        logits = self.layers(vectors).numpy()
        noisy = logits if draws.greedy else logits / draws.temperature + draws.noise
        noisy = np.where(draws.explores[:, None], draws.noise, noisy)
        likeliest = np.where(offer.allowed, noisy, UNAVAILABLE).argmax(axis=1)
        np.copyto(chosen, likeliest, where=chosen < 0, casting="unsafe")
        return NO_LOADS

    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices; see `Head.logits`."""
        made: Tensor = self.layers(vectors)
        return made


class Loaded(Head):
    """A head for any number of devices, which places the heaviest groups first and reads loads.

    The logit of a device is w · relu(A g + B x + b), where g is the vector of the group and x are
    the loads of the device so far, see `kernels.loads.place_groups`.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.of_group = nn.Linear(features, hidden)
        self.of_loads = nn.Linear(LOADS, hidden, bias=False)
        self.outward = nn.Linear(hidden, 1, bias=False)

    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group; see `Head.decide`."""
        layers = Layers(
            self.of_group(vectors).numpy(),
            np.ascontiguousarray(self.of_loads.weight.detach().numpy().T),
            self.outward.weight.detach().numpy()[0],
        )
        read = np.zeros((*offer.cost.shape, LOADS), np.float32)
        place_groups(offer.groups, layers, draws, chosen, read)
        return read

    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices; see `Head.logits`."""
        hidden = torch.relu(self.of_group(vectors).unsqueeze(1) + self.of_loads(loads))
        made: Tensor = self.outward(hidden).squeeze(2)
        return made
