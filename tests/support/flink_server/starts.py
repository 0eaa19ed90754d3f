"""What a jar makes of the mapping that it is started with."""

import re
from collections.abc import Iterable, Mapping

GROUP = re.compile(r"^@([\w-]+)=label (\w+)", re.M)
ROW = re.compile(r"^(.*)=([\w-]+)(?:, parallelism (\d+))?$", re.M)


def counts_in(mapping: str) -> dict[str, int]:
    """Return operator -> number of its instances, where the mapping says so."""
    rows = ROW.findall(mapping)
    return {_plain(name): int(number) for name, _, number in rows if number}


def hosts_in(
    mapping: str, names: Iterable[str], labels: Mapping[str, Mapping[str, float]]
) -> dict[str, list[str]]:
    """Return operator -> the TaskManager of each instance; those without label are on the last.

    Parameters
    ----------
    labels
        TaskManager -> label -> amount.
    """
    label_of = dict(GROUP.findall(mapping))
    group_of = {_plain(name): group for name, group, _ in ROW.findall(mapping)}
    counts = counts_in(mapping)
    found = {}
    for name in names:
        label, number = label_of.get(group_of.get(name, "")), counts.get(name, 1)
        offered = {on: int(each.get(label, 0)) for on, each in labels.items()} if label else {}
        places = [on for on, amount in offered.items() for _ in range(min(amount, number))]
        found[name] = (places or [list(labels)[-1]] * number)[:number]
    return found


def _plain(name: str) -> str:
    return name.replace("\\", "")
