"""The check that a policy comes back from a file of weights as it was."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from streamplace.policy.decoding import Sampler
from streamplace.policy.registry import policy_kind
from streamplace.policy.weights import pack_policy, parameter_hash, read_policy
from streamplace.testing.case import PolicyCase, batch_of


def check_weights(case: PolicyCase) -> None:
    """Check that sizes have defaults, and that parameters and placements survive a file."""
    try:
        policy_kind(case.kind).sizes()
    except ValueError as error:
        fault = f"a size has no default: {' '.join(str(error).split())}"
        raise AssertionError(f"{case.kind}: weights: {fault}") from None
    policy = case.policy()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(pack_policy(policy, case.section, {}))
        again, _ = read_policy(file)
    same = parameter_hash(policy) == parameter_hash(again)
    case.require(same, "weights", "the parameters that are read are not those written")
    problems = case.problems()
    with torch.no_grad():
        before, after = (
            one.rollout(batch_of(one, *problems), 1, Sampler()).placements
            for one in (policy, again)
        )
    fault = "the policy that is read places otherwise: something beside parameters decides"
    case.require(np.array_equal(before, after), "weights", fault)
