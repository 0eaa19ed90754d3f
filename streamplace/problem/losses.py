"""Devices that are lost or slower, as changes to a cluster and to constraints."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamplace.errors import ProblemError, UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.suggest import did_you_mean


@dataclass(frozen=True)
class Losses:
    """Lost and slow devices of a cluster.

    Parameters
    ----------
    without
        Names of the devices that are lost.
    slow
        Device -> the share of its speed that is left, above 0.
    """

    without: tuple[str, ...] = ()
    slow: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.without or self.slow)

    def cluster(self, whole: Cluster) -> Cluster:
        """Return the cluster that is left, without overrides of lost devices and groups.

        Raises
        ------
        UsageError
            If the cluster lacks a device that these losses name, or none is left.
        """
        for option, names in (("--without", self.without), ("--slow", self.slow)):
            for name in names:
                if name not in whole.index:
                    close = did_you_mean(name, whole.index)
                    raise UsageError(f"{option}: unknown device {name!r}{close}")
        left = [
            replace(device, mips=device.mips * self.slow.get(device.name, 1.0))
            for device in whole.devices
            if device.name not in self.without
        ]
        if not left:
            raise UsageError("--without: no device is left")
        groups = {device.group for device in left}
        overrides = tuple(
            override
            for override in whole.network.overrides
            if not {override.source, override.target} & {*self.without}
            and {override.source_group, override.target_group} <= {None, *groups}
        )
        uplinks = tuple(uplink for uplink in whole.network.uplinks if uplink.group in groups)
        return Cluster(left, replace(whole.network, overrides=overrides, uplinks=uplinks))

    def constraints(self, rules: Constraints) -> Constraints:
        """Return the constraints without the lost devices.

        Raises
        ------
        ProblemError
            If an operator is pinned to a lost device, or allowed only on lost devices.
        """
        lost = {*self.without}
        for operator, device in rules.pins.items():
            if device in lost:
                raise ProblemError(
                    f"constraints.pins: {operator!r} is pinned to {device!r}, which --without "
                    "removes; change the pin or keep the device"
                )
        allowed = {v: [d for d in names if d not in lost] for v, names in rules.allowed.items()}
        for operator, names in allowed.items():
            if not names:
                gone = ", ".join(map(repr, rules.allowed[operator]))
                raise ProblemError(
                    f"constraints.allowed: {operator!r} is allowed only on {gone}, which --without "
                    "removes; allow another device or keep one of these"
                )
        return replace(rules, allowed=allowed)

    def placement(self, whole: Placement) -> Placement:
        """Return the same assignment on the cluster that is left.

        Raises
        ------
        UsageError, ProblemError
            As `cluster` and `constraints`, or if an operator runs on a lost device.
        """
        problem = whole.problem
        for operator, device in whole.assignment.items():
            if device in self.without:
                raise ProblemError(
                    f"operator {operator!r} is on {device!r}, which --without removes; "
                    "`streamplace place --start` moves it"
                )
        left = Problem(
            problem.graph,
            self.cluster(problem.cluster),
            objective=problem.objective,
            constraints=self.constraints(problem.constraints),
        )
        return Placement.of(left, whole.assignment)
