"""Devices that a cluster loses, and changes of a cluster over time."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from streamplace.errors import ClusterError, Fault, InfeasibleError, ProblemError, UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.device import Device
from streamplace.problem.network import LinkOverride
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.seconds import slow_kind
from streamplace.util.checks import check_number
from streamplace.util.suggest import candidates


@dataclass(frozen=True)
class Losses:
    """Lost and slow devices of a cluster.

    Parameters
    ----------
    without
        Names of the devices that are lost, or of groups, all of whose devices are lost.
    slow
        Device or group -> the share of speed that is left, above 0. A device's own share counts
        more than that of its group.
    resolved
        Whether all names are those of devices.
    """

    without: tuple[str, ...] = ()
    slow: Mapping[str, float] = field(default_factory=dict)
    resolved: bool = False

    @classmethod
    def of(cls, without: Iterable[str], slow: Mapping[str, float]) -> "Losses":
        """Return losses whose values come from a caller.

        Raises
        ------
        UsageError
            If `without` is a single text, or a share is not above 0 and at most 1.
        """
        if isinstance(without, str):
            raise UsageError(f"without must be a list of names, such as [{without!r}]")
        if not isinstance(slow, Mapping):
            raise UsageError("slow must be a mapping, such as {'rack2': 0.5}")
        for name, share in slow.items():
            check_number(f"slow: {name!r}: the share that is left", share, UsageError)
            if not 0 < share <= 1:
                raise UsageError(f"slow: {name!r}: must be above 0 and at most 1 (got {share!r})")
        return cls(tuple(without), slow)

    def __bool__(self) -> bool:
        return bool(self.without or self.slow)

    def of_devices(self, whole: Cluster) -> "Losses":
        """Return these losses with the devices of a cluster's groups instead of the groups.

        Raises
        ------
        UsageError
            If the cluster lacks a device or group that these losses name, or has both a device and
            a group of other devices with such a name.
        """
        if self.resolved:
            return self
        groups = {device.group for device in whole.devices if device.group != device.name}
        members = {name: [name] for name in whole.names}
        for device in whole.devices:
            if device.group is not None and device.group not in whole.index:
                members.setdefault(device.group, []).append(device.name)
        for option, names in (("without", self.without), ("slow", self.slow)):
            for name in names:
                if name not in members:
                    close = candidates(name, tuple(members))
                    fault = f"unknown device or group {name!r}{close}"
                    raise UsageError(Fault(fault, option=option))
                if name in whole.index and name in groups:
                    fault = f"{name!r} is both a device and a group; rename one of them"
                    raise UsageError(Fault(fault, option=option))
        lost = dict.fromkeys(device for name in self.without for device in members[name])
        groups_first = sorted(self.slow, key=lambda name: name in whole.index)
        slow = {device: self.slow[name] for name in groups_first for device in members[name]}
        return Losses(tuple(lost), slow, resolved=True)

    def cluster(self, whole: Cluster) -> Cluster:
        """Return the cluster that is left, without overrides of lost devices and groups.

        A slow device has fewer MIPS, and its kind is a slow one, so that times by kind are longer
        as well; see `seconds.slow_kind`.

        Raises
        ------
        UsageError
            If the cluster lacks a device that these losses name, or none is left.
        """
        losses = self.of_devices(whole)
        left = [
            _slow_down(device, losses.slow.get(device.name, 1.0))
            for device in whole.devices
            if device.name not in losses.without
        ]
        if not left:
            raise UsageError(Fault("no device is left", option="without"))
        groups = {device.group for device in left}
        overrides = tuple(
            override
            for override in whole.network.overrides
            if not {override.source, override.target} & {*losses.without}
            and {override.source_group, override.target_group} <= {None, *groups}
        )
        uplinks = tuple(uplink for uplink in whole.network.uplinks if uplink.group in groups)
        return Cluster(left, replace(whole.network, overrides=overrides, uplinks=uplinks))

    def constraints(self, rules: Constraints) -> Constraints:
        """Return the constraints without the lost devices, which are named without groups.

        Raises
        ------
        ProblemError
            If an operator is pinned to a lost device, or allowed only on lost devices.
        """
        lost, rules = {*self.without}, rules.stated
        for operator, device in rules.pins.items():
            if device in lost:
                fault = f"{operator!r} is pinned to {device!r}, which is lost"
                remedy = "change the pin or keep the device"
                raise ProblemError(_of_rules("pins", fault, remedy))
        allowed = {v: [d for d in names if d not in lost] for v, names in rules.allowed.items()}
        for operator, names in allowed.items():
            if not names:
                gone = rules.allowed[operator]
                are = "is" if len(gone) == 1 else "are"
                only = f"allowed only on {', '.join(map(repr, gone))}"
                fault = f"{operator!r} is {only}, which {are} lost"
                remedy = "allow another device or keep one of these"
                raise ProblemError(_of_rules("allowed", fault, remedy))
        return replace(rules, allowed=allowed)

    def left(self, whole: Cluster, rules: Constraints) -> tuple[Cluster, Constraints]:
        """Return the cluster and the constraints that are left; see `cluster` and `constraints`."""
        losses = self.of_devices(whole)
        return losses.cluster(whole), losses.constraints(rules)

    def placement(self, whole: Placement) -> Placement:
        """Return the same assignment on the cluster that is left.

        Raises
        ------
        UsageError, ProblemError
            As `cluster` and `constraints`, or if an operator runs on a lost device.
        """
        problem = whole.problem
        losses = self.of_devices(problem.cluster)
        for operator, device in whole.assignment.items():
            if device in losses.without:
                raise ProblemError(
                    f"operator {operator!r} is on {device!r}, which is lost; "
                    "`streamplace place --start`, or migrate in Python, moves it"
                )
        cluster, rules = losses.left(problem.cluster, problem.constraints)
        left = Problem(problem.graph, cluster, objective=problem.objective, constraints=rules)
        return Placement.of(left, whole.assignment)


def _slow_down(device: Device, share: float) -> Device:
    """Return a device at a share of its speed."""
    kind = None if device.kind is None else slow_kind(device.kind, share)
    return replace(device, mips=device.mips * share, kind=kind)


def restricted(problem: Problem, devices: Collection[int]) -> Problem:
    """Return a problem on some of its devices, with their links, uplinks and overrides.

    Allowed devices that are left out are removed from the constraints. A placement that uses only
    `devices` has the same loads in both problems.

    Parameters
    ----------
    devices
        Indices of at least one device; their order in the cluster is kept.

    Raises
    ------
    InfeasibleError
        If constraints, labels or memory provably allow no placement on these devices.
    """
    names = problem.cluster.names
    kept = set(devices)
    if len(kept) == len(names):
        return problem
    lost = Losses(tuple(name for d, name in enumerate(names) if d not in kept), resolved=True)
    try:
        constraints = lost.constraints(problem.constraints)
    except ProblemError as error:  # an operator may run only on devices that are left out
        raise InfeasibleError(error.fault) from None
    return Problem(
        problem.graph,
        lost.cluster(problem.cluster),
        objective=problem.objective,
        constraints=constraints,
    )


def _of_rules(kind: str, what: str, remedy: str) -> Fault:
    return Fault(what, place=(f"constraints.{kind}",), remedy=remedy, of_constraints=True)


@dataclass(frozen=True)
class ClusterChange:
    """Devices that leave a cluster, and devices that come to it with their links.

    Placements are carried over by the names of devices: an operator stays where its device stays.
    A name that leaves may come back in a later change, but not in the same one.

    Parameters
    ----------
    leaving
        Names of the devices that leave.
    coming
        The devices that come; they follow the others in the cluster's order.
    links
        Overrides of the links of devices that come. Their other links have the network's values.

    Raises
    ------
    ClusterError
        If a device both leaves and comes.
    """

    leaving: tuple[str, ...] = ()
    coming: tuple[Device, ...] = ()
    links: tuple[LinkOverride, ...] = ()

    def __post_init__(self) -> None:
        both = {*self.leaving} & {device.name for device in self.coming}
        if both:
            raise ClusterError(
                f"change: device {min(both)!r} both leaves and comes; use two changes"
            )

    def of(self, cluster: Cluster) -> Cluster:
        """Return the cluster after the change.

        Raises
        ------
        ClusterError
            If a device that leaves is not in the cluster, one that comes is in it already, none is
            left, or a link does not exist.
        """
        for name in self.leaving:
            if name not in cluster.index:
                close = candidates(name, cluster.names)
                raise ClusterError(f"change: no device {name!r} can leave{close}")
        staying = [device for device in cluster.devices if device.name not in {*self.leaving}]
        if not staying:
            raise ClusterError("change: no device stays; one must")
        leaving = Losses(self.leaving, resolved=True)
        left = leaving.cluster(cluster) if leaving else cluster
        overrides = (*left.network.overrides, *self.links)
        return Cluster([*staying, *self.coming], replace(left.network, overrides=overrides))

    def forced(self, assignment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the operators whose device leaves, in the order of an assignment."""
        leaving = {*self.leaving}
        return tuple(name for name, device in assignment.items() if device in leaving)
