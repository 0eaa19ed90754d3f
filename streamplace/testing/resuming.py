"""The check that interrupted training resumes without any effect on the result."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from streamplace.errors import StreamplaceError
from streamplace.files.training_logs import CHECKPOINT
from streamplace.learning.policy.base import AnyPolicy, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import pack_policy, read_policy
from streamplace.learning.training import train
from streamplace.testing.case import SOURCE_RATE, PolicyCase, graph_of, rolled_out

GRAPHS, OPERATORS = 4, 8
CUTS = ((1, 1), (1, 3), (2, 1), (2, 2), (2, 3))
"""The number of steps between checkpoints, and the last step of an interrupted run.

The second stage begins after step 2. Runs are interrupted right after a checkpoint, one step later,
or before the first one.
"""

_TEACHERS = {"throughput": "least-utilisation", "makespan": "critical-path"}
_EPOCH = {"epochs": 1, "problems_per_step": 2}
_REFINING = [
    {"algorithm": "reinforce-steps", "evaluate_every": 0, "entropy": entropy, "samples": 2} | _EPOCH
    for entropy in (1.0, 0.1)
]
_ON_THE_CPU = {"WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "RANK": "0"}
"""The variables of torchrun for a process alone."""


class _PowerFailure(Exception):  # noqa: N818 - an event of the check, not a fault
    """The run is interrupted."""


def check_resuming(case: PolicyCase) -> None:
    """Check that a run that is interrupted and resumed ends with the same parameters.

    It runs on the CPU, because sums on a GPU are not reproducible to the last bit.
    """
    alone = patch.dict(os.environ, _ON_THE_CPU)
    without_gpu = patch.object(torch.cuda, "is_available", return_value=False)
    with TemporaryDirectory() as folder, alone, without_gpu:
        expected = _run(case, Path(folder) / "uninterrupted")
        for every, stop in CUTS:
            cut = Path(folder) / f"cut-{every}-{stop}"
            try:
                _run(case, cut, every, stop)
            except _PowerFailure:
                resumed = _run(case, cut, every, resume=(cut / CHECKPOINT).exists())
            fault = f"a run resumed after step {stop} ends with different parameters"
            case.require(resumed == expected, "resuming", fault)


def _config(case: PolicyCase, checkpoint_every: int) -> dict[str, Any]:
    """Return the config of a run of two stages, with two steps each.

    They are DAgger and REINFORCE or, for a policy that refines placements, REINFORCE per step with
    another entropy.
    """
    building = [
        {"algorithm": "dagger", "teacher": _TEACHERS[case.objective]} | _EPOCH,
        {"algorithm": "reinforce"} | _EPOCH,
    ]
    problems = {
        "devices": [f"{case.devices}x2500"],
        "source_rates": [SOURCE_RATE],
        "objective": case.objective,
    }
    return {
        "policy": {"kind": case.kind, "sizes": case.sizes},
        "problems": [problems],
        "stage": _REFINING if isinstance(case.policy(), Refiner) else building,
        "run": {"checkpoint_every": checkpoint_every, "threads": 1, "seed": case.seed},
    }


def _run(
    case: PolicyCase,
    folder: Path,
    checkpoint_every: int = 1,
    stop: int | None = None,
    *,
    resume: bool = False,
) -> str:
    """Train into a folder, perhaps until a step; return the hash of the parameters."""

    def on_step(record: Mapping[str, float]) -> None:
        if record["step"] == stop:
            raise _PowerFailure

    config = folder.with_suffix(".json")
    config.write_text(json.dumps(_config(case, checkpoint_every)))
    graphs = [graph_of(OPERATORS, number) for number in range(GRAPHS)]
    return train(graphs, str(config), folder, resume=resume, on_step=on_step).parameter_hash


def check_weights(case: PolicyCase) -> None:
    """Check that sizes have defaults, and that a weights file preserves parameters and placements.

    Reading a file first creates the policy on torch's meta device, so its constructor must run
    there.
    """
    policy = case.policy()
    try:
        policy_section({"kind": case.kind})
    except ValueError as error:
        fault = f"a size has no default: {' '.join(str(error).split())}"
        raise AssertionError(f"{case.kind}: weights: {fault}") from None
    again = _read_back(case, policy)
    read = again.state_dict()
    same = all(torch.equal(x, read[name]) for name, x in policy.state_dict().items())
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
            raise AssertionError(f"{case.kind}: weights: {fault}") from None
        try:
            return read_policy(file)[0]
        except StreamplaceError as error:
            error.update(origin="")  # a folder that is gone
            fault = (
                f"the policy's file cannot be read: {error} (the constructor must also run "
                "on torch's meta device, and sizes must be valid JSON values)"
            )
            raise AssertionError(f"{case.kind}: weights: {fault}") from None
