"""The check that interrupted training resumes without any effect on the result."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unittest.mock import patch

import numpy as np
import torch

from streamplace.errors import StreamplaceError
from streamplace.files.training_logs import CHECKPOINT
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_kind
from streamplace.learning.policy.weights import pack_policy, parameter_hash, read_policy
from streamplace.learning.training.algorithms.base import Record
from streamplace.learning.training.config import ProblemsSection, RunSection, TrainConfig
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Trained
from streamplace.learning.training.stages import DaggerStage, ReinforceStage, StepReinforceStage
from streamplace.learning.training.trainer import train
from streamplace.testing.case import SOURCE_RATE, PolicyCase, graph_of, rolled_out

GRAPHS, OPERATORS = 4, 8
CUTS = ((1, 1), (1, 3), (2, 1), (2, 2), (2, 3))
"""The number of steps between checkpoints, and the last step of an interrupted run.

The second stage begins after step 2. Runs are interrupted right after a checkpoint, one step later,
or before the first one.
"""

_TEACHERS: dict[str, Literal["least-utilisation", "critical-path"]] = {
    "throughput": "least-utilisation",
    "makespan": "critical-path",
}

_REFINING = tuple(
    StepReinforceStage(
        algorithm="reinforce-steps",
        epochs=1,
        problems_per_step=2,
        evaluate_every=0,
        entropy=entropy,
        samples=2,
    )
    for entropy in (1.0, 0.1)
)


class _PowerFailure(Exception):  # noqa: N818 - an event of the check, not a fault
    """The run is interrupted."""


def check_resuming(case: PolicyCase) -> None:
    """Check that a run that is interrupted and resumed ends with the same parameters.

    It runs on the CPU, because sums on a GPU are not reproducible to the last bit.
    """
    with TemporaryDirectory() as folder, patch.object(Workers, "of_torchrun", Workers):
        expected = _run(_config(case), Path(folder) / "uninterrupted").parameter_hash
        for every, stop in CUTS:
            config, cut = _config(case, every), Path(folder) / f"cut-{every}-{stop}"
            try:
                _run(config, cut, stop)
            except _PowerFailure:
                resume = (cut / CHECKPOINT).exists()
                resumed = _run(config, cut, resume=resume).parameter_hash
            fault = f"a run resumed after step {stop} ends with different parameters"
            case.require(resumed == expected, "resuming", fault)


def _building(case: PolicyCase) -> tuple[DaggerStage, ReinforceStage]:
    """Return the stages of policies that build placements."""
    teacher = _TEACHERS[case.objective]
    return (
        DaggerStage(algorithm="dagger", epochs=1, problems_per_step=2, teacher=teacher),
        ReinforceStage(algorithm="reinforce", epochs=1, problems_per_step=2),
    )


def _config(case: PolicyCase, checkpoint_every: int = 1) -> TrainConfig:
    """Return the config of a run of two stages, with two steps each.

    They are DAgger and REINFORCE or, for a policy that refines placements, REINFORCE per step with
    another entropy.
    """
    devices = f"{case.devices}x2500"
    return TrainConfig(
        policy=case.section,
        problems=[
            ProblemsSection(devices=[devices], source_rates=[SOURCE_RATE], objective=case.objective)
        ],
        stage=[*(_REFINING if policy_kind(case.kind).refines else _building(case))],
        run=RunSection(checkpoint_every=checkpoint_every, threads=1, seed=case.seed),
    )


def _run(
    config: TrainConfig, folder: Path, stop: int | None = None, *, resume: bool = False
) -> Trained:
    def on_step(record: Record) -> None:
        if record["step"] == stop:
            raise _PowerFailure

    graphs = [graph_of(OPERATORS, number) for number in range(GRAPHS)]
    return train(graphs, config, folder, resume=resume, on_step=on_step)


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
            error.update(origin="")  # a folder that is gone
            fault = (
                f"the policy's file cannot be read: {error} (the constructor must also run "
                "on torch's meta device, and sizes must be valid JSON values)"
            )
            raise AssertionError(f"{case.kind}: weights: {fault}") from error
