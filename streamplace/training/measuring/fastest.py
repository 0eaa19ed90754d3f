"""The fastest measured placement of each problem of a run, as placement files."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.files import write_placement
from streamplace.files.atomic import make_folder
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.training.measuring.measurements import Measurements
from streamplace.training.problems import with_full_runs

FASTEST = "fastest"


def write_fastest(folder: Path, problems: Sequence[Problem], measurements: Measurements) -> None:
    """Write ``fastest/N.json`` for each problem N of which a placement was measured."""
    for number, (seconds, row) in sorted(measurements.fastest().items()):
        placement = Placement(with_full_runs(problems[number]), row)
        where = make_folder(folder / FASTEST) / f"{number}.json"
        write_placement(where, placement, comment=f"measured: {seconds:.6g} s")
