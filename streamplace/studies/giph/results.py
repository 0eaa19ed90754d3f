"""The results of the study as arrays, by experiment, test and system."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.studies.giph.plain import HEFT, RANDOM
from streamplace.studies.study import Row
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

SAME = 1e-6  # relative difference of losses that counts as none


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
        """Return 1 where a system is better than a rival, -1 where it is worse, else 0, (R, N)."""
        relative = self.losses[system][:, :, -1] / self.losses[rival][:, :, -1] - 1.0
        signs: Floats = np.where(abs(relative) <= SAME, 0.0, -np.sign(relative))
        return signs


def results_of(rows: Sequence[Row]) -> dict[tuple[str, str], Tested]:
    """Return results by experiment and test."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "test" in row:
            parts.setdefault((row["experiment"], row["test"]), []).append(row)
    return {key: _tested(part) for key, part in parts.items()}


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
