"""What a jar makes of the mapping that it is started with."""

import re
from collections.abc import Iterable, Mapping

GROUP = re.compile(r"^@([\w-]+)=(.*)$", re.M)
LABEL = re.compile(r"label ([\w-]+)(?: (\d+))?")
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
    labels_of = {group: LABEL.findall(line) for group, line in GROUP.findall(mapping)}
    group_of = {_plain(name): group for name, group, _ in ROW.findall(mapping)}
    counts = counts_in(mapping)
    found = {}
    for name in names:
        asked, number = labels_of.get(group_of.get(name, ""), []), counts.get(name, 1)
        slots = {
            on: min(int(each.get(label, 0) // int(amount or 1)) for label, amount in asked)
            for on, each in (labels if asked else {}).items()
        }
        places = [on for on, most in slots.items() for _ in range(min(most, number))]
        found[name] = (places or [list(labels)[-1]] * number)[:number]
    return found


def _plain(name: str) -> str:
    return name.replace("\\", "")
