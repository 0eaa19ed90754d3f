"""New policies with random parameters."""

import torch

from streamplace.policy.base import AnyPolicy
from streamplace.policy.registry import PolicySection, make_policy


def new_policy(section: PolicySection, seed: int) -> AnyPolicy:
    """Return a policy with random parameters from a seed, without changing torch's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_policy(section)
