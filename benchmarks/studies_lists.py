"""Rows of list schedulers in benchmarks/studies, made again after a change of the schedulers.

    python -m benchmarks.studies_lists [DATA] [--only NAME …]

List schedulers choose nothing at random, so that their rows can be made again without the rest of a
study: those of HEFT and PEFT and their variants, of climb from HEFT's placement, and of HEFT on
changing clusters. All other rows are kept, and so are CPU times. A row is printed for each study
and system, with its makespans over those before. The folders of the studies get the new rows and
tables, and docs/images the pictures. DATA is the folder with the released data that two of the
studies read (default: ../shared/data).
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.released_data import SHARED
from benchmarks.studies_again import FOLDERS, Kept, kept_in, studies_named
from benchmarks.studies_tables import write
from streamplace.learning.policy.weights import new_policy
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.doppler.study import systems as doppler
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.giph.policy import Giph
from streamplace.papers.giph.study import adaptivity
from streamplace.papers.giph.study import systems as giph
from streamplace.papers.giph.study.registered import GIPH, PER_OPERATOR, SYSTEMS, experiments
from streamplace.papers.giph.study.study import PLAIN_CASES, GiphStudy
from streamplace.papers.hsdag.study import systems as hsdag
from streamplace.papers.hsdag.study.study import HsdagStudy
from streamplace.papers.orders.study.registered import problem_of
from streamplace.papers.orders.study.results import HEFT, HEFT_WITH_CONTENTION
from streamplace.papers.orders.study.study import PLAIN, OrdersStudy
from streamplace.papers.studies.study import Plan, Row, Unit
from streamplace.placers.running import run_placer

SAME = 1e-9  # relative difference that is rounding
OF_ROW = ("system", "method", "case", "graph", "change")
"""The keys that tell a row of a list scheduler from the others of its unit."""


def of_orders(study: OrdersStudy, settings: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the makespans of HEFT and of HEFT with contention on one graph."""
    family, graph, devices = settings["family"], settings["graph"], settings["devices"]
    problem = problem_of(family, graph, devices, study.seed)
    for method in (HEFT, HEFT_WITH_CONTENTION):
        rng = np.random.default_rng([study.seed, graph, devices])
        placed = run_placer(problem, PLAIN[method], rng, None).placement
        found = float(makespan_evaluator(problem).makespans(placed.devices)[0])
        seconds = [found] * len(study.size.checkpoints)
        yield {"method": method, "graph": graph, "makespan_s": seconds}


def of_giph(study: GiphStudy, settings: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of HEFT, climb from it, and PEFT on some cases; those of HEFT on changes."""
    if "protocol" in settings:
        size, after = study.size, {giph.HEFT: adaptivity.AFTER_CHANGES[giph.HEFT]}
        policy = new_policy(SYSTEMS[GIPH], 0)  # HEFT does not use it
        assert isinstance(policy, Giph), "it is of that kind"
        where = settings["protocol"], size.graphs, size.changes, settings["repeat"]
        for row in adaptivity.adapted(policy, *where, after):
            del row["from_scratch_s"]  # of a search whose evaluations are among the kept rows
            yield row
        return
    one = experiments(study.size)[settings["experiment"]]
    cases, first = one.tests[settings["test"]], settings["first"]
    numbers = range(first, min(first + PLAIN_CASES, cases.count))
    for number, problem in zip(numbers, cases.problems(one.objective, numbers), strict=True):
        unused = np.zeros(len(problem.graph.names), np.int32)  # the start of later placers
        seed = [study.seed, number]
        lists = giph.plain(problem, unused, seed, PER_OPERATOR, thorough=False)
        for system, reached in islice(lists, 4):
            placed = {"devices": reached.devices.tolist(), "cpu_s": reached.seconds}
            yield {"case": number, "system": system, "losses": reached.losses, **placed}


def of_doppler(study: DopplerStudy, settings: Mapping[str, Any]) -> Iterable[Row]:
    """Return the rows of the placers that choose nothing at random, on one workload."""
    problem = study.kind(**settings).problem(study.released)
    found = islice(doppler.plain(problem, study.size, study.seed), len(doppler.FIXED))
    return ({**settings, **row} for row in found)


def of_hsdag(study: HsdagStudy, settings: Mapping[str, Any]) -> Iterable[Row]:
    """Return the rows of single devices, HEFT and PEFT on one workload."""
    problem = study.kind(**settings).problem(study.data)
    found = islice(hsdag.plain(problem, study.size, study.seed), len(hsdag.PLAIN))
    return ({**settings, **row} for row in found)


LISTS: Mapping[str, Callable[[Any, Mapping[str, Any]], Iterable[Row]]] = {
    "orders": of_orders,
    "giph": of_giph,
    "doppler": of_doppler,
    "hsdag": of_hsdag,
}


def has_lists(unit: Unit) -> bool:
    """Return whether a unit has rows of list schedulers."""
    without = {"system", "repeat", "names"}
    return "protocol" in unit.settings or not without & unit.settings.keys()


def merged(kept: list[Row], made: Iterable[Row]) -> list[Row]:
    """Return the rows of a unit with those that were made again, in the same order.

    A row of a system that was not in the unit follows the row that was made before it.
    """
    new, known = {_identity(row): row for row in made}, {_identity(row) for row in kept}
    found = list[Row]()
    for row in kept:
        own = new.pop(_identity(row), None)
        found.append(row if own is None else {**_of(row, own), **_times(row)})
        while own is not None and new and next(iter(new)) not in known:
            found.append(_of(row, new.pop(next(iter(new)))))
    return found


def _identity(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in OF_ROW)


def _of(row: Row, own: Row) -> Row:
    """Return a row with the values of another that it has as well."""
    return {key: own.get(key, value) for key, value in row.items()}


def _times(row: Row) -> Row:
    return {"cpu_s": row["cpu_s"]} if "cpu_s" in row else {}


def seconds_of(row: Row) -> float:
    """Return the makespan of a row, the last one if there are several; NaN if there is none."""
    value = row.get("losses") or row.get("makespan_s") or row.get("best_s") or np.nan
    return float(value[-1] if isinstance(value, list) else value)


def made_again(name: str, study: Any, plan: Plan) -> dict[str, Kept]:
    """Return all results of a study with new rows of list schedulers, and print what changed."""
    kept, ratios = kept_in(FOLDERS / name), dict[str, list[float]]()
    for unit in (one for one in plan.units if has_lists(one) and one.key in kept):
        before = kept[unit.key]
        rows = merged(before.rows, list(LISTS[name](study, unit.settings)))
        old, same = {_identity(row): row for row in before.rows}, set(map(id, before.rows))
        for row in rows:
            other = old.get(_identity(row))
            if other is not None and id(row) not in same and seconds_of(row) > 0.0:
                system = str(row.get("system", row.get("method")))
                if "change" in row:
                    system += ", changing clusters"
                ratios.setdefault(system, []).append(seconds_of(row) / seconds_of(other))
        kept[unit.key] = Kept(rows, before.seconds)
    for system, values in ratios.items():
        over, different = np.array(values), np.abs(np.array(values) - 1.0) > SAME
        print(
            f"| {name} | {system} | {len(over)} | {different.mean():.1%} | {over.mean():.4f} | "
            f"{over.min():.3f} | {over.max():.3f} |",
            flush=True,
        )
    return kept


def main() -> None:
    """Make the rows again, study by study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--only", nargs="+", choices=LISTS, default=tuple(LISTS))
    options = parser.parse_args()
    found = studies_named(options.only, options.data)
    print("| study | system | rows | changed | new / old | lowest | highest |")
    print("|---|---|---|---|---|---|---|")
    for name, study in found.items():
        plan = study.plan()
        write(name, study, plan, made_again(name, study, plan))


if __name__ == "__main__":
    sys.exit(exit_code(main, name="studies_lists"))
