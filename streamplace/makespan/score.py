"""Scores of placements under the makespan objective."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from streamplace.display.text import limit_beside, number, percent_up, rounded_down
from streamplace.display.view import Cell, Grid, Line, View
from streamplace.problem.makespan import (
    CHOICES,
    MAKESPAN,
    DispatchOrder,
    PublishedName,
    rules_in_words,
)
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.division import MakespanDivision, ScoreDivision
from streamplace.scoring.loads import DeviceLoad, DeviceTable, LinkLoad, device_grid, link_grids
from streamplace.scoring.score import ROUNDING, Score
from streamplace.sim.schedule.passes import Timetable, divide
from streamplace.sim.schedule.queues import NOTHING
from streamplace.sim.schedule.ranks import FastestPaths
from streamplace.util.checks import finite

STEPS_SHOWN = 40  # of a critical path


@dataclass(frozen=True, repr=False, eq=False)
class MakespanScore(DeviceTable, Score):
    """The makespan of a placement and its schedule.

    Parameters
    ----------
    problem
        The problem.
    timetable
        When everything happens; with noise, in the first of the repeated passes.
    order
        The order in which the operators of a device start.
    makespan_s
        The time of one pass in seconds; with noise, the mean over the repeats.
    deviation_s
        The standard deviation over the repeats in seconds; None with one.
    bound_s
        The lower bound on the makespan of any placement in seconds; None with noise.
    fastest
        The lengths of paths with every operator on its fastest device, in seconds.
    semantics
        The published system that messages follow, if it was asked for by name.

    Attributes
    ----------
    verb
        What a move does that improves the score, in words.
    first_tried
        The operators of which `tried_first` has the numbers, in words.
    """

    quantity: ClassVar[str] = MAKESPAN
    verb: ClassVar[str] = "shortens"
    first_tried: ClassVar[str] = "the operators on the critical path"

    problem: Problem
    timetable: Timetable
    order: DispatchOrder
    makespan_s: float
    deviation_s: float | None
    bound_s: float | None
    fastest: FastestPaths
    semantics: PublishedName | None = None

    @property
    def figures(self) -> dict[str, float]:
        """The makespan, in seconds."""
        return {"makespan_s": self.makespan_s}

    @property
    def value(self) -> float:
        """The makespan, in seconds."""
        return self.makespan_s

    @property
    def unit(self) -> str:
        """Seconds."""
        return "s"

    @property
    def quality(self) -> float:
        """The lower bound over the makespan; 1 without work, 0 if the bound is not known."""
        if self.makespan_s == 0.0:
            return 1.0
        return 0.0 if self.bound_s is None else min(1.0, self.bound_s / self.makespan_s)

    @property
    def bound(self) -> float | None:
        """The bound, in the unit of the value."""
        return self.bound_s

    @property
    def gap(self) -> float | None:
        """How far the bound is below the makespan, as a share of the makespan; None with noise."""
        return None if self.bound_s is None else max(0.0, 1.0 - self.quality)

    @property
    def slr(self) -> float:
        """The makespan over the longest path with operators on fastest devices; 1 without work.

        It is infinite if only messages take time, and then null in JSON.
        """
        return self._over(self.fastest.longest)

    @property
    def slr_shortest(self) -> float:
        """The makespan over the shortest such path, as GiPH's released code has it."""
        return self._over(self.fastest.shortest)

    def with_bound(self, bound: float | None) -> Self:
        """Return the score with a lower bound that a prover may have made tighter, in seconds.

        The bound is ignored if it is None or above the value, and with noise.
        """
        if bound is None or self.bound_s is None or bound > self.value * (1.0 + ROUNDING):
            return self
        return replace(self, bound_s=max(self.bound_s, min(bound, self.value)))

    @property
    def largest_part(self) -> str:
        """The largest part of `division`, in words; empty if there is none."""
        parts = self.division.parts
        return parts[0][0] if parts else ""

    def _over(self, seconds: float) -> float:
        if self.makespan_s == 0.0:
            return 1.0
        return self.makespan_s / seconds if seconds else float("inf")

    def with_system(self, name: PublishedName | None) -> Self:
        """Return the score with the name of the published system that messages follow."""
        return replace(self, semantics=name)

    def differing_lines(self, other: "MakespanScore") -> tuple[Line, ...]:
        """Return the settings of both scores, if they differ, or else the orders that were used."""
        texts = tuple(text_of(one.problem.objective) for one in (self, other))
        if len(set(texts)) > 1:
            return (Line("scored under {} and under {}", texts),)
        orders = [self.order, other.order]
        return (Line(f"in the orders {' and '.join(orders)}"),) if len(set(orders)) > 1 else ()

    @cached_property
    def critical_path(self) -> tuple[str, ...]:
        """The chain of operators, each of which waited for the one before it."""
        names = self.problem.graph.names
        steps = self.timetable.critical_path
        return tuple(names[step.number] for step in steps if step.kind == "operator")

    @property
    def tried_first(self) -> list[int]:
        """The operators whose moves `explain` tries first, where it cannot try all."""
        return [s.number for s in self.timetable.critical_path if s.kind == "operator"]

    @cached_property
    def division(self) -> ScoreDivision:
        """What the score consists of; with noise, in the first pass."""
        found, names = divide(self.timetable), self.problem.graph.names
        return MakespanDivision(tuple(names[v] for v in found.chain), *found[1:])

    def explanation_entries(self) -> dict[str, Any]:
        """Return the score and what it consists of, as `explain --json` prints them."""
        keys = ("objective", "batch", "order", "makespan_s", "standard_deviation_s", "bound_s")
        return self.entries(*keys, "gap", "slr", "critical_path") | {
            "steps": self.steps,
            "division": self.division.to_dict(),
        }

    def entries(self, *keys: str) -> dict[str, Any]:
        """Return some entries of `summary`, as far as it has them."""
        entries = self.summary()
        return {key: entries[key] for key in keys if key in entries}

    def explanation(self) -> tuple[Line | Grid, ...]:
        """Return the score and what it consists of as lines and tables."""
        division = self.division
        return (
            *self.lines(),
            *self._shown_pass,
            *division.lines(),
            division.grid(),
            self._causes(),
        )

    @property
    def _shown_pass(self) -> tuple[Line, ...]:
        """What says which pass tables are of, if there are several."""
        several = self.deviation_s is not None
        return (Line("figures below are those of the first pass"),) if several else ()

    def _causes(self) -> Grid:
        """Return what takes the time, as a table: the critical path, whatever --top says."""
        return replace(self.path_grid(), min_rows=STEPS_SHOWN)

    @cached_property
    def devices(self) -> tuple[DeviceLoad, ...]:  # type: ignore[override]  # made when asked for
        """Busy shares of all devices, and their numbers of operators."""
        names = self.problem.cluster.names
        operators = np.bincount(self.timetable.devices, minlength=len(names))
        return tuple(
            DeviceLoad(name, float(busy), int(count))
            for name, busy, count in zip(names, self.timetable.busy, operators, strict=True)
        )

    @cached_property
    def links(self) -> tuple[LinkLoad, ...]:
        """Busy shares of the channels that carry messages; none with ``free`` links."""
        kind, names = self.problem.cluster.network.kind, self.problem.cluster.names
        if kind == "free" or self.makespan_s == 0.0:
            return ()
        run, busy = self.timetable.run, dict[tuple[int, int | None], float]()
        counted = set[int]()
        for k, source, target in self._ends_of_deliveries():
            m = int(run.message[k])
            if kind != "pair" and m in counted:  # one channel of the sender, whatever the receivers
                continue
            counted.add(m)
            ends = (source, target if kind == "pair" else None)
            busy[ends] = busy.get(ends, 0.0) + float(run.transfer[m] + run.gap[m])
        return tuple(
            LinkLoad(names[a], None if b is None else names[b], seconds / self.timetable.makespan)
            for (a, b), seconds in sorted(busy.items(), key=str)
        )

    @cached_property
    def deliveries(self) -> list[int]:
        """The numbers of the messages between devices, one for each receiving device.

        A number is the index of the first stream that the message serves; see
        `streamplace.sim.schedule.state`.
        """
        delivery = self.timetable.run.delivery
        return [int(k) for k in np.unique(delivery[delivery != NOTHING])]

    def _ends_of_deliveries(self) -> list[tuple[int, int, int]]:
        """Return the number of each delivery, its sending and its receiving device."""
        tasks, on = self.timetable.tasks, self.timetable.devices
        return [(k, int(on[tasks.source[k]]), int(on[tasks.target[k]])) for k in self.deliveries]

    @property
    def schedule(self) -> list[dict[str, Any]]:
        """The device, start and end of every operator, in the graph's order."""
        where = self.problem.cluster.names
        columns = (self.timetable.devices, self.timetable.start, self.timetable.end)
        rows = zip(self.problem.graph.names, *(column.tolist() for column in columns), strict=True)
        return [
            {"operator": name, "device": where[d], "start_s": start, "finish_s": end}
            for name, d, start, end in rows
        ]

    @property
    def transfers(self) -> list[dict[str, Any]]:
        """The producer, devices, start and arrival of every message between devices."""
        where, names = self.problem.cluster.names, self.problem.graph.names
        run, source = self.timetable.run, self.timetable.tasks.source
        return [
            {
                "operator": names[source[k]],
                "from": where[a],
                "to": where[b],
                "start_s": float(run.begin[run.message[k]]),
                "arrival_s": float(run.arrival[k]),
            }
            for k, a, b in self._ends_of_deliveries()
        ]

    def summary(self) -> dict[str, Any]:
        """Return the score without the schedule, as `place --json` prints it."""
        noise = {} if self.deviation_s is None else {"standard_deviation_s": self.deviation_s}
        return {
            "objective": MAKESPAN,
            "batch": self.problem.makespan_objective.batch,
            "order": self.order,
            **({} if self.semantics is None else {"semantics": self.semantics}),
            "makespan_s": self.makespan_s,
            **noise,
            "bound_s": self.bound_s,
            "gap": self.gap,
            "slr": finite(self.slr),
            "slr_shortest": finite(self.slr_shortest),
            "critical_path": list(self.critical_path),
            "devices": [
                {"name": d.name, "utilisation": d.utilisation, "operators": d.operators}
                for d in self.devices
            ],
            "links": [
                {"from": link.source, "to": link.target, "utilisation": link.utilisation}
                for link in self.links
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        return self.summary() | {"schedule": self.schedule, "transfers": self.transfers}

    @property
    def headline(self) -> str:
        """The makespan as a phrase."""
        noise = "" if self.deviation_s is None else f" ± {self.deviation_s:.2g}"
        gap = "" if self.gap is None else f", gap {percent_up(self.gap)}"
        return f"makespan {number(self.makespan_s)}{noise} s ({self.order}){gap}"

    def _view(self) -> View:
        return self.view_with(None)

    def view_with(self, placement: Placement | None) -> View:
        """Return the view of the score; the scored placement adds names of operators."""
        used = sum(1 for device in self.devices if device.operators)
        return View(
            f"{type(self).__name__}: {self.headline}, {used} of {len(self.devices)} devices used",
            body=(
                *self.lines(),
                *self._shown_pass,
                device_grid(self.devices, placement),
                *link_grids(self.links),
                self.path_grid(),
            ),
        )

    def lines(self) -> tuple[Line, ...]:
        """Return the makespan, its bound and the critical path as lines."""
        aim = self.problem.makespan_objective
        what = "one tuple" if aim.batch == 1 else f"a batch of {aim.batch:,} tuples"
        if aim.batch == 1 and self.problem.graph.firing == "all":
            what = "one pass"
        order = f"{self.order}, the best of {len(CHOICES)}" if aim.order == "any" else self.order
        noise = ""
        if self.deviation_s is not None:
            repeats = self.problem.makespan_objective.repeats
            noise = f" ± {self.deviation_s:.2g} s"
            what += f", mean and standard deviation over {repeats:,} passes"
        system = "" if self.semantics is None else f", {self.semantics}"
        how = f"order {order}{rules_in_words(aim)}{system}"
        first = f"makespan {number(self.makespan_s)} s{noise} for {what} ({how})"
        lines = [Line(first)]
        if self.bound_s is not None and self.gap is not None:
            least = limit_beside(self.makespan_s, self.bound_s, rounded_down)
            text = f"no placement is below {least} s, so the gap is at most"
            lines.append(Line(f"{text} {percent_up(self.gap)}; SLR {self.slr:.3g}"))
        return tuple(lines)

    @cached_property
    def steps(self) -> list[dict[str, Any]]:
        """The operators and messages of the critical path, with times and what delayed them.

        A step has either ``operator`` and ``device``, or ``message`` and ``link``: the names of the
        two operators and of the two devices.
        """
        found = list[dict[str, Any]]()
        for step in self.timetable.critical_path:
            is_operator = step.kind == "operator"
            what = self.operator(step.number) if is_operator else self.message(step.number)
            times = {"start_s": step.start, "end_s": step.end}
            found.append({**what, **times, "waited_for": step.waited_for or None})
        return found

    def operator(self, v: int) -> dict[str, Any]:
        """Return the names of an operator and its device."""
        device = self.problem.cluster.names[self.timetable.devices[v]]
        return {"operator": self.problem.graph.names[v], "device": device}

    def message(self, e: int) -> dict[str, Any]:
        """Return the names of both ends of a stream and of their devices."""
        tasks, names, where = self.timetable.tasks, self.problem.graph.names, self.timetable.devices
        ends = int(tasks.source[e]), int(tasks.target[e])
        link = [self.problem.cluster.names[where[v]] for v in ends]
        return {"message": [names[v] for v in ends], "link": link}

    def path_grid(self) -> Grid:
        """Return the critical path as a table."""

        def row(i: int) -> tuple[Cell, ...]:
            step = self.steps[i]
            times = number(step["start_s"]), number(step["end_s"])
            return *cells_of(step), *times, step["waited_for"] or "-"

        head = ("critical path", "on", "start, s", "end, s", "waited for")
        return Grid(head, len(self.steps), row, (0, 1, 4), max_rows=STEPS_SHOWN)


def cells_of(step: Mapping[str, Any]) -> tuple[str, str]:
    """Return the cells of an operator and its device, or of a message and its link."""
    if "operator" in step:
        return step["operator"], step["device"]
    return " -> ".join(step["message"]), "->".join(step["link"])
