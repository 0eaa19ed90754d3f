"""Numbers of instances within the slots that are there."""

from collections.abc import Mapping

from streamplace.control.observation import Observation


def limits_by_slots(wanted: Mapping[str, int], observation: Observation) -> dict[str, int]:
    """Return operator -> its largest number of instances within the slots; empty if all fit.

    The slot-sharing group that keeps the largest share of what it wants gives way first, and none
    below what it has now: of all numbers that fit, these slow the slowest group least.

    Parameters
    ----------
    wanted
        Operator -> number of its instances in a plan.
    """
    if observation.free_slots is None:
        return {}
    groups = {name: observation.groups.get(name, "") for name in wanted}
    wants, has = (slots_by_group(counts, groups) for counts in (wanted, observation.parallelism))
    slots, most = observation.free_slots + sum(has.values()), dict(wants)
    while sum(most.values()) > slots:
        shares = {group: (most[group] - 1) / wants[group] for group in most}
        giving = [group for group in sorted(most) if most[group] > has[group]]
        most[max(giving, key=shares.__getitem__)] -= 1
    return {} if most == wants else {name: most[group] for name, group in groups.items()}


def slots_by_group(counts: Mapping[str, int], groups: Mapping[str, str]) -> dict[str, int]:
    """Return slot-sharing group -> the slots that it needs: as many as its largest member.

    Parameters
    ----------
    counts
        Operator, or vertex -> number of its instances.
    groups
        The same -> its group.
    """
    found = dict.fromkeys(groups.values(), 0)
    for name, group in groups.items():
        found[group] = max(found[group], counts.get(name, 0))
    return found
