"""Values of ``[[stage]]`` tables, small policies and problems, and training loops over them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch

from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace import Cluster, Problem
from streamplace.learning.policy.base import AnyPolicy, Constructive
from streamplace.learning.policy.registry import make_policy
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.learner import Learner
from streamplace.learning.training.loop import Loop
from streamplace.learning.training.problems import encoded_by
from streamplace.learning.training.stages import Stage

Value = dict[str, Any]
KINDS = ("device-scorer", "encoder-decoder")


def imitation(**keys: Any) -> Value:
    """Return a stage that imitates greedy placements."""
    return {"algorithm": "imitation", "epochs": 1, "teacher": "greedy"} | _TWO | keys


def dagger(**keys: Any) -> Value:
    """Return a stage that imitates an expert in the policy's own states."""
    return {"algorithm": "dagger", "epochs": 1, "samples": 2} | _TWO | keys


def reinforce(**keys: Any) -> Value:
    """Return a REINFORCE stage with a memory that accepts every placement."""
    memory = {"size": 2, "threshold": 0.0, "samples": 1}
    return {"algorithm": "reinforce", "epochs": 1, "memory": memory} | _TWO | keys


def replay(**keys: Any) -> Value:
    """Return a stage of REINFORCE with replayed placements."""
    few = {"samples": 3, "random_samples": 2, "replayed": 2}
    return {"algorithm": "reinforce-replay", "epochs": 1} | few | _TWO | keys


_TWO: Value = {"problems_per_step": 2}


def stages_of(*values: Value) -> list[Stage]:
    """Return checked stages."""
    return [Stage.of(value) for value in values]


@cache
def small_problems() -> list[Problem]:
    """Return six problems of 4 to 7 operators on three unequal devices."""
    cluster = Cluster.parse("1x4000,1x2500,1x1500")
    return [Problem(graph, cluster, source_rate=1e4) for graph in graphs()]


def small_policy(kind: str = "device-scorer", seed: int = 0) -> Constructive[Any, Any]:
    """Return a tiny policy with random parameters, the same at every call."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Constructive.of(make_policy(config(of_kind(kind)).policy))


def loop_of(
    values: Sequence[Value],
    policy: AnyPolicy | None = None,
    problems: Sequence[Problem] | None = None,
    seed: int = 0,
) -> Loop:
    """Return a loop over stages, before its first step."""
    policy = small_policy() if policy is None else policy
    encoded = encoded_by(policy, small_problems() if problems is None else problems)
    own = np.arange(len(encoded), dtype=np.int32)
    return Loop(Learner(policy, encoded, own, seed, Workers(), jobs=1), stages_of(*values))
