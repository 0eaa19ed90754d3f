"""The table of transfers: policies on workloads on which they were not trained."""

from collections.abc import Sequence

from streamplace.studies.doppler.learning import ZERO_SHOT
from streamplace.studies.doppler.plain import BEST_CRITICAL_PATH
from streamplace.studies.doppler.published import TRANSFER
from streamplace.studies.doppler.registered import DOPPLER
from streamplace.studies.doppler.results import Results, last_of
from streamplace.studies.doppler.workloads import Workload
from streamplace.studies.spread import cell
from streamplace.studies.table import Cell, Table

HEAD = (
    "trained on and used on",
    "greedy",
    "best of 9",
    "after training on it",
    "episodes",
    "from scratch",
    "episodes from scratch",
    "critical path, best of 50",
    "published, ms on GPUs: without episodes",
    "after 2,000",
    "after 4,000",
)


def transfers(results: Results) -> Table:
    """Return the makespans of policies on other workloads than that on which they were trained."""
    rows: list[tuple[str, Sequence[Cell]]] = []
    for (source, target), found in results.transferred.items():
        at_once = [row for row in found if row["stage"] == ZERO_SHOT]
        after = last_of(found)
        published = _published(source, target)
        cells = (
            cell(results.over_best(target, at_once, "greedy_s")),
            cell(results.over_best(target, at_once)),
            cell(results.over_best(target, after)),
            after[0]["episodes"],
            cell(results.over(target, DOPPLER)),
            results.last(target, DOPPLER)[0]["episodes"],
            cell(results.over(target, BEST_CRITICAL_PATH)),
            *published,
        )
        rows.append((f"{source.name}; {target.name}", cells))
    caption = (
        "makespans of the best placement over the shortest one of the long searches on the target; "
        "'best of 9' are the greedy placement and eight samples"
    )
    return Table("transfer", caption, HEAD, rows)


def _published(source: Workload, target: Workload) -> tuple[Cell, Cell, Cell]:
    same_devices = source.devices == target.devices
    found = TRANSFER.get((source.graph, target.graph)) if same_devices else None
    return found or (None, None, None)
