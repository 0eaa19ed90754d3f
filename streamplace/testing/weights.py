"""The check that a policy comes back from a file of weights as it was."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from streamplace.errors import StreamplaceError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.policy.registry import policy_kind
from streamplace.policy.weights import pack_policy, parameter_hash, read_policy
from streamplace.testing.case import PolicyCase, batch_of


def check_weights(case: PolicyCase) -> None:
    """Check that sizes have defaults, and that parameters and placements survive a file.

    A file is read with the policy on torch's meta device first, so its constructor must run there.
    """
    try:
        policy_kind(case.kind).sizes()
    except ValueError as error:
        fault = f"a size has no default: {' '.join(str(error).split())}"
        raise AssertionError(f"{case.kind}: weights: {fault}") from None
    policy = case.policy()
    again = _read_back(case, policy)
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


def _read_back(case: PolicyCase, policy: AnyPolicy) -> AnyPolicy:
    """Return a policy that was written to a file and read again."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        try:
            file.write_bytes(pack_policy(policy, case.section, {}))
        except (StreamplaceError, ValueError) as error:
            fault = f"the policy cannot be written to a file: {' '.join(str(error).split())}"
            raise AssertionError(f"{case.kind}: weights: {fault}") from error
        try:
            return read_policy(file)[0]
        except StreamplaceError as error:
            reason = " ".join(str(error).replace(f"{file}: ", "").split())
            fault = (
                f"the file of the policy cannot be read: {reason} (the constructor must also run "
                "on torch's meta device, and sizes must survive JSON)"
            )
            raise AssertionError(f"{case.kind}: weights: {fault}") from error
