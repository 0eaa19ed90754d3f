"""The hosts of a running job that stand for the devices of a placement."""

from collections import Counter
from collections.abc import Mapping, Sequence

from streamplace.integrations.profiling.profile import JobUse
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement


def devices_of_hosts(
    placement: Placement, use: JobUse, names: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """Return host -> the device that it stands for, and a note if operators decided which.

    A host stands for the device whose label it has, else for the device of its name, else for the
    device of which it runs most operators.

    Parameters
    ----------
    names
        Operator of the placement -> its name in the job.
    """
    hosts = [*use.busy_hosts, *use.idle_hosts]
    found = {host: device for device, host in use.labelled.items() if host in hosts}
    devices = [name for name in placement.problem.cluster.names if name not in found.values()]
    found |= {host: host for host in hosts if host not in found and host in devices}
    free_devices = [name for name in devices if name not in found]
    common = _common(placement, use, names, free_devices, [h for h in hosts if h not in found])
    by_operators: dict[str, str] = {}
    for (device, host), _ in sorted(common.items(), key=lambda each: -each[1]):
        if host not in by_operators and device not in by_operators.values():
            by_operators[host] = device
    pairs = ", ".join(f"{host!r} is {device!r}" for host, device in by_operators.items())
    note = f"TaskManagers matched to devices by the operators that they run: {pairs}"
    return found | by_operators, note if by_operators else ""


def _common(
    placement: Placement,
    use: JobUse,
    names: Mapping[str, str],
    devices: Sequence[str],
    hosts: Sequence[str],
) -> Counter[tuple[str, str]]:
    """Return (device, host) -> the number of instances that are on both."""
    common: Counter[tuple[str, str]] = Counter()
    for operator, placed in _placed(placement).items():
        here = Counter(use.hosts.get(names.get(operator, ""), ()))
        for device, count in placed.items():
            for host, running in here.items():
                if device in devices and host in hosts:
                    common[device, host] += min(count, running)
    return common


def misplaced(
    placement: Placement, use: JobUse, names: Mapping[str, str], device_of: Mapping[str, str]
) -> str:
    """Return a note on the operators that do not run where they were placed; empty if all do."""
    wrong = []
    for operator, placed in _placed(placement).items():
        running = Counter(use.hosts.get(names.get(operator, ""), ()))
        where = Counter({device_of.get(host, host): count for host, count in running.items()})
        divided = sum(placed.values()) == sum(where.values())
        same = where == placed if divided else set(where) == set(placed)
        if where and not same:
            wrong.append(operator)
    return f"not running where they were placed: {listed(wrong)}" if wrong else ""


def _placed(placement: Placement) -> dict[str, Counter[str]]:
    """Return operator -> device -> the number of its instances there."""
    names, found = placement.problem.cluster.names, dict[str, Counter[str]]()
    owners = placement.problem.graph.owners
    for owner, device in zip(owners, placement.devices.tolist(), strict=True):
        found.setdefault(owner, Counter())[names[device]] += 1
    return found
