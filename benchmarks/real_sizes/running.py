"""Runs of placers on recipes, one line of JSON for each, which an interrupted run continues."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import streamplace
from benchmarks.commit import DIRTY, ROOT, running_commit
from benchmarks.real_sizes.problems import Recipe
from benchmarks.real_sizes.rivals import outcome, rivals
from benchmarks.result_lines import add, read
from streamplace import Problem, StreamGraph
from streamplace.errors import PlacementError
from streamplace.placers.limits import MaxEvaluations, PlacerLimit

OTHER_CHECKOUT = """
import sys
import sim, streamplace # sim: a package of its own up to 0.4
sys.path.insert(0, {root!r})
from benchmarks.real_sizes.__main__ import main
main()
"""
"""A program that runs this package with the streamplace of the folder that it starts in."""

KEY = "problem", "placer", "limit", "seed", "commit"
"""What tells a line from others."""


@dataclass(frozen=True)
class Run:
    """One placer with one limit.

    Parameters
    ----------
    placer
        A name that `outcome` knows.
    label
        The commit that is measured.
    shown
        The name in the results.
    """

    placer: str
    limit: PlacerLimit
    seed: int
    label: str
    shown: str

    def key(self, recipe: Recipe) -> tuple[str, ...]:
        """Return what tells a line from others."""
        return (str(recipe), self.shown, limit_text(self.limit), str(self.seed), self.label)


def limit_text(limit: PlacerLimit) -> str:
    """Return a limit as results state it, such as ``0.1 s``."""
    unit = "evaluations" if isinstance(limit, MaxEvaluations) else "s"
    return f"{limit.value:g} {unit}"


def label() -> str:
    """Return the commit of the streamplace that runs."""
    return running_commit(Path(streamplace.__file__).parents[1])


def run_all(recipes: Iterable[Recipe], runs: list[Run], path: Path) -> None:
    """Add the lines that are missing.

    Partitioners have no commit of ours. Lines of a commit with changes are measured again.
    """
    kept = [key_of(row) for row in read(path) if not row["commit"].endswith(DIRTY)]
    known = {_identity(key) for key in kept}
    with path.open("a") as file:
        for recipe in recipes:
            wanted = [run for run in runs if _identity(run.key(recipe)) not in known]
            if not wanted:
                continue
            problem = recipe.problem()
            for run in wanted:
                problem.forget()
                try:
                    row = _row(recipe, problem, run)
                except PlacementError as error:
                    print(f"{recipe}: {error}", file=sys.stderr)
                    continue
                add(file, row)
                print(f"{recipe}: {run.shown}, {row['limit']}: {row['value']:.5g}", file=sys.stderr)


def _identity(key: tuple[str, ...]) -> tuple[str, ...]:
    return key[:-1] if key[1] in rivals() else key


def _row(recipe: Recipe, problem: Problem, run: Run) -> dict[str, Any]:
    found = outcome(problem, run.placer, run.limit, run.seed)
    numbers = {"value": found.value, "least": found.least, "cpu_s": found.cpu_s}
    return {
        **dict(zip(KEY, run.key(recipe), strict=True)),
        **{name: float(f"{value:.6g}") for name, value in numbers.items()},
        "used": len(np.unique(found.devices)),
        "graph": digest(problem.graph),
    }


def key_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what tells a line from others."""
    return tuple(row[name] for name in KEY)


def digest(graph: StreamGraph) -> str:
    """Return a short hash of the numbers of a graph."""
    columns = (
        *(graph.instructions, graph.stream_source, graph.stream_target),
        *(graph.selectivity, graph.stream_payload_bytes),
    )
    return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()[:12]


def in_other_checkout(folder: Path, arguments: list[str]) -> int:
    """Run the command with the streamplace of another checkout; return its exit code."""
    program = OTHER_CHECKOUT.format(root=str(ROOT))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
