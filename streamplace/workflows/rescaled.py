"""Operators that have other numbers of instances in another placement."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamplace.display.view import Grid
from streamplace.problem.placement import Placement


@dataclass(frozen=True)
class Rescaled:
    """An operator with another number of instances in a second placement.

    Which instance continues which is not known, so that instances on a device in both placements
    count as the same ones.

    Parameters
    ----------
    operator
        Its name.
    before, after
        Its numbers of instances.
    started, stopped
        Device -> the number of instances that it has more in the second placement, or fewer.
    """

    operator: str
    before: int
    after: int
    started: Mapping[str, int]
    stopped: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``rescaled`` in `diff --json`."""
        return {
            "operator": self.operator,
            "before": self.before,
            "after": self.after,
            "started": dict(self.started),
            "stopped": dict(self.stopped),
        }


def rescaled_between(a: Placement, b: Placement) -> tuple[Rescaled, ...]:
    """Return the operators that have other numbers of instances in `b`, in the order of `a`.

    Operators whose instances have other names but the same number are among them.
    """
    before, after = _instances(a), _instances(b)
    found = []
    for operator, old in before.items():
        new = after.get(operator, {})
        if old.keys() == new.keys():
            continue
        was, now = Counter(old.values()), Counter(new.values())
        found.append(Rescaled(operator, len(old), len(new), now - was, was - now))
    return tuple(found)


def table_of(several: tuple[Rescaled, ...]) -> Grid:
    """Return the table of operators with other numbers of instances."""

    def cells(i: int) -> tuple[str, ...]:
        one = several[i]
        return one.operator, str(one.before), str(one.after), _on(one.started), _on(one.stopped)

    head = ("operator", "instances", "after", "started on", "stopped on")
    return Grid(head, len(several), cells, names=(0, 3, 4))


def _instances(placement: Placement) -> dict[str, dict[str, str]]:
    """Return operator -> instance -> device."""
    owners, found = placement.problem.graph.owners, dict[str, dict[str, str]]()
    for owner, (name, device) in zip(owners, placement.assignment.items(), strict=True):
        found.setdefault(owner, {})[name] = device
    return found


def _on(counts: Mapping[str, int]) -> str:
    return ", ".join(name if n == 1 else f"{name} ({n})" for name, n in counts.items())
