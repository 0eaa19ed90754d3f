"""Limits on what a placer spends on a problem, as options of its name: time, or evaluations."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, ClassVar

from streamplace.errors import UsageError
from streamplace.util.checks import check_int, check_number, plain_number


@dataclass(frozen=True)
class PlacerLimit:
    """A limit on the work for each problem.

    Attributes
    ----------
    what
        What it limits, in words.
    parameters
        The options of placers that set it; the first one that a placer has counts.
    """

    what: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    value: float

    def __post_init__(self) -> None:
        check_number(self.parameters[0], self.value, UsageError)
        object.__setattr__(self, "value", plain_number(self.value))

    def options_among(self, known: Container[str]) -> dict[str, Any] | None:
        """Return the option of some that sets this limit, with its value; None without one."""
        return next(({one: self.value} for one in self.parameters if one in known), None)


class MaxRuntime(PlacerLimit):
    """A limit on wall time, in seconds."""

    what = "a time limit"
    parameters = ("seconds",)


class MaxEvaluations(PlacerLimit):
    """A limit on the number of placements that are evaluated."""

    what = "a number of evaluations"
    parameters = ("evaluations", "samples")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int(self.parameters[0], self.value, UsageError)
