"""Results of `study doppler` on the released graphs beside the best makespans known.

    python -m benchmarks.makespans.doppler_known FOLDER

FOLDER is that of the study, which may still be running. A row is a released graph: the best
placements of DOPPLER's second stage over the best makespan of ../shared/data/makespan/doppler.json
(mean, lowest and highest over the training seeds), those of the plain placers in the same way, and
the mean of the critical path's best of 50 over the mean of that file, with its 95% interval there.
The file was computed by other programs than ours.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.makespans.problems import known
from benchmarks.released_data import SHARED, needed
from streamplace.errors import StreamplaceError
from streamplace.papers.doppler.study.comparisons import Results
from streamplace.papers.doppler.study.registered import DOPPLER, OF_SEARCH
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.doppler.study.systems import BEST_CRITICAL_PATH, CLIMB, ENUMERATIVE, SEARCH
from streamplace.papers.doppler.study.workloads import FILES, RELEASED, Workload
from streamplace.papers.studies.run import PLAN, RESULTS, check_plan, read_results
from streamplace.papers.studies.table import Cell, Spread, Table, cell

SYSTEMS = (DOPPLER, OF_SEARCH, CLIMB, ENUMERATIVE, SEARCH)
OVER_REFERENCE = "critical path over reference"
INTERVAL = "interval of reference"


def main() -> None:
    """Print the table of the results so far."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        rows = list(_rows(_results(options.folder)))
    except (StreamplaceError, OSError) as error:
        parser.error(str(error))
    head = ("graph", *SYSTEMS, OVER_REFERENCE, INTERVAL)
    caption = "best placements on released graphs over the best makespans known"
    print(Table("known", caption, head, rows).markdown(), end="")


def _results(folder: Path) -> Results:
    """Return the results of the units that have ended."""
    plan = DopplerStudy(released=str(needed(SHARED / "doppler"))).plan()
    version = check_plan(folder / PLAN, DopplerStudy.name, plan.settings)
    found, _ = read_results(folder / RESULTS, {unit.key for unit in plan.units}, version)
    return Results([row for rows in found.values() for row in rows])


def _rows(results: Results) -> Iterator[tuple[str, list[Cell]]]:
    references = {row["file"]: row["devices"] for row in known("doppler.json")["results"]}
    for (graph, devices), file in FILES.items():
        reference = references[file][str(devices)]
        workload = Workload(RELEASED, graph, devices)
        cells = [_over(results, workload, s, reference["best_known"]) for s in SYSTEMS]
        drawn = reference["critical_path_best_of_50"]
        cells.append(_over(results, workload, BEST_CRITICAL_PATH, drawn["mean"]))
        yield workload.name, [*cells, drawn["ci95"] / drawn["mean"]]


def _over(results: Results, workload: Workload, system: str, reference: float) -> Cell:
    last = results.final(workload, system)
    reached = [row["best_s"] for row in last if row["best_s"] is not None]
    return cell(Spread.of([seconds * workload.per_second / reference for seconds in reached]))


if __name__ == "__main__":
    main()
