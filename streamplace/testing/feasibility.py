"""The check that placements made by a policy obey constraints."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from streamplace.policy.placer import PolicyPlacer
from streamplace.policy.weights import pack_policy
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase

SAMPLES = 3


def check_constraints(case: PolicyCase) -> None:
    """Check pins, groups together and apart, and allowed devices, by the placer `policy:file=…`.

    The placer repairs what a policy leaves undone; a policy need not know constraints itself.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(pack_policy(case.policy(), case.section, {}))
        placer = PolicyPlacer(samples=SAMPLES, file=str(file))
        for problem in _constrained(case):
            placed = placer(problem, np.random.default_rng(0))
            broken = problem.feasibility.violation(placed.devices)
            case.require(broken is None, "constraints", f"a placement breaks a rule: {broken}")


def _constrained(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with constraints of every kind."""
    for problem in case.problems():
        names, devices = problem.graph.names, problem.cluster.names
        for constraints in (
            Constraints(pins={names[0]: devices[-1]}),
            Constraints(colocate=[names[:3]]),
            Constraints(exlocate=[names[: min(3, len(devices))]]),
            Constraints(allowed=dict.fromkeys(names[1:4], devices[:1])),
        ):
            yield problem.with_constraints(constraints)
