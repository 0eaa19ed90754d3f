"""The best value known of every problem, which runs may only lower."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.real_sizes.problems import Recipe
from benchmarks.result_lines import read

PATH = Path(__file__).with_name("best.jsonl")
CLEAR = 1e-6  # relative difference from which a value counts as lower


@dataclass(frozen=True)
class Known:
    """The best value of a problem, and the placer, its limit and the commit that reached it."""

    value: float
    by: str


def known(path: Path = PATH) -> dict[str, Known]:
    """Return the best values by problem."""
    return {row["problem"]: Known(row["value"], row["by"]) for row in read(path)}


def lowered(before: dict[str, Known], rows: Iterable[dict[str, Any]]) -> dict[str, Known]:
    """Return the best values after some results.

    A placement on the fastest of the devices is also one on all of them.
    """
    best = dict(before)
    for row in rows:
        problem = str(replace(Recipe.of(row["problem"]), fastest=0))
        if problem not in best or row["value"] < best[problem].value * (1 - CLEAR):
            by = f"{row['placer'].partition('@')[0]}, {row['limit']}, {row['commit']}"
            best[problem] = Known(row["value"], by)
    return best


def update(files: Iterable[Path], path: Path = PATH) -> int:
    """Lower the stored values by the results in some files; return how many are new or lower."""
    before = known(path)
    after = lowered(before, (row for file in files for row in read(file)))
    lines = (
        json.dumps({"problem": problem, "value": best.value, "by": best.by})
        for problem, best in sorted(after.items())
    )
    path.write_text("".join(line + "\n" for line in lines))
    return sum(before.get(problem) != best for problem, best in after.items())
