"""Small RNN placers, and problems of GiPH for them."""

from typing import Any

import torch

import streamplace as sp
from streamplace.families import Recipe
from streamplace.policy.config import RnnSizes
from streamplace.policy.rnn import Rnn


def giph_problem(number: int = 0, v: int = 10, devices: int = 6) -> sp.Problem:
    """Return a task graph of GiPH on its own network, with hardware types as labels."""
    recipe = Recipe(f"giph-code:v={v}:alpha=0.3:devices={devices}", 10, seed=3)
    return sp.Problem(recipe.graph(number), recipe.cluster(number), objective=sp.Makespan())


def rnn(seed: int = 0, **sizes: Any) -> Rnn:
    """Return a small network with random parameters, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = Rnn(RnnSizes(**{"hidden": 8, "devices": 6, **sizes}))
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.normal_(0.0, 0.6)
    return policy.eval()
