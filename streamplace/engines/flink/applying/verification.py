"""Verification of a restarted job: parallelism, location, and the state it started from."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from streamplace.engines.flink.applying.preflight import hosts_of, names_in_plan
from streamplace.engines.flink.cluster import FlinkCluster
from streamplace.engines.flink.documents import Job
from streamplace.engines.flink.groups import Groups


def differences(
    groups: Groups,
    job: Job,
    hosts: Mapping[str, Sequence[str]],
    cluster: FlinkCluster,
    savepoint: str,
) -> Iterator[str]:
    """Yield where a job differs from a placement, one line each; nothing if it runs as placed.

    Parameters
    ----------
    hosts
        Operator -> the TaskManager of each of its instances.
    savepoint
        Path of the savepoint that the job must have started from.
    """
    if job.restored_from is None or _plain(job.restored_from) != _plain(savepoint):
        yield f"the job started from {job.restored_from or 'no state'} instead of {savepoint}"
    yield from places_that_differ(groups, hosts, cluster)


def places_that_differ(
    groups: Groups, hosts: Mapping[str, Sequence[str]], cluster: FlinkCluster
) -> Iterator[str]:
    """Yield where operators run elsewhere than placed, or in other numbers; see `differences`."""
    names = names_in_plan(groups.group_of, hosts)
    for name, group in groups.group_of.items():
        if name not in names:
            yield f"{name!r} does not run"
            continue
        found = hosts[names[name]]
        wanted = groups.parallelism(name)
        if wanted is not None and len(found) != wanted:
            yield f"{name!r} has parallelism {len(found)} instead of {wanted}"
            continue
        if groups.labels:
            where = {device: each.id for device, each in hosts_of(groups, cluster).items()}
            if len(group.slots) == 1:
                expected = {where.get(next(iter(group.slots)), "?"): len(found)}
            else:
                expected = {where.get(d, "?"): n for d, n in group.slots.items()}
            if dict(Counter(found)) != expected:
                yield f"{name!r} runs on {_listed(Counter(found))} instead of {_listed(expected)}"
    if not groups.labels and not groups.anywhere:
        yield from _apart(groups, {name: hosts[on] for name, on in names.items()})


def _apart(groups: Groups, hosts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield groups that are not on one TaskManager of their own; any may stand for any device."""
    taken: dict[str, str] = {}
    for group in groups.groups:
        found = {host for name in group.operators for host in hosts.get(name, ())}
        if len(found) > 1:
            yield f"group {group.name!r} runs on {', '.join(sorted(found))} instead of one"
        for host in sorted(found):
            other = taken.setdefault(host, group.name)
            if other != group.name:
                yield f"groups {other!r} and {group.name!r} share the TaskManager {host!r}"


def _plain(path: str) -> str:
    """Return a path in the form in which Flink stores it: file:/x for file:///x."""
    scheme, colon, rest = path.partition(":")
    return f"{scheme}:/{rest.lstrip('/')}" if colon and scheme == "file" else path.rstrip("/")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
