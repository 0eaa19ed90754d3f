"""Simulated beside measured makespans of recorded runs of scientific workflows.

    python -m benchmarks.makespans.recorded [FOLDER] [--seconds S]

FOLDER has executions in WfFormat, one a file (default: ../shared/data/wfinstances). Run times and
placements are the recorded ones, and the order is `fifo`. The tables are:

1. how well simulated makespans agree with measured ones. No file states a network: links of 1
   Gbit/s at each machine are assumed;
2. which share of the measured makespan the recorded data explain, the mean over runs: the longest
   path of run times, waiting for a core, waiting for links, the cores that tasks used beyond those
   stated, and the files of all tasks through one link of 1 Gbit/s. *Serial* is the number of runs
   that are longer than with one task at a time on each machine, so that no order explains them.
   *Rounded* is what run times in whole seconds may hide at most;
3. measured over simulated makespans by application;
4. a workflow manager with a time for each task, a time until a start or an end is known, and one
   link for files. Its numbers are those with the smallest mean logarithm of the error on all other
   applications, or on the others of its system, and are tried on the application left out. The
   last rows are fitted on the other runs of the same application, where there are any; a factor on
   simulated makespans is to compare with, as is a regression on numbers of tasks and levels,
   total run time and bytes, without a simulation;
5. makespans of `auto` over those of recorded placements, both simulated.

Intervals of 95% are from a bootstrap over applications, since runs of one are alike; there is none
for fewer than three applications.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.exit_codes import exit_code
from benchmarks.makespans.recorded_runs import GIGABIT, MANAGERS, SEED, Manager, Run, read
from benchmarks.released_data import SHARED, needed
from streamplace.errors import StreamplaceError
from streamplace.sim import work_clock
from streamplace.util.arrays import Bools, Floats

RESAMPLES, FEWEST = 2000, 3
PARTS: dict[
    str, Callable[[Manager], bool]
] = {  # of a manager -> the settings that have no other part
    "nothing": lambda m: m == Manager(0.0, 0.0, inf),
    "tasks": lambda m: m.notice_s == 0 and m.mbps == inf,
    "starts and ends": lambda m: m.task_s == 0 and m.mbps == inf,
    "files": lambda m: m.task_s == 0 and m.notice_s == 0,
    "tasks, files": lambda m: m.notice_s == 0,
    "all three": lambda _: True,
}
STAGING = MANAGERS.index(Manager(0.0, 0.0, GIGABIT))
SHARES = "path", "cores", "links", "used", "files", "the rest"
ERRORS = {"median error": 0.5, "90%": 0.9}
Statistic = Callable[[Any], float]
"""Returns a figure of the runs with these indices, an array of integers."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.makespans.recorded", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SHARED / "wfinstances")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of auto on a run")
    options = parser.parse_args()
    runs = []
    with work_clock.cpu_time():
        for path in sorted(needed(options.folder).glob("*.json*")):
            try:
                runs.append(read(path, options.seconds))
            except StreamplaceError as error:  # another file may be of no use here
                print(f"left out: {error}", file=sys.stderr)
    if not runs:
        sys.exit(f"{options.folder}: has no run that can be simulated")
    print(f"1. {'runs':25}{_titles()}{'largest':>9}")
    for title, several in groups(runs):
        simulated = np.array([run.linked_s for run in several])
        print(f"{title:28}{agreement(several, simulated)}{_largest(several, simulated):9.3f}")
    titles = "".join(f"{share:>9}" for share in SHARES)
    print(f"\n2. {'share of measured':25}{'n':>4}{titles}{'serial':>8}{'rounded':>9}")
    for title, several in groups(runs):
        print(explained(title, several))
    titles = f"{'measured/simulated':>28}{'missing s a level':>19}{'a task':>9}"
    print(f"\n3. {'application':25}{'n':>4}{titles}")
    for title, several in by(runs, _application):
        print(missing(title, several))
    print(f"\n4. {'manager; fitted on':25}{_titles()}")
    for title, shown, predicted in predictions(runs):
        print(f"{title:28}{agreement(shown, predicted)}")
    titles = f"{'over recorded':>24}{'least':>8}{'gap to bound':>24}"
    print(f"\n5. {'auto, several machines':25}{'n':>4}{titles}")
    for title, several in groups([run for run in runs if run.auto_s is not None]):
        print(gained(title, several))


def by(runs: Iterable[Run], key: Callable[[Run], str]) -> list[tuple[str, list[Run]]]:
    """Return runs by a key, sorted."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return sorted(found.items())


def groups(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    """Return all runs, those in which every task names its machine, and those of each system."""
    placed = [run for run in runs if run.is_placed]
    return [
        ("all", [*runs]),
        ("every task has a machine", placed),
        *by(runs, lambda run: run.system),
    ]


def _application(run: Run) -> str:
    return f"{run.system}, {run.application}"


def _titles() -> str:
    return f"{'n':>4}{'Spearman':>22}{'Pearson':>22}" + "".join(f"{name:>22}" for name in ERRORS)


def agreement(runs: Sequence[Run], simulated: Floats) -> str:
    """Return how well makespans agree with the measured ones, with intervals."""
    measured = np.array([run.measured_s for run in runs])
    error = np.abs(simulated / measured - 1.0)
    rules: list[Statistic] = [
        lambda rows: correlation(stats.rankdata(measured[rows]), stats.rankdata(simulated[rows])),
        lambda rows: correlation(measured[rows], simulated[rows]),
        *(lambda rows, q=q: float(np.quantile(error[rows], q)) for q in ERRORS.values()),
    ]
    return f"{len(runs):4}" + "".join(f"{with_interval(runs, rule):>22}" for rule in rules)


def correlation(x: Floats, y: Floats) -> float:
    """Return Pearson's coefficient; NaN where one side is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _largest(runs: Sequence[Run], simulated: Floats) -> float:
    return float((simulated / [run.measured_s for run in runs]).max(initial=0.0))


def with_interval(runs: Sequence[Run], rule: Statistic) -> str:
    """Return a figure of runs with its interval, as text."""
    places: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        places.setdefault(_application(run), []).append(i)
    if not runs:
        return "-"
    figure = f"{rule(np.arange(len(runs))):.3f}"
    if len(places) < FEWEST or figure == "nan":
        return figure
    rng = np.random.default_rng(SEED)
    several = [np.array(rows) for rows in places.values()]
    drawn = rng.integers(len(several), size=(RESAMPLES, len(several)))
    figures = [rule(np.concatenate([several[i] for i in chosen])) for chosen in drawn]
    low, high = np.quantile([each for each in figures if not isnan(each)], (0.025, 0.975))
    return f"{figure} [{low:.3f}, {high:.3f}]"


def explained(title: str, runs: Sequence[Run]) -> str:
    """Return a line of the shares of measured makespans that the recorded data explain."""
    shares = np.array([shares_of(run) for run in runs]).reshape(len(runs), -1)
    cells = "".join(f"{share:9.1%}" for share in shares.mean(axis=0)) if runs else ""
    serial = sum(run.measured_s > run.serial_s for run in runs)
    rounded = np.mean([run.whole_s / run.measured_s for run in runs]) if runs else 0.0
    return f"{title:28}{len(runs):4}{cells}{serial:8}{rounded:9.1%}"


def shares_of(run: Run) -> Floats:
    """Return the shares of path, cores, links, cores used, files and the rest, (6,).

    They add up to 1. What would be longer than measured counts up to the measured makespan.
    """
    files = max(run.managed_s[STAGING], run.used_s)
    until = np.array([0.0, run.path_s, run.free_s, run.linked_s, run.used_s, files, inf])
    capped = np.minimum(np.maximum.accumulate(until), run.measured_s)
    return np.diff(capped) / run.measured_s


def missing(title: str, runs: Sequence[Run]) -> str:
    """Return a line of measured over simulated makespans, and of what the simulation lacks."""
    ratio = np.array([run.measured_s / run.linked_s for run in runs])
    lack = np.array([run.measured_s - run.linked_s for run in runs])
    level = np.median(lack / [run.levels for run in runs])
    task = np.median(lack / [run.tasks for run in runs])
    cell = f"{np.median(ratio):.2f} [{ratio.min():.2f}, {ratio.max():.2f}]"
    return f"{title:28}{len(runs):4}{cell:>28}{level:19.2f}{task:9.3f}"


def predictions(runs: Sequence[Run]) -> Iterator[tuple[str, Sequence[Run], Floats]]:
    """Return titles, runs, and the makespans that models give which were fitted on other runs."""
    yield "regression; all", runs, regression(runs)
    same_system, same_application = equal(runs, lambda run: run.system), equal(runs, _application)
    others = {"all": ~same_application, "its system": same_system & ~same_application}
    for part, has_no_other in PARTS.items():
        settings = np.array([has_no_other(manager) for manager in MANAGERS])
        for what, fitted_on in others.items():
            yield f"{part}; {what}", runs, fitted(runs, settings, fitted_on)
    again = same_application & ~np.eye(len(runs), dtype=np.bool_)
    several = np.flatnonzero(again.any(axis=1))
    repeated = [runs[int(i)] for i in several]
    again = again[np.ix_(several, several)]
    ratio = np.array([run.measured_s / run.linked_s for run in repeated])
    factor = np.array([np.median(ratio[rows]) for rows in again])
    simulated = np.array([run.linked_s for run in repeated])
    yield "nothing; -", repeated, simulated
    yield "a factor; its application", repeated, factor * simulated
    yield "all three; its application", repeated, fitted(repeated, settings, again)


def equal(runs: Sequence[Run], key: Callable[[Run], str]) -> Bools:
    """Return which runs have the same key, (R, R)."""
    names = np.array([key(run) for run in runs])
    return np.asarray(names[:, None] == names, np.bool_)


def fitted(runs: Sequence[Run], settings: Bools, others: Bools) -> Floats:
    """Return the makespan of each run with the manager that is best on other runs, (R,).

    Parameters
    ----------
    settings
        (M,) those of `MANAGERS` to choose from.
    others
        (R, R) the runs on which that of each run is fitted; without any, it takes no time.
    """
    makespans = np.array([run.managed_s for run in runs])
    errors = np.abs(np.log(makespans / np.array([[run.measured_s] for run in runs])))
    errors[:, ~settings] = inf
    best = [errors[rows].mean(axis=0).argmin() if rows.any() else 0 for rows in others]
    return makespans[np.arange(len(runs)), best]


def regression(runs: Sequence[Run]) -> Floats:
    """Return what a linear regression of logarithms on all other applications predicts, (R,)."""
    measured = np.log([run.measured_s for run in runs])
    named = np.array([[run.tasks, run.levels, run.run_times_s, 1 + run.file_bytes] for run in runs])
    features = np.column_stack([np.log(named), np.ones(len(runs))])
    found = np.empty(len(runs))
    for i, same in enumerate(equal(runs, _application)):
        weights = np.linalg.lstsq(features[~same], measured[~same], rcond=None)[0]
        found[i] = np.exp(features[i] @ weights)
    return found


def median_of(column: Floats) -> Statistic:
    """Return the median of the entries of a column as a figure of runs."""
    return lambda rows: float(np.median(column[rows]))


def gained(title: str, runs: Sequence[Run]) -> str:
    """Return a line of the makespans of `auto` over those of recorded placements."""
    auto = np.array([run.auto_s or inf for run in runs])
    ratio = auto / [run.linked_s for run in runs]
    gap = 1.0 - np.array([run.bound_s for run in runs]) / auto
    cells = [with_interval(runs, median_of(column)) for column in (ratio, gap)]
    least = f"{ratio.min():8.3f}" if runs else f"{'-':>8}"
    return f"{title:28}{len(runs):4}{cells[0]:>24}{least}{cells[1]:>24}"


if __name__ == "__main__":
    sys.exit(exit_code(main, name="makespans.recorded"))
