"""The file of all runs of adversarial search, and its tables."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.adversarial.annealing import STEPS
from benchmarks.adversarial.problems import Instance
from benchmarks.adversarial.scores import (
    EVALUATIONS,
    PAIRS,
    SAGA,
    TEXTS,
    Score,
    makespan,
    pair,
    ratios,
)
from streamplace.errors import FormatError, StreamplaceError
from streamplace.files.reading import check, read_json
from streamplace.files.schema import ForeignForm
from streamplace.problem.network import NetworkKind
from streamplace.scoring.score import ROUNDING

SEEDS, CONFIRMING = (0, 1, 2), (3, 4, 5, 6, 7)
"""The seeds over which a run takes the median, and those that confirm what it found.

With one seed, runs find problems on which that seed is unlucky, which says nothing of others.
"""


class ProblemForm(ForeignForm):
    """The problem of a row: the fields of an `Instance`."""

    kind: NetworkKind
    operators: list[float] = Field(min_length=1)
    streams: list[Annotated[list[float], Field(min_length=3, max_length=3)]]
    devices: list[float] = Field(min_length=1)
    links: list[float]


class RowForm(ForeignForm):
    """A run."""

    placer: str
    rival: str
    sizes: Literal["larger", "contended", "published"]
    restart: int
    ratio: float
    again: list[float]
    problem: ProblemForm


class FoundForm(ForeignForm):
    """The file of all runs."""

    settings: dict[str, int]
    rows: list[RowForm]


def rows_of(path: Path, settings: dict[str, int]) -> list[dict[str, Any]]:
    """Return the rows of a file of runs.

    Raises
    ------
    StreamplaceError
        If it cannot be read, is not one, or its runs have other settings.
    """
    value: dict[str, Any] = read_json(path)
    check(FoundForm, value, str(path))
    if value["settings"] != settings:
        raise FormatError(f"{path}: has other settings: {value['settings']}")
    rows: list[dict[str, Any]] = value["rows"]
    for i, row in enumerate(rows):
        for role in ("placer", "rival"):
            if row[role] not in (*TEXTS, SAGA):
                raise FormatError(f"{path}: rows[{i}].{role}: unknown placer {row[role]!r}")
        try:
            Instance.from_json(row["problem"]).problem()
        except (StreamplaceError, ValueError) as error:
            raise FormatError(f"{path}: rows[{i}].problem: {error}") from None
    return rows


def report(rows: list[dict[str, Any]]) -> None:
    """Print the worst ratio of every pair, which was chosen, and the worst by the other seeds."""
    print(f"{len(rows)} runs of {STEPS} steps, {EVALUATIONS} evaluations a placement\n")
    print("| placer | rival | runs | worst ratio | its problem | worst median of other seeds |")
    print("|---|---|---|---|---|---|")
    for placer, rival in PAIRS:
        ours = [row for row in rows if (row["placer"], row["rival"]) == (placer, rival)]
        if ours:
            worst = max(ours, key=lambda row: row["ratio"])
            again = max(median(row["again"] or [row["ratio"]]) for row in ours)
            line = f"`{placer}` | `{rival}` | {len(ours)} | {worst['ratio']:.3f}"
            print(f"| {line} | {worst['sizes']} | {again:.3f} |")
    print()


def report_longer(rows: list[dict[str, Any]], scores: Mapping[str, Score]) -> None:
    """Print the ratios of `auto` with more evaluations on all problems that it lost."""
    lost = [row for row in rows if row["placer"] == "auto" and row["ratio"] > 1.0 + ROUNDING]
    for times in (1, 3, 10) if lost else ():
        auto = partial(makespan, f"auto:evaluations={times * EVALUATIONS}")
        longer: Mapping[str, Score] = {**scores, "auto": auto}
        medians = []
        for row in lost:
            problem = Instance.from_json(row["problem"])
            both = pair("auto", row["rival"], longer)
            medians.append(median(ratios(*both, problem, CONFIRMING)))
        above = sum(each > 1.0 + ROUNDING for each in medians)
        print(
            f"`auto` with {times} x {EVALUATIONS} evaluations on the {len(lost)} problems that it "
            f"lost: worst median of other seeds {max(medians):.3f}, above 1 on {above}"
        )
