"""Checks of where kube-scheduler lets the pods of a placement run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from benchmarks.kubernetes.trials import Trial
from streamplace.engines.kubernetes.deployments import crowded


@dataclass(frozen=True)
class Outcome:
    """What one check found.

    Parameters
    ----------
    pods
        Number of pods that the check is about.
    elsewhere
        How many of them run on another node than their device's.
    pending
        How many of them have no node.
    faults
        What differs from what the export promises, one sentence each.
    """

    pods: int
    elsewhere: int
    pending: int
    faults: tuple[str, ...] = ()


def mapped(trial: Trial) -> Outcome:
    """Each pod runs on its device's node, except where the export says that some do not fit."""
    trial.apply(trial.devices)
    few = crowded(trial.placement)
    faults = _late(trial, (device for device in trial.devices if device not in few))
    waiting = [name for name in trial.devices if {*trial.of(name)} & {*trial.pending()}]
    if waiting != few:
        faults += [f"pods wait for {waiting}, but the export names {few}"]
    if not waiting and trial.contents() != _expected(trial):
        faults += ["nodes run other operators than the placement says"]
    return _outcome(trial, [*trial.pods], faults)


def full(trial: Trial) -> Outcome:
    """The pods of a full node that request CPU time are pending, and run there once it has room."""
    few = crowded(trial.placement)
    free = [device for device in trial.devices if device not in few]
    if not free:
        return Outcome(0, 0, 0)
    other = trial.fill(free[0])
    trial.apply(trial.devices)
    own = [pod for pod in trial.of(free[0]) if trial.requests_cpu(pod)]
    faults = _late(trial, free[1:])
    found = _outcome(trial, own, faults)
    if found.pending < found.pods:
        faults += [f"pods run, although the node of {free[0]!r} is full"]
    trial.delete(other)
    if not trial.run_on(own):
        faults += [f"pods do not run on the node of {free[0]!r} once it has room"]
    after = _outcome(trial, own, faults)
    return replace(after, pending=found.pending)


def relabelled(trial: Trial, *, without: str = "") -> Outcome:
    """The pods of a device are pending if its label moves to a node that runs another's pods.

    Nodes are large, so that only the anti-affinity of the pods can keep them off.
    """
    if len(trial.devices) < 2:
        return Outcome(0, 0, 0)
    first, second = trial.devices[:2]
    trial.apply(trial.devices, without=without)
    faults = _late(trial, trial.devices)
    trial.delete(*trial.of(second))
    trial.label(second, "")
    trial.label(first, second)
    trial.apply([second], without=without)
    faults += [] if trial.decided() else ["the scheduler did not decide in time"]
    found = _outcome(trial, trial.of(second), faults)
    if found.pending < found.pods and not without:
        faults += [f"pods of {second!r} run beside those of {first!r}"]
    return replace(found, faults=tuple(faults))


def unselected(trial: Trial) -> Outcome:
    """Pods without the node selector run anywhere: what the check of `mapped` would find."""
    trial.apply(trial.devices, without="nodeSelector")
    return _outcome(trial, [*trial.pods], _late(trial, ()))


def _late(trial: Trial, devices: Iterable[str]) -> list[str]:
    """Wait for the scheduler, and until the pods of some devices run; return what was late."""
    pods = [pod for device in devices for pod in trial.of(device)]
    if trial.decided() and trial.run_on(pods):
        return []
    late = [pod for pod in trial.pods if not trial.node_of(pod)]
    return [f"{pod} does not run: {trial.reason(pod) or 'undecided'}" for pod in late]


def _outcome(trial: Trial, pods: list[str], faults: Iterable[str]) -> Outcome:
    elsewhere, pending = trial.misplaced(), trial.pending()
    return Outcome(
        len(pods),
        sum(pod in elsewhere for pod in pods),
        sum(pod in pending for pod in pods),
        tuple(faults),
    )


def _expected(trial: Trial) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return (node, what a pod runs) -> number of such pods, as the placement says."""
    placement = trial.placement
    owners = placement.problem.graph.owners
    several = {name for name, count in Counter(owners).items() if count > 1}
    alone: dict[str, list[str]] = {}
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for owner, device in zip(owners, placement.assignment.values(), strict=True):
        if owner in several:
            found[trial.node(device), (owner,)] += 1
        else:
            alone.setdefault(trial.node(device), []).append(owner)
    found.update((node, tuple(names)) for node, names in alone.items())
    return found
