"""Figures of the campaign of latencies: answers against measurements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.result_lines import read
from benchmarks.testbed.latency.answers import ANSWERS, FACTORS
from benchmarks.testbed.latency.campaign import RESULTS
from benchmarks.testbed.latency.simulated import QUANTITIES
from streamplace.files import write_json

SUMMARY = "latency.json"
HELD, MISSED = 0.9, 0.95  # shares that are required
LOW, HIGH = 5, 95  # percentiles of ratios
Record = Mapping[str, Any]


class Checked(NamedTuple):
    """An answer that measurements agree with or not."""

    answer: str
    factor: float
    agrees: bool
    expected: float
    """Share of short simulations that agree."""


@dataclass(frozen=True)
class Figures:
    """Figures of a campaign.

    Parameters
    ----------
    answers
        Answer -> how often it was given.
    feasible, held
        Answers ``feasible`` whose placement was measured, and those of them whose limit held.
    held_expected
        Mean share of simulations as long as the measurement in which the limit of such an answer
        held.
    infeasible, missed
        Answers ``infeasible`` about graphs that were measured, and those of them whose limit no
        measured placement kept.
    ratios
        Simulation -> quantity -> 5th percentile, median and 95th percentile of measured /
        simulated.
    """

    graphs: int
    placements: int
    answers: dict[str, int]
    feasible: int
    held: int
    held_expected: float
    infeasible: int
    missed: int
    ratios: dict[str, dict[str, tuple[float, float, float]]]

    @property
    def good(self) -> bool:
        """Whether as many limits were kept and missed as required."""
        return self.held >= HELD * self.feasible and self.missed >= MISSED * self.infeasible


def run(folder: Path) -> int:
    """Print the figures as Markdown and write them; return 0 if they are good."""
    answers, runs = read(folder / ANSWERS), read(folder / RESULTS)
    if not answers or not runs:
        print(f"{folder / RESULTS}: no results; run the campaign first")
        return 1
    found = figures(answers, runs)
    for line in (*table(found), "", *by_factor(answers, runs)):
        print(line)
    write_json(
        folder / SUMMARY,
        {"figures": asdict(found) | {"good": found.good}, "answers": answers, "runs": runs},
    )
    print(f"\n{folder / SUMMARY}")
    return 0 if found.good else 1


def checked(answers: Sequence[Record], runs: Sequence[Record]) -> Iterator[Checked]:
    """Yield the answers that measurements can contradict.

    ``feasible`` is about the placement that was found, ``infeasible`` about all of a graph.
    """
    measured = {(one["graph"], tuple(one["placement"])): one for one in runs}
    for about in answers:
        of_graph = [one for one in runs if one["graph"] == about["graph"]]
        for one in about["answers"]:
            quantity, limit_s = one["quantity"], one["limit_s"]
            own = measured.get((about["graph"], tuple(one["placement"])))
            if one["answer"] == "feasible" and own is not None:
                expected = float(np.mean(np.array(own["short_s"][quantity]) <= limit_s))
                holds = own["measured_s"][quantity] <= limit_s
                yield Checked("feasible", one["factor"], holds, expected)
            elif one["answer"] == "infeasible" and of_graph:
                missed = all(each["measured_s"][quantity] > limit_s for each in of_graph)
                short = np.array([each["short_s"][quantity] for each in of_graph])
                yield Checked("infeasible", one["factor"], missed, float(np.mean(short > limit_s)))


def figures(answers: Sequence[Record], runs: Sequence[Record]) -> Figures:
    """Return the figures of answers about graphs, and of runs of their placements."""
    kinds = [one["answer"] for about in answers for one in about["answers"]]
    found = list(checked(answers, runs))
    feasible = [one for one in found if one.answer == "feasible"]
    infeasible = [one for one in found if one.answer == "infeasible"]
    return Figures(
        graphs=len({one["graph"] for one in runs}),
        placements=len(runs),
        answers={kind: kinds.count(kind) for kind in ("feasible", "infeasible", "unproven")},
        feasible=len(feasible),
        held=sum(one.agrees for one in feasible),
        held_expected=float(np.mean([one.expected for one in feasible])) if feasible else 1.0,
        infeasible=len(infeasible),
        missed=sum(one.agrees for one in infeasible),
        ratios={
            to: {quantity: _ratios(runs, to, quantity) for quantity in QUANTITIES}
            for to in ("simulated_s", "same_arrivals_s")
        },
    )


def _ratios(runs: Sequence[Record], to: str, quantity: str) -> tuple[float, float, float]:
    ratios = [one["measured_s"][quantity] / one[to][quantity] for one in runs]
    low, middle, high = np.percentile(ratios, (LOW, 50, HIGH)).tolist()
    return low, middle, high


def table(found: Figures) -> list[str]:
    """Return the lines of a table of the figures."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.answers.items())
    rows = {
        "graphs, placements measured": f"{found.graphs}, {found.placements}",
        "answers": kinds,
        f"`feasible` and measured: the limit holds (at least {HELD:.0%})": (
            f"{found.held} of {found.feasible} ({found.held / max(1, found.feasible):.1%})"
        ),
        "the same in simulations of the measurement's length": f"{found.held_expected:.1%}",
        f"`infeasible`: every measured placement misses the limit (at least {MISSED:.0%})": (
            f"{found.missed} of {found.infeasible}"
        ),
    }
    names = {"simulated_s": "a long simulation", "same_arrivals_s": "one with the same arrivals"}
    for to, of_quantity in found.ratios.items():
        for quantity, values in of_quantity.items():
            shown = ", ".join(f"{value:.2f}" for value in values)
            rows[f"measured {quantity} / that of {names[to]}: {LOW}%, 50%, {HIGH}%"] = shown
    rows["as good as required"] = "yes" if found.good else "NO"
    lines = ["| figure | value |", "|---|---|"]
    return lines + [f"| {name} | {cell} |" for name, cell in rows.items()]


def by_factor(answers: Sequence[Record], runs: Sequence[Record]) -> list[str]:
    """Return the lines of a table with a row for each factor of limits."""
    found = list(checked(answers, runs))
    every = [one for about in answers for one in about["answers"]]
    lines = ["| limit / simulated | feasible | held | infeasible | missed | unproven |"]
    lines.append("|---" * 6 + "|")
    for factor in FACTORS:
        own = [one for one in found if one.factor == factor]
        kinds = [one["answer"] for one in every if one["factor"] == factor]
        cells: list[str] = []
        for kind in ("feasible", "infeasible"):
            agree = [one.agrees for one in own if one.answer == kind]
            cells += [str(kinds.count(kind)), f"{sum(agree)} of {len(agree)}"]
        lines.append(f"| {factor:g} | {' | '.join(cells)} | {kinds.count('unproven')} |")
    return lines
