"""The outcome of the study: tables with the published figures, what they show, and curves."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from streamplace.studies.doppler.comparisons import (
    ablations,
    barriers,
    checkpoints,
    makespans,
    with_little_memory,
)
from streamplace.studies.doppler.findings import findings
from streamplace.studies.doppler.results import Results
from streamplace.studies.doppler.transfer_table import transfers
from streamplace.studies.doppler.workloads import OWN, RELEASED, Workload
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Table

TITLE = "DOPPLER (ICLR 2026): placements of dataflow graphs, ablations and plain search"


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the picture and what they show."""
    results = Results(rows)
    first = [one for one in _free(results) if one.devices == plan.settings["devices"][0]]
    pictures = {"curves": partial(_draw, results, first)}
    return Outcome(TITLE, findings(plan, results), tuple(_tables(results, first)), pictures)


def _free(results: Results) -> list[Workload]:
    """Return the workloads without limits of memory."""
    return [one for one in results.workloads if not one.limited]


def _tables(results: Results, first: Sequence[Workload]) -> Iterator[Table]:
    """Yield the tables.

    Parameters
    ----------
    first
        The workloads on the number of devices on which all systems are trained.
    """
    free = _free(results)
    for source in (OWN, RELEASED):
        for devices in dict.fromkeys(one.devices for one in free):
            part = [one for one in free if (one.source, one.devices) == (source, devices)]
            if part:
                yield makespans(results, part)
    for source in (OWN, RELEASED):
        part = [one for one in first if one.source == source]
        if part:
            yield ablations(results, part)
    yield checkpoints(results, free)
    if results.transferred:
        yield transfers(results)
    yield with_little_memory(results, [one for one in results.workloads if one.limited])
    yield barriers(results, free)


def _draw(results: Results, workloads: Sequence[Workload], path: Path) -> None:
    from streamplace.studies.doppler.picture import curves_picture  # noqa: PLC0415 - heavy

    curves_picture(path, results, workloads)
