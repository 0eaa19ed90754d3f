"""Constraints on placements, by the names of operators and devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamplace.errors import ProblemError
from streamplace.util.checks import check_type


@dataclass(frozen=True)
class Constraints:
    """Rules beyond labels (`Operator.requires`) and memory, which operators and devices carry.

    Parameters
    ----------
    pins
        Operator -> the device it must run on.
    colocate
        Groups of operators; each group runs on one device.
    exlocate
        Groups of operators; no two of a group share a device.
    allowed
        Operator -> the devices it may run on.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    colocate: Sequence[Sequence[str]] = ()
    exlocate: Sequence[Sequence[str]] = ()
    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, constraints: "Constraints") -> "Constraints":
        """Return constraints as they are; refuse what are none, as a mapping.

        Raises
        ------
        ProblemError
            Naming what to write instead.
        """
        check_type(
            "constraints:",
            constraints,
            cls,
            ProblemError,
            'as sp.Constraints(pins={"parse": "d0"})',
        )
        return constraints

    def __post_init__(self) -> None:
        check_type("constraints.pins", self.pins, Mapping, ProblemError)
        check_type("constraints.allowed", self.allowed, Mapping, ProblemError)
        groups = (*self.colocate, *self.exlocate, *self.allowed.values())
        for group in groups:
            if isinstance(group, str):
                raise ProblemError(f"constraints: {group!r} is text where a list is wanted")
        allowed = {operator: tuple(names) for operator, names in self.allowed.items()}
        for name, value in (
            ("pins", dict(self.pins)),
            ("colocate", tuple(tuple(group) for group in self.colocate)),
            ("exlocate", tuple(tuple(group) for group in self.exlocate)),
            ("allowed", allowed),
        ):
            object.__setattr__(self, name, value)

    def __bool__(self) -> bool:
        return bool(self.pins or self.colocate or self.exlocate or self.allowed)
