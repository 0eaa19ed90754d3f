"""The sensor-fusion case as a pipeline: frequency, energy and relocations between snapshots."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from streamplace.generate.sensor_fusion.scenario import WATTS, relocation_cost
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.pipeline import pipeline_figures
from streamplace.studies.giph.experiments import FUSION, fusion_cases
from streamplace.studies.giph.plain import HEFT
from streamplace.studies.giph.registered import GIPH, OURS
from streamplace.studies.study import Row
from streamplace.studies.table import Cell, Table
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

MAKESPAN, FREQUENCY, ENERGY = "makespan, s", "passes per second", "energy of a pass, J"
MOVES, COST, OVER = "moves", "relocation cost, s", "relocation cost / frequency, s²"
OF_SNAPSHOTS, OF_CHANGES = (MAKESPAN, FREQUENCY, ENERGY), (MOVES, COST, OVER)

Columns = dict[str, Floats]
"""By name, a value for each of N snapshots, (N,), or for each change of the snapshot, (N - 1,)."""


def fusion_figures(rows: Sequence[Row]) -> dict[str, Columns]:
    """Return the figures of each system; none if results have no placements.

    Parameters
    ----------
    rows
        Results of all experiments. Those of an earlier version have no placements.
    """
    own = [row for row in rows if row.get("test") == FUSION]
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
