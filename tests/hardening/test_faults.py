"""Seeded faults of readers, writers and wrappers: each target finds the one in its code."""

import pytest

from tests.hardening.every_target import TARGETS
from tests.hardening.faults import FAULTS, Fault
from tests.hardening.target import Target

EXAMPLES = 3000
"""The most that a target may need."""


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.target}: {fault.what}")
def test_a_fault_is_found(fault: Fault) -> None:
    target = TARGETS[fault.target]
    list(target.seeds())  # made before the fault
    with fault.made():
        assert finds_a_fault(target)


def finds_a_fault(target: Target) -> bool:
    """Return whether the target raises an error, which each fault does in its own way."""
    try:
        target.run(EXAMPLES, shrinks=False)
    except Exception:
        return True
    return False
