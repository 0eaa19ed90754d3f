"""The results of the study as arrays, and the sensor-fusion case as a pipeline."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from streamplace.makespan.pipeline import pipeline_figures
from streamplace.papers.giph.sensor_fusion.scenario import WATTS, relocation_cost
from streamplace.papers.giph.study.registered import (
    FUSION,
    GIPH,
    OURS,
    fusion_cases,
)
from streamplace.papers.giph.study.systems import HEFT, RANDOM
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.table import Cell, Table
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

MAKESPAN, FREQUENCY, ENERGY = "makespan, s", "passes per second", "energy of a pass, J"
MOVES, COST, OVER = "moves", "relocation cost, s", "relocation cost / frequency, s²"
OF_SNAPSHOTS, OF_CHANGES = (MAKESPAN, FREQUENCY, ENERGY), (MOVES, COST, OVER)

Columns = dict[str, Floats]
"""By name, a value for each of N snapshots, (N,), or for each change of the snapshot, (N - 1,)."""

SAME = 1e-6  # relative difference of losses that counts as none


def fusion_figures(rows: Sequence[Row]) -> dict[str, Columns]:
    """Return the figures of each system; none if results have no placements.

    Parameters
    ----------
    rows
        Results of all experiments. Those of an earlier version have no placements.
    """
    own = complete([row for row in rows if row.get("test") == FUSION])
    if not own or not all("devices" in row for row in own):
        return {}
    cases = fusion_cases(1 + max(row["case"] for row in own))
    return pipelines(cases.problems(Makespan()), own)


def pipelines(problems: Sequence[Problem], rows: Sequence[Row]) -> dict[str, Columns]:
    """Return the figures of each system as means over its training seeds.

    Parameters
    ----------
    problems
        Successive snapshots.
    rows
        A row for each system, training seed and snapshot, with the placement as `devices`.
    """
    runs: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["case"])):
        runs.setdefault((row["system"], row["repeat"]), []).append(row)
    found: dict[str, list[Columns]] = {}
    for (system, _), run in runs.items():
        placements = [Placement(problems[row["case"]], np.array(row["devices"])) for row in run]
        found.setdefault(system, []).append(_columns(placements))
    return {
        system: {name: np.mean([run[name] for run in of], axis=0) for name in of[0]}
        for system, of in found.items()
    }


def _columns(placements: Sequence[Placement]) -> Columns:
    """Return the figures of the placements of one system on successive snapshots."""
    cost = relocation_cost()
    changes = list(pairwise(placements))
    figures = [pipeline_figures(placements[0], WATTS)]
    figures += [pipeline_figures(new, WATTS, cost, old) for old, new in changes]
    return {
        MAKESPAN: np.array([one.makespan_s for one in figures]),
        FREQUENCY: np.array([one.frequency_hz for one in figures]),
        ENERGY: np.array([one.energy_j for one in figures]),
        MOVES: np.array([float(len(cost.moves(new.problem, old, new))) for old, new in changes]),
        COST: np.array([one.relocation_s for one in figures[1:]]),
        OVER: np.array([one.relocation_over_frequency for one in figures[1:]]),
    }


def fusion_tables(found: Mapping[str, Columns]) -> Iterator[Table]:
    """Yield the table of the case, the shortest makespan first; none without figures."""
    by_makespan = sorted(found.items(), key=lambda each: float(each[1][MAKESPAN].mean()))
    rows = [(system, [_cell(own) for own in columns.values()]) for system, columns in by_makespan]
    if rows:
        head = ("system", *OF_SNAPSHOTS, *(f"{name} per snapshot" for name in OF_CHANGES))
        caption = "sensor fusion: one pass after the other, and moves from the snapshot before"
        yield Table("sensor-fusion", caption, head, rows, ("mean", "95% interval"))


def fusion_findings(found: Mapping[str, Columns]) -> Iterator[str]:
    """Yield what the trained systems and HEFT reach; nothing without a change of the snapshot."""
    for system in (GIPH, OURS, HEFT):
        if system in found and len(found[system][MOVES]):
            mean = {name: float(values.mean()) for name, values in found[system].items()}
            yield (
                f"In the sensor-fusion case, {system} completes {mean[FREQUENCY]:.2f} passes per "
                f"second with {mean[ENERGY]:.1f} J each, and its {mean[MOVES]:.1f} moves between "
                f"two snapshots cost {mean[COST]:.2f} s."
            )


def _cell(values: Floats) -> Cell:
    """Return a mean with its interval; unknown if there is no value."""
    return Effect.of(values).cell() if len(values) else (None, None)


@dataclass(frozen=True, eq=False)
class Tested:
    """What all systems reach on the N cases of one test.

    Parameters
    ----------
    losses
        By system, the lowest loss after each of C checkpoints, (R, N, C) with R training seeds;
        R = 1 for systems that are not trained.
    seconds
        By system, the CPU seconds on each case, (R, N).
    longest_s, shortest_s
        (N,) paths with operators on their fastest devices, in seconds.
    operators, depth
        (N,) operators, and streams on the longest path.
    """

    losses: dict[str, Floats]
    seconds: dict[str, Floats]
    longest_s: Floats
    shortest_s: Floats
    operators: Floats
    depth: Floats

    def final(self, system: str) -> Floats:
        """Return the mean final loss over the seeds, (N,)."""
        final: Floats = self.losses[system][:, :, -1].mean(axis=0)
        return final

    def over(self, system: str, rival: str) -> Effect:
        """Return the final loss of a system over that of another; of trained ones, means."""
        return Effect.of(self.final(system) / self.final(rival))

    def slr(self, system: str) -> tuple[float, float]:
        """Return the mean makespans over the longest and over the shortest path."""
        final = self.final(system)
        return float((final / self.longest_s).mean()), float((final / self.shortest_s).mean())

    def curve(self, system: str) -> Floats:
        """Return the mean loss after each checkpoint over HEFT's, (C,)."""
        heft = self.final(HEFT)[None, :, None]
        mean: Floats = (self.losses[system] / heft).mean(axis=(0, 1))
        return mean

    def wins(self, system: str, rival: str) -> tuple[float, float, float]:
        """Return the percentages of seeds and cases where a system is better, equal, worse.

        A trained rival has the same seed.
        """
        sign = self._signs(system, rival)
        better, equal, worse = (100.0 * float((sign == value).mean()) for value in (1, 0, -1))
        return better, equal, worse

    def lead(self, system: str, rival: str) -> Effect:
        """Return by how many percent of cases a system is more often better than worse."""
        return Effect.of(100.0 * self._signs(system, rival).mean(axis=0))

    def median_ms(self, system: str) -> tuple[float, float]:
        """Return the median CPU ms of a case, and of a relocation with two per operator.

        The median leaves out the first case of a process, which compiles kernels or loads them.
        """
        spent = 1e3 * self.seconds[system]
        return float(np.median(spent)), float(np.median(spent / (2.0 * self.operators)))

    def _signs(self, system: str, rival: str) -> Floats:
        """Return 1 where a system is better than a rival, -1 where it is worse, else 0, (R, N).

        Of two trained systems, the seeds count that both have.
        """
        own, other = (self.losses[name][:, :, -1] for name in (system, rival))
        seeds = min((len(one) for one in (own, other) if len(one) > 1), default=1)
        relative = own[:seeds] / other[:seeds] - 1.0
        signs: Floats = np.where(abs(relative) <= SAME, 0.0, -np.sign(relative))
        return signs


def results_of(rows: Sequence[Row]) -> dict[tuple[str, str], Tested]:
    """Return results by experiment and test."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "test" in row:
            parts.setdefault((row["experiment"], row["test"]), []).append(row)
    return {key: _tested(complete(part)) for key, part in parts.items()}


def complete(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of one test without the systems and seeds that lack some of its cases."""
    counts = Counter((row["system"], row["repeat"]) for row in rows)
    most = max(counts.values(), default=0)
    return [row for row in rows if counts[row["system"], row["repeat"]] == most]


def _tested(rows: Sequence[Row]) -> Tested:
    systems: dict[str, dict[int, list[Row]]] = {}
    for row in rows:
        systems.setdefault(row["system"], {}).setdefault(row["repeat"], []).append(row)
    losses, seconds = {}, {}
    for system, repeats in systems.items():
        by_case = [sorted(part, key=lambda row: int(row["case"])) for part in repeats.values()]
        losses[system] = np.array([[row["losses"] for row in part] for part in by_case])
        seconds[system] = np.array([[row["cpu_s"] for row in part] for part in by_case])
    cases = sorted(systems[RANDOM][0], key=lambda row: int(row["case"]))

    def column(name: str) -> Floats:
        return np.array([row[name] for row in cases], dtype=np.float64)

    return Tested(
        losses,
        seconds,
        column("longest_s"),
        column("shortest_s"),
        column("operators"),
        column("depth"),
    )
