"""Constraints on placements, by the names of operators and devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamplace.display.mixins import StableRepr
from streamplace.errors import ProblemError
from streamplace.util.added import added_field
from streamplace.util.checks import check_type


@dataclass(frozen=True, repr=False)
class Constraints(StableRepr):
    """Rules for placements, besides the labels, memory and resources of operators and devices.

    Parameters
    ----------
    pins
        Operator -> the device it must run on.
    colocate
        Groups of operators; each group runs on one device.
    exlocate
        Groups of operators; no two operators of a group share a device.
    allowed
        Operator -> the devices it may run on.
    apart_groups
        Groups of operators; no two operators of a group run on devices of one group, such as a rack
        (`Device.group`). A device without a group counts as a group of its own.

    Raises
    ------
    ProblemError
        On a value of the wrong type.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    colocate: Sequence[Sequence[str]] = ()
    exlocate: Sequence[Sequence[str]] = ()
    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    apart_groups: Sequence[Sequence[str]] = added_field(())

    @classmethod
    def of(cls, constraints: "Constraints") -> "Constraints":
        """Return `constraints` unchanged after checking their type.

        Raises
        ------
        ProblemError
            On a value of another type, such as a mapping.
        """
        check_type(
            "constraints:",
            constraints,
            cls,
            ProblemError,
            'for example sp.Constraints(pins={"parse": "d0"})',
        )
        return constraints

    def __post_init__(self) -> None:
        check_type("constraints.pins", self.pins, Mapping, ProblemError)
        check_type("constraints.allowed", self.allowed, Mapping, ProblemError)
        groups = (*self.colocate, *self.exlocate, *self.apart_groups, *self.allowed.values())
        for group in groups:
            if isinstance(group, str):
                raise ProblemError(f"constraints: {group!r} must be a list of names, not text")
        allowed = {operator: tuple(names) for operator, names in self.allowed.items()}
        for name, value in (
            ("pins", dict(self.pins)),
            ("colocate", tuple(tuple(group) for group in self.colocate)),
            ("exlocate", tuple(tuple(group) for group in self.exlocate)),
            ("allowed", allowed),
            ("apart_groups", tuple(tuple(group) for group in self.apart_groups)),
        ):
            object.__setattr__(self, name, value)

    @property
    def stated(self) -> "Constraints":
        """The constraints on operators that these on instances mean; otherwise these themselves.

        Copies by `dataclasses.replace` are stated themselves.
        """
        found: Constraints = vars(self).get("_stated", self)
        return found

    def stated_as(self, stated: "Constraints") -> "Constraints":
        """Return a copy of these constraints that knows what they were stated as."""
        if stated == self:
            return stated
        found = replace(self)
        object.__setattr__(found, "_stated", stated.stated)
        return found

    def __bool__(self) -> bool:
        rules = (self.pins, self.colocate, self.exlocate, self.allowed, self.apart_groups)
        return any(rules)
