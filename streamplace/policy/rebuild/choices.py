"""What the policy decides in a step: which part of the placement to build anew, and by which rule.

Each head is one decision among a few values. Some parts make other heads irrelevant.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

PARTS = ("window", "near", "heavy", "own", "all", "moved")
"""The operators that are placed anew: those that run at about the same time as one of them, those
near it in the graph, those reached over its heaviest streams, the same on its own device only, or
all; `moved` moves the last but one kind together to one device."""

HEADS: Mapping[str, Sequence[float]] = {
    "part": range(len(PARTS)),
    "size": (0.2, 0.35, 0.5, 0.65, 0.8),  # exponent of the number of operators
    "critical": (0, 1),  # whether the part begins with an operator of the critical path
    "received": (0.0, 0.3, 1.0, 3.0),  # weight of messages that an operator receives
    "sent": (0.0, 0.3, 1.0, 3.0),  # weight of its messages to the present devices of consumers
    "ahead": (0, 1),  # weight of PEFT's optimistic costs
    "noise": (0.0, 0.2, 1.0, 4.0),  # scale of random seconds, in mean seconds per operator
    "present": (0, 1),  # whether operators are taken by their present starts, not by rank
}
"""The heads and their values."""

COUNTS = [len(values) for values in HEADS.values()]
NAMES = list(HEADS)


class Choice(NamedTuple):
    """The values of all heads in a step, by the names of `HEADS`."""

    part: str
    size: float
    critical: bool
    received: float
    sent: float
    ahead: float
    noise: float
    present: bool


def choice_of(numbers: Sequence[int]) -> Choice:
    """Return the values of the heads from the numbers of their values, (H,)."""
    part, size, critical, received, sent, ahead, noise, present = (
        values[number] for values, number in zip(HEADS.values(), numbers, strict=True)
    )
    return Choice(
        PARTS[int(part)],
        size,
        bool(critical),
        received,
        sent,
        ahead,
        noise,
        bool(present),
    )


def _relevant() -> np.ndarray:
    """Return whether each head matters, (parts, H)."""
    table = np.ones((len(PARTS), len(HEADS)), dtype=bool)
    of_rule = [name in ("received", "sent", "ahead", "noise", "present") for name in NAMES]
    of_part = [name in ("size", "critical") for name in NAMES]
    table[PARTS.index("moved"), of_rule] = False
    table[PARTS.index("all"), of_part] = False
    return table


RELEVANT = _relevant()
"""Whether a head matters, (parts, H) bool."""
