"""Differences between two placements of the same operators."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable, Tabular
from streamplace.display.text import byte_count, number
from streamplace.display.view import TABLE_ROWS, Grid, Line, Names, View
from streamplace.errors import ProblemError
from streamplace.problem.graph_checks import listed
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.scoring.score import THROUGHPUT, Score
from streamplace.util.text import counted
from streamplace.workflows.result import PlacementResult, placement_in
from streamplace.workflows.simulate import score_of


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


@dataclass(frozen=True)
class OperatorMove:
    """An operator that moves from one device to another, with its memory in bytes."""

    operator: str
    source: str
    target: str
    memory_bytes: float = 0.0


@dataclass(frozen=True, repr=False)
class Difference(Displayable, Tabular):
    """The difference between two placements, each scored with its own graph and cluster.

    If their objectives measure different quantities, both are scored under the objective of the
    second.

    Parameters
    ----------
    moves
        In the graph's order. Devices are matched by name, so operators on a device that is missing
        from the second cluster count as moved.
    scores
        Scores of the first and the second placement.
    gone, new
        Devices only in the first cluster, and only in the second.
    replaced
        Name of the objective of the first placement, if the second one's replaces it.
    rescaled
        Operators with other numbers of instances, whose instances are not among the moves.
    """

    moves: tuple[OperatorMove, ...]
    scores: tuple[Score, Score]
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    replaced: str | None = None
    rescaled: tuple[Rescaled, ...] = ()

    @property
    def values(self) -> tuple[float, float]:
        """Throughput of each placement in tuples/s, or its makespan in seconds."""
        before, after = self.scores
        return before.value, after.value

    @property
    def throughput(self) -> tuple[float, float]:
        """Throughput of each placement, in tuples/s.

        Raises
        ------
        ProblemError
            If the placements were scored by their makespans.
        """
        if (quantity := self.scores[0].quantity) != THROUGHPUT:
            raise ProblemError(f"the placements have {quantity}s, not throughput; use values")
        return self.values

    @property
    def memory_bytes(self) -> float:
        """Memory of all operators that move, in bytes."""
        return sum((move.memory_bytes for move in self.moves), 0.0)

    def to_records(self) -> list[dict[str, Any]]:
        """Return ``operator``, ``from`` and ``to`` of each move."""
        return [{"operator": m.operator, "from": m.source, "to": m.target} for m in self.moves]

    def to_dict(self) -> dict[str, Any]:
        """Return what `diff --json` prints."""
        before, after = (score.figures for score in self.scores)
        return {
            "moves": self.to_records(),
            "rescaled": [one.to_dict() for one in self.rescaled],
            **{name: [value, after[name]] for name, value in before.items()},
            "memory_bytes": self.memory_bytes,
            "devices_gone": list(self.gone),
            "devices_new": list(self.new),
        }

    def _view(self) -> View:
        devices = (("removed", self.gone), ("new", self.new))
        lines = [
            Line(f"{what} devices: {{}}", (Names.of(names),)) for what, names in devices if names
        ]
        table = Grid(("operator", "from", "to"), len(self.moves), self._cells, names=(0, 1, 2))
        body = (
            *lines,
            *((table,) if self.moves else ()),
            *((_rescaled_table(self.rescaled),) if self.rescaled else ()),
            Line(self.headline),
            *self._objectives(),
        )
        return View(f"Difference: {self.headline}", body=body, rows=TABLE_ROWS)

    @property
    def headline(self) -> str:
        """The number of moves, the memory to move, and the change of throughput, in words."""
        moves = "1 move" if len(self.moves) == 1 else f"{len(self.moves)} moves"
        memory = f" with {byte_count(self.memory_bytes)} of memory" if self.memory_bytes else ""
        if self.rescaled:
            rescaled = counted(len(self.rescaled), "operator")
            memory += f"; {rescaled} with other numbers of instances"
        before, after = self.values
        score = self.scores[0]
        values = score.in_unit(f"{number(before)} -> {number(after)}")
        change = f"{score.measured} {values}, {after - before:+,.6g}"
        return f"{moves}{memory}; {change}{relative_gain(before, after)}"

    def _cells(self, i: int) -> tuple[str, ...]:
        move = self.moves[i]
        return move.operator, move.source, move.target

    def _objectives(self) -> tuple[Line, ...]:
        """Return what differs between the settings of the scores."""
        before, after = self.scores
        lines = before.differing_lines(after)
        if self.replaced is None:
            return lines
        text = "both are scored under the second placement's objective; that of the first is {}"
        return (Line(text, (self.replaced,)), *lines)


def relative_gain(before: float, after: float) -> str:
    """Return the relative change of a value, to end a sentence; empty if `before` is 0."""
    return f" ({after / before - 1:+.1%})" if before else ""


def diff(a: Placement | PlacementResult, b: Placement | PlacementResult) -> Difference:
    """Return the difference from `a` to `b`, which are placements or results of `place`.

    Raises
    ------
    UsageError
        On a value of another type.
    ProblemError
        If their graphs have different operators.
    """
    a, b = placement_in("diff: a", a), placement_in("diff: b", b)
    owners = a.problem.graph.owners
    _check_same({*owners}, {*b.problem.graph.owners})
    before, after = (placement.problem.cluster for placement in (a, b))
    objectives, replaced = [one.problem.objective for one in (a, b)], None
    if objectives[0].quantity != objectives[1].quantity:
        replaced = text_of(objectives[0])
        a = Placement(a.problem.with_objective(objectives[1]), a.devices)
    rescaled = rescaled_between(a, b)
    others = {one.operator for one in rescaled}
    placed = zip(owners, a.assignment.items(), strict=True)
    same = dict(each for owner, each in placed if owner not in others)
    return Difference(
        moves_between(same, b),
        (score_of(a), score_of(b)),
        replaced=replaced,
        rescaled=rescaled,
        gone=tuple(name for name in before.names if name not in after.index),
        new=tuple(name for name in after.names if name not in before.index),
    )


def _check_same(before: set[str], after: set[str]) -> None:
    """Refuse operators that only one of two graphs has."""
    only = (("first", before - after), ("second", after - before))
    if lacking := [
        f"only the {which} has {listed(sorted(names))}" for which, names in only if names
    ]:
        raise ProblemError(
            f"the graphs of the placements have different operators: {', '.join(lacking)}"
        )


def moves_between(a: Mapping[str, str], b: Placement) -> tuple[OperatorMove, ...]:
    """Return the moves from `a` to `b` of operators that are in both, in the order of `a`.

    Parameters
    ----------
    a
        Operator -> device.
    """
    to = b.assignment
    memory = dict(zip(to, b.problem.graph.memory_bytes.tolist(), strict=True))
    return tuple(
        OperatorMove(operator, device, to[operator], memory[operator])
        for operator, device in a.items()
        if operator in to and to[operator] != device
    )


def rescaled_between(a: Placement, b: Placement) -> tuple[Rescaled, ...]:
    """Return the operators that have other numbers of instances in `b`, in the order of `a`.

    Operators whose instances have other names but the same number are among them.
    """
    if not (a.problem.graph.instance_of or b.problem.graph.instance_of):
        return ()
    before, after = _instances(a), _instances(b)
    found = []
    for operator, old in before.items():
        new = after.get(operator, {})
        if old.keys() == new.keys():
            continue
        was, now = Counter(old.values()), Counter(new.values())
        found.append(Rescaled(operator, len(old), len(new), now - was, was - now))
    return tuple(found)


def _rescaled_table(several: tuple[Rescaled, ...]) -> Grid:
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
