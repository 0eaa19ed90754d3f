"""The check that a policy does not change when it is written to a file and read again."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from streamplace.errors import StreamplaceError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.policy.registry import policy_kind
from streamplace.policy.weights import pack_policy, parameter_hash, read_policy
from streamplace.testing.case import PolicyCase, rolled_out


def check_weights(case: PolicyCase) -> None:
    """Check that sizes have defaults, and that a weights file preserves parameters and placements.

    Reading a file first creates the policy on torch's meta device, so its constructor must run
    there.
    """
    try:
        policy_kind(case.kind).sizes()
    except ValueError as error:
        fault = f"a size has no default: {' '.join(str(error).split())}"
        raise AssertionError(f"{case.kind}: weights: {fault}") from None
    policy = case.policy()
    again = _read_back(case, policy)
    same = parameter_hash(policy) == parameter_hash(again)
    case.require(same, "weights", "the parameters that are read differ from those written")
    problems = case.problems()
    with torch.no_grad():
        before, after = (
            rolled_out(one, problems, 1, Sampler()).placements for one in (policy, again)
        )
    fault = "the policy that is read places differently: it depends on more than its parameters"
    case.require(np.array_equal(before, after), "weights", fault)


def _read_back(case: PolicyCase, policy: AnyPolicy) -> AnyPolicy:
    """Write a policy to a file and read it again."""
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
                f"the policy's file cannot be read: {reason} (the constructor must also run "
                "on torch's meta device, and sizes must be valid JSON values)"
            )
            raise AssertionError(f"{case.kind}: weights: {fault}") from error
