"""Migration from the current placement to a better one, with few moves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from streamplace.display.mixins import Displayable
from streamplace.display.text import number
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.errors import Fault, UsageError, within
from streamplace.placers.base import BOTH, Found
from streamplace.placers.limits import MaxRuntime
from streamplace.placers.registry import NamedPlacer, ready
from streamplace.placers.running import check_start, run_placer
from streamplace.placers.search.balance import Prefer, check_prefer
from streamplace.placers.search.current import Current, current_devices
from streamplace.placers.search.gains import better_by
from streamplace.placers.search.migrate import Migrate
from streamplace.placers.search.moves import (
    must_move,
    with_fewest_moves,
    without_needless_moves,
)
from streamplace.placers.search.nearby import SAME
from streamplace.problem.cluster import Cluster
from streamplace.problem.device_kinds import why_impossible
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import qualities_of_rows
from streamplace.scoring.score import ROUNDING, Score
from streamplace.sim import work_clock
from streamplace.util.checks import check_int, check_number, check_seed, check_type
from streamplace.workflows.diff import OperatorMove, moves_between, relative_gain
from streamplace.workflows.inheritance import Settings
from streamplace.workflows.place import result_of
from streamplace.workflows.replace_problem import NewProblem, new_problem
from streamplace.workflows.result import PlacementResult, Result
from streamplace.workflows.simulate import score_of
from streamplace.workflows.value_result import ValueResult


@dataclass(frozen=True, repr=False)
class Migration(Displayable):
    """A new placement and the moves that lead to it.

    Parameters
    ----------
    forced
        Moves of operators that no feasible placement leaves where they are.
    chosen
        Further moves.
    staying
        Score after the fewest moves that lead to a feasible placement; that of the result if it has
        no more moves.
    before
        Throughput of the current placement on its own cluster, at its own source rate, in tuples/s;
        or its makespan on its own cluster, in seconds. None if its cluster is not known, or if a
        device cannot run its operator, so that no pass ends.
    fewest
        The fewest moves that lead to a feasible placement. There are more of them than forced moves
        where one of several operators has to move, but it may be any of them.
    notes
        What the problem has from the current placement, and what its settings replace or leave out,
        a sentence each; only if the problem was made from a graph.
    """

    result: Result | ValueResult
    forced: tuple[OperatorMove, ...]
    chosen: tuple[OperatorMove, ...]
    staying: Score
    before: float | None
    fewest: int = 0
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The numbers of moves and their gain, in words."""
        before, after = self.staying.value, self.result.score.value
        change = self.staying.in_unit(f"{number(before)} -> {number(after)}")
        return f"{self._counts()}, {self.staying.measured} {change}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --start --json` prints."""
        moves = [
            {"operator": m.operator, "from": m.source, "to": m.target, "forced": forced}
            for forced, several in ((True, self.forced), (False, self.chosen))
            for m in several
        ]
        return {
            **self.result.to_dict(),
            "moves": moves,
            "fewest_moves": self.fewest,
            **self._values_before(),
        }

    def _values_before(self) -> dict[str, float | None]:
        """Return the values before and without chosen moves, as entries of JSON."""
        values = {"without_moves": self.staying.value, "before": self.before}
        unit = "_s" if self.staying.unit == "s" else ""
        quantity = self.staying.quantity.replace(" ", "_")
        return {f"{quantity}_{when}{unit}": value for when, value in values.items()}

    def _view(self) -> View:
        head, count = ("operator", "from", "to", ""), len(self.forced) + len(self.chosen)
        table = Grid(head, count, self._cells, names=(0, 1, 2, 3))
        return View(
            f"Migration: {self.headline}",
            body=(*((table,) if count else ()), self._line()),
            rows=TABLE_ROWS,
        )

    def _cells(self, i: int) -> tuple[str, ...]:
        forced = i < len(self.forced)
        move = self.forced[i] if forced else self.chosen[i - len(self.forced)]
        return move.operator, move.source, move.target, "forced" if forced else ""

    def _counts(self) -> str:
        chosen = len(self.chosen)
        further = f"{chosen} further move{'' if chosen == 1 else 's'}"
        forced = len(self.forced)
        if 0 < self.fewest - forced <= chosen:
            more = self.fewest - forced
            further += f" (at least {more} necessary for constraints, memory and resources)"

        return f"{forced} forced move{'' if forced == 1 else 's'}, {further}"

    def _line(self) -> Line:
        staying, after = self.staying.value, self.result.score.value
        which = "forced" if self.fewest == len(self.forced) else "necessary"
        least = f"with the {which} moves only" if self.fewest else "without moves"
        before = staying if self.before is None else self.before
        if self.fewest or abs(before - staying) > SAME * before:
            when = {} if self.before is None else {"before": before}
            when |= {least: staying, "with all moves": after}
            several = [f"{self.staying.in_unit(number(x))} {then}" for then, x in when.items()]
            return Line(f"{self._counts()}; {self.staying.measured} {', '.join(several)}")
        values = self.staying.in_unit(f"{number(staying)} -> {number(after)}")
        change = f"{self.staying.measured} {values}"
        return Line(f"{self._counts()}; {change}{relative_gain(staying, after)}")


def migrate(
    problem: Problem | StreamGraph,
    old: Placement | Result | ValueResult | Mapping[str, str],
    *,
    max_moves: int | None = None,
    move_cost: float | None = None,
    placer: str | NamedPlacer = "auto",
    seconds: float | None = None,
    prefer: Prefer = "fewest",
    seed: int = 0,
    inherit: bool = False,
    **settings: Unpack[Settings],
) -> Migration:
    """Place a problem, starting from the current placement.

    Parameters
    ----------
    problem
        A problem, or a graph, whose problem has the `settings`.
    old
        The current placement, its result, or operator -> device. It may belong to another cluster,
        rate or version of the graph: operators and devices are matched by name.
    max_moves
        Number of operators that may move, in addition to the fewest that must; None: any number.
    move_cost
        Relative throughput (throughput / source rate) that moves must gain for each second it takes
        to send the operators' memory_bytes over a mean link. Under the makespan objective, the
        share by which moves must shorten the makespan for each such second.
    placer
        The placer to run if `max_moves` is None; it starts from `old`, and moves of its result that
        gain nothing are not made. With `move_cost`, a placer that has an `Improver` looks for the
        moves itself, and what others find is considered besides a search.
    seconds
        Time limit in seconds if moves are limited.
    prefer
        ``balance`` if a lower largest utilisation counts as a gain, where everything offered is
        carried and moves are limited. Otherwise the option of the same name of `placer` counts.
    seed
        Seed of all random choices.
    inherit
        Whether settings that are left out come from `old`: its cluster, its objective, and the
        source rate and constraints that it did not take from its graph. The notes of the result say
        which do. With an assignment, there are none. Without `inherit`, a graph needs `cluster`,
        unless `old` is an assignment or on the default cluster.
    settings
        Of the problem of a graph: `cluster`, `source_rate`, `constraints`, `model`,
        `target_utilisation` and `objective`, as for `place`; and `pins`, `without`, `slow`,
        `semantics` and `whole_operators`; see `inheritance.Settings`.

    Raises
    ------
    UsageError
        If a problem comes with settings, which only a graph can have.
    StreamplaceError
        If the problem or a limit is invalid, or no placement is found.
    """
    old = old.placement if isinstance(old, PlacementResult) else old
    _check(old, max_moves, move_cost, seconds, prefer)
    problem, notes = _problem_of(problem, old, settings, inherit=inherit)
    move_cost = None if move_cost is None else float(move_cost)
    seconds = None if seconds is None else float(seconds)
    chosen = ready(placer) if isinstance(placer, str) else placer
    if move_cost is not None and seconds is not None:
        seconds /= 2  # for each of the two searches
        chosen = chosen.limited(MaxRuntime(seconds))
    if max_moves is not None or move_cost is not None:
        if (quantity := problem.objective.quantity) not in BOTH:
            limits = "max_moves and move_cost support only makespan and throughput"
            raise UsageError(f"migrate: {limits}, not {quantity}; leave them out")
        improver = chosen.improver if move_cost is not None else None
        limited = Migrate(old, max_moves, move_cost, seconds, prefer=prefer, improver=improver)
    else:
        limited = Migrate(old, max_moves=0)
    current = current_devices(problem, old)
    fewest = with_fewest_moves(current)
    staying = limited.necessary(problem, np.random.default_rng(seed))
    if max_moves is None and move_cost is None:
        result = _worth_the_moves(current, chosen, seed, staying)
    else:
        started = work_clock.now()
        start: Placement | None = staying
        bound: float | None = None
        if move_cost is not None:
            if limited.improver is None:  # else it looks for the moves itself
                check_start(chosen, staying)
                found = run_placer(problem, chosen, np.random.default_rng(seed), staying).found
                start, bound = found.placement, found.bound
            else:
                start = None
        with within("re-placing"):
            placement = limited(problem, np.random.default_rng(seed), start)
        limit = f"max_moves={max_moves}" if move_cost is None else f"move_cost={move_cost:g}"
        name = "migrate" if limited.improver is None else chosen.text
        seconds = work_clock.now() - started
        result = result_of(Found(placement, bound), f"{name}:{limit}", seconds)
    if isinstance(old, Placement) and old.job:
        result = replace(result, placement=result.placement.of_job(old.job))
    assignment = old.assignment if isinstance(old, Placement) else old
    moves, necessary = (moves_between(assignment, one) for one in (result.placement, fewest))
    index = problem.graph.index
    moved = {move.operator for move in moves}
    if len(moves) == len(necessary):  # the result moves no more, perhaps to better devices
        staying = result.placement
    forced = {  # what the fewest moves leave in place can stay
        move.operator
        for move in necessary
        if move.operator in moved and must_move(current, index[move.operator])
    }
    return Migration(
        result.with_system(settings.get("semantics")),
        tuple(move for move in moves if move.operator in forced),
        tuple(move for move in moves if move.operator not in forced),
        score_of(staying),
        _value_before(problem, old),
        len(necessary),
        notes,
    )


def _worth_the_moves(
    current: Current, placer: NamedPlacer, seed: int, staying: Placement
) -> Result | ValueResult:
    """Return what a placer finds, without moves that gain nothing in what it was asked for."""
    problem = current.problem
    check_seed(seed)
    check_start(placer, staying)
    outcome = run_placer(problem, placer, np.random.default_rng(seed), staying)
    found = outcome.found
    better = better_by(problem, placer.options.get("prefer"))
    row = without_needless_moves(current, staying.devices, found.placement.devices, better)
    if (row != found.placement.devices).any():
        kept, best = qualities_of_rows(problem, np.stack([row, found.placement.devices]))
        optimal = found.optimal and bool(kept >= best * (1.0 - ROUNDING))
        found = Found(Placement(problem, row), found.bound, optimal)
    return result_of(found, placer.text, outcome.seconds)


def _problem_of(
    problem: Problem | StreamGraph,
    old: Placement | Mapping[str, str],
    settings: Settings,
    *,
    inherit: bool,
) -> NewProblem:
    """Return the problem of the arguments of `migrate`."""
    if unknown := settings.keys() - Settings.__annotations__.keys():
        raise TypeError(f"migrate() got an unexpected keyword argument {min(unknown)!r}")
    if isinstance(problem, StreamGraph):
        is_on_other = isinstance(old, Placement) and old.problem.cluster != Cluster.of(None)
        if is_on_other and not inherit and settings.get("cluster") is None:
            fault = "is not set, and that of the placement counts only with inherit=True"
            remedy = "set cluster or inherit"
            raise UsageError(Fault(fault, place=("migrate",), option="cluster", remedy=remedy))
        return new_problem(problem, old if inherit else None, settings)
    check_type("migrate: problem", problem, Problem, UsageError, "a StreamGraph is also accepted")
    if inherit or settings:
        what = "inherit" if inherit else min(settings)
        raise UsageError(f"migrate: {what} requires a graph; a problem has all of its settings")
    return NewProblem(problem, ())


def _check(
    old: object, max_moves: object, move_cost: object, seconds: object, prefer: Prefer
) -> None:
    """Refuse arguments of other types."""
    if not isinstance(old, Placement | Mapping):
        expected = "a Placement, the result of place, or a mapping from operators to devices"
        raise UsageError(f"migrate: old must be {expected}, not {type(old).__name__}")
    if max_moves is not None:
        check_int("migrate: max_moves", max_moves, UsageError)
    for name, value in (("move_cost", move_cost), ("seconds", seconds)):
        if value is not None:
            check_number(f"migrate: {name}", value, UsageError)
    check_prefer("migrate", prefer)


def _value_before(problem: Problem, old: Placement | Mapping[str, str]) -> float | None:
    """Return the throughput of the current placement in tuples/s, or its makespan in seconds.

    A placement has its own cluster. Its throughput is at its own source rate; its makespan is that
    of the problem's objective, and None if a device cannot run its operator. For an assignment, the
    cluster is the problem's; the result is None if it uses other devices.
    """
    if not isinstance(old, Placement):
        if old.keys() != {*problem.graph.names} or not {*old.values()} <= {*problem.cluster.names}:
            return None
        old = Placement.of(problem, old)
    if not (problem.objective.has_rates and old.problem.objective.has_rates):
        old = Placement(old.problem.with_objective(problem.objective), old.devices)
        whole = old.problem
        if why_impossible(whole.graph, whole.cluster, old.devices):
            return None
    return score_of(old).value
