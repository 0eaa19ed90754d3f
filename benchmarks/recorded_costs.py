"""CPU times of recorded stream jobs on one kind of machine, predicted from those on another.

    python -m benchmarks.recorded_costs [--boosted PYTHON]

CAPSys profiled five of its six queries on machines of AWS and on CloudLab (../shared/data/running),
with numbers of instances of their own. The CPU time per record of each operator on CloudLab is
predicted from that on AWS: as the same; by one speed factor, as a device's ``mips`` is one (the
median over the operators of the other queries); and by a gradient-boosted model that sees the other
queries (PYTHON and q-errors: `benchmarks.recorded_jobs`).
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.recorded_jobs import BOOSTED, RUNNING, boosted, cells, q_error
from benchmarks.released_data import needed

LIGHT_MS = 200.0  # CPU-ms/s of an instance below which a JVM's own threads are a large part


class Operator(NamedTuple):
    """An operator of CAPSys's queries: CPU-ms per source record on both clusters."""

    query: str
    aws: float
    cloudlab: float
    features: list[float]
    light: bool

    @property
    def ratio(self) -> float:
        """The cost on CloudLab over that on AWS."""
        return self.cloudlab / self.aws


def capsys(folder: Path) -> list[Operator]:
    """Return the operators of the queries that were profiled on both clusters."""
    found = []
    for name, query in json.loads((folder / "capsys.json").read_text())["queries"].items():
        if "cloudlab_profiled" not in query:
            continue
        first, second = query["aws_profiled"], query["cloudlab_profiled"]
        others = {row["name"]: row for row in second["operators"]}
        for row in first["operators"]:
            other = others[row["name"]]
            aws, cloudlab = (
                each["compute_per_instance"] * each["instances"] / rate
                for each, rate in (
                    (row, first["source_rate_records_per_s"]),
                    (other, second["source_rate_records_per_s"]),
                )
            )
            known = [row["compute_per_instance"], row["state_per_instance"]]
            known += [row["network_per_instance"], row["instances"], other["instances"]]
            light = row["compute_per_instance"] < LIGHT_MS
            found.append(Operator(name, aws, cloudlab, known, light))
    return found


def machines(operators: Sequence[Operator], python: str | None) -> Iterator[str]:
    """Return the lines of the table of costs on another kind of machine, a query held out."""
    names = ["same cost", "one speed factor", *([BOOSTED] if python else [])]
    others = [[o for o in operators if o.query != each.query] for each in operators]
    ratios = [np.ones(len(operators)), np.array([np.median([o.ratio for o in x]) for x in others])]
    if python is not None:
        tasks = [
            {
                "x": [o.features for o in rest],
                "y": [float(np.log(o.ratio)) for o in rest],
                "asked": [each.features],
            }
            for each, rest in zip(operators, others, strict=True)
        ]
        ratios.append(np.exp([answer for (answer,) in boosted(python, tasks)]))
    values = np.array(
        [
            [q_error(factor, each.ratio) for factor, each in zip(row, operators, strict=True)]
            for row in ratios
        ]
    )
    yield f"| operators | number | {' | '.join(names)} |"
    yield "|---" * (len(names) + 2) + "|"
    light = np.array([each.light for each in operators])
    for name, some in (("light", light), ("heavy", ~light), ("all", np.ones_like(light))):
        yield f"| {name} | {some.sum()} | {' | '.join(cells(values[:, some]))} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boosted")
    options = parser.parse_args()
    profiled = capsys(needed(RUNNING))
    if options.boosted is None:
        print("left out: the boosted model, because --boosted is not given")
    print("Median q-error of CPU times per record on CloudLab, from those on AWS:")
    print(*machines(profiled, options.boosted), sep="\n")


if __name__ == "__main__":
    sys.exit(exit_code(main, name="recorded_costs"))
