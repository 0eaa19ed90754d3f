"""Checks that placements respect constraints."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.weights import pack_policy
from streamplace.placers.registry import make_placer
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, generator, rolled_out

SAMPLES = 3


def check_constraints(case: PolicyCase) -> None:
    """Check the devices of samples, and the placements of the placer `policy:file=…`.

    Samples must respect pins and allowed devices, unless the case is `repaired`. Colocation and
    exlocation may be left to the placer's repair.
    """
    policy = case.policy()
    if not case.repaired:
        for problem in _problems_with_devices(case):
            _check_samples(case, policy, problem)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(pack_policy(policy, case.section, {}))
        placer = make_placer(f"policy:samples={SAMPLES}:file={file}")
        for problem in (*_problems_with_devices(case), *_problems_with_groups(case)):
            placed = placer(problem, np.random.default_rng(0))
            broken = problem.feasibility.violation(placed.devices)
            fault = f"a placement violates a constraint: {broken}"
            case.require(broken is None, "constraints", fault)


def _check_samples(case: PolicyCase, policy: AnyPolicy, problem: Problem) -> None:
    """Require samples to use allowed devices before any repair."""
    feasibility, names = problem.feasibility, problem.graph.names
    with torch.no_grad():
        rows = rolled_out(policy, [problem], SAMPLES, Sampler(generator())).placements[0]
    for sample, operator in np.argwhere(~feasibility.allowed[feasibility.unit_of, rows]).tolist():
        device = problem.cluster.names[rows[sample, operator]]
        fault = (
            f"a sample places operator {names[operator]!r} on device {device!r}, which its "
            "constraints forbid; if repair handles them, set PolicyCase(repaired=True)"
        )
        raise AssertionError(f"{case.kind}: constraints: {fault}")


def _problems_with_devices(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with a pin or with allowed devices."""
    for problem in case.problems():
        names, devices = problem.graph.names, problem.cluster.names
        yield problem.with_constraints(Constraints(pins={names[0]: devices[-1]}))
        few = dict.fromkeys(names[1:4], devices[:1])
        yield problem.with_constraints(Constraints(allowed=few))


def _problems_with_groups(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with a colocated or an exlocated group."""
    for problem in case.problems():
        names, devices = problem.graph.names, problem.cluster.names
        yield problem.with_constraints(Constraints(colocate=[names[:3]]))
        apart = names[: min(3, len(devices))]
        yield problem.with_constraints(Constraints(exlocate=[apart]))
