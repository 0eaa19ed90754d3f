"""All targets by kind and name."""

from tests.hardening import readers, wrappers, writers
from tests.hardening.target import Target

TARGETS: dict[str, Target] = {
    f"{kind} {name}": target
    for kind, targets in (
        ("reader", readers.TARGETS),
        ("writer", writers.TARGETS),
        ("wrapper", wrappers.TARGETS),
    )
    for name, target in targets.items()
}
"""Such as ``reader dot`` -> the target."""
