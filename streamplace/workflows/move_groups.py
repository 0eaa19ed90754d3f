"""What the tables of moves have in common: names, and rows of moves that are equally good."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from streamplace.display.view import Cell, Grid, Names
from streamplace.problem.placement import Placement


class NamedMove(Protocol):
    """A move of one operator, or of several colocated ones, by names."""

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators."""

    @property
    def source(self) -> str:
        """The device that they leave."""

    @property
    def target(self) -> str:
        """The device that they move to."""


M = TypeVar("M", bound=NamedMove)


def names_of_move(placement: Placement, unit: int, target: int) -> tuple[tuple[str, ...], str, str]:
    """Return the operators that a move of a unit to a device moves, and both devices, by names."""
    problem = placement.problem
    moved = (problem.feasibility.unit_of == unit) & (placement.devices != target)
    operators = np.flatnonzero(moved)
    return (
        tuple(problem.graph.names[v] for v in operators),
        problem.cluster.names[placement.devices[operators[0]]],
        problem.cluster.names[target],
    )


def grid_of_moves(
    moves: Sequence[M],
    columns: tuple[str, ...],
    effect: Callable[[M], tuple[str, ...]],
    alike: int,
    names: tuple[int, ...] = (0, 1, 2),
) -> Grid:
    """Return a table of moves; equally good target devices share a row.

    Parameters
    ----------
    columns
        Headings of the columns after those of the names.
    effect
        Function that returns the cells of these columns.
    alike
        The number of these columns in which moves of one row have to agree.
    names
        Indices of the columns that have names.
    """
    rows: dict[tuple[object, ...], list[M]] = {}
    for move in moves:
        key = (move.operators, move.source, *effect(move)[:alike])
        rows.setdefault(key, []).append(move)
    groups = list(rows.values())

    def row(i: int) -> tuple[Cell, ...]:
        first = groups[i][0]
        targets = Names.of([move.target for move in groups[i]])
        return Names.of(first.operators), first.source, targets, *effect(first)

    return Grid(
        ("move", "from", "to", *columns), len(groups), row, names,
        left_out="and {} more that help less",
    )  # fmt: skip
