"""Conformance checks of policies, placers, families and objectives, built-in and user-defined.

    from streamplace.testing import CHECKS, PolicyCase

    @pytest.mark.parametrize("name", CHECKS)
    def test_conformance(name):
        CHECKS[name](PolicyCase("my-kind", {"hidden": 8}))

`checks_of` returns those for policies that refine placements (`REFINER_CHECKS`) as well.
`check_placer`, `check_family` and `check_objective` take a name or the object itself.
Every check raises an AssertionError whose message states what the policy does wrong.
"""

from collections.abc import Callable

from streamplace.learning.policy.base import Refiner
from streamplace.testing.case import PolicyCase
from streamplace.testing.constraints import check_constraints
from streamplace.testing.evaluations import check_evaluations, check_refiner_evaluations
from streamplace.testing.families import check_family
from streamplace.testing.objectives import check_objective
from streamplace.testing.placers import check_placer
from streamplace.testing.refining import (
    check_episodes,
    check_losses,
    check_refiner_batches,
    check_refiner_evaluate,
    check_steps,
)
from streamplace.testing.renaming import check_device_order, check_names, check_numbering
from streamplace.testing.resuming import check_resuming, check_weights
from streamplace.testing.sampling import (
    check_actions,
    check_batches,
    check_entropy,
    check_evaluate,
    check_probabilities,
    check_samples,
    check_sampling,
)
from streamplace.testing.training import check_gradients, check_teacher

__all__ = [
    "CHECKS",
    "REFINER_CHECKS",
    "PolicyCase",
    "check_family",
    "check_objective",
    "check_placer",
    "check_policy",
    "checks_of",
]

CHECKS: dict[str, Callable[[PolicyCase], None]] = {
    "weights": check_weights,
    "samples": check_samples,
    "actions": check_actions,
    "batches": check_batches,
    "evaluate": check_evaluate,
    "probabilities": check_probabilities,
    "entropy": check_entropy,
    "sampling": check_sampling,
    "teacher": check_teacher,
    "names": check_names,
    "numbering": check_numbering,
    "device order": check_device_order,
    "constraints": check_constraints,
    "gradients": check_gradients,
    "evaluations": check_evaluations,
    "resuming": check_resuming,
}
"""The checks of policies that build placements by name, fast ones first."""

REFINER_CHECKS: dict[str, Callable[[PolicyCase], None]] = {
    "weights": check_weights,
    "episodes": check_episodes,
    "losses": check_losses,
    "batches": check_refiner_batches,
    "evaluate": check_refiner_evaluate,
    "probabilities": check_steps,
    "names": check_names,
    "numbering": check_numbering,
    "device order": check_device_order,
    "constraints": check_constraints,
    "gradients": check_gradients,
    "evaluations": check_refiner_evaluations,
    "resuming": check_resuming,
}
"""The checks of policies that refine placements by name."""


OF_RELOCATIONS = ("probabilities", "numbering", "device order")


def checks_of(case: PolicyCase) -> dict[str, Callable[[PolicyCase], None]]:
    """Return the checks that apply to a policy by name; see `CHECKS` and `REFINER_CHECKS`.

    Checks that follow operators and devices through actions apply only if the policy `relocates`.
    """
    policy = case.policy()
    if not isinstance(policy, Refiner):
        return CHECKS
    if policy.relocates:
        return REFINER_CHECKS
    return {name: check for name, check in REFINER_CHECKS.items() if name not in OF_RELOCATIONS}


def check_policy(case: PolicyCase) -> None:
    """Run every check on a policy, which takes several seconds.

    Raises
    ------
    AssertionError
        If the policy fails a check. The message begins with the names of the policy and the check.
    """
    for check in checks_of(case).values():
        check(case)
