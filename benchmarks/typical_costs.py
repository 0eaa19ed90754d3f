"""Whether the intervals of typical costs hold the measurements of sources that they do not know.

    python -m benchmarks.typical_costs

Each project's figures are left out in turn, and each application's. What is typical by the others
has a 90% interval, and the share of the left-out figures that it holds is printed, with the median
width of the intervals, as a factor. Selectivities below 0.01 count as 0.01, and those of sources
and maps are 1 by definition. Machines: CAPSys's figures are of AWS, and ../shared/data/running has
those of CloudLab for most of its operators.

Whole jobs: the applications of which the table has all CPU times and selectivities of inner
operators. One core runs all of their operators, and typical values by the other projects fill all
costs, with types by the names of operators. The range of the rate that the core sustains is held
against the rate by the measured costs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from math import inf, log
from statistics import median
from typing import NamedTuple

import streamplace as sp
from benchmarks.recorded_costs import capsys
from benchmarks.recorded_jobs import RUNNING
from streamplace.display.text import rounded
from streamplace.formats.speeds import ASSUMED_MIPS
from streamplace.formats.typical_costs import (
    KINDS,
    MAP,
    SINK,
    SOURCE,
    Figure,
    Kind,
    TypicalCosts,
    fill,
    sources,
    type_in_name,
    types_known,
    typical_costs,
)
from streamplace.latency.cost_basis import cost_basis
from streamplace.problem.operators import UNKNOWN

DEVIATIONS = 1.6448536269514722  # quantile .95 of the normal distribution
ASKED, MOST_WIDTH = (0.85, 0.95), 8.0  # of an interval of 90% that is more than a guess
JOBS = {
    ("capsys", "Q1-sliding"): ["Source Transform SlidingWindow Sink"],
    ("capsys", "Q2-join"): [
        "SourcePersons TransformPersons TumblingEventTimeWindows Sink",
        "SourceAuctions TransformAuctions TumblingEventTimeWindows",
    ],
    ("capsys", "Q3-inf"): ["Source Transform Compress Inference Sink"],
    ("capsys", "Q4-join"): [
        "SourcePersons Filter IncrementalJoin Sink",
        "SourceAuctions IncrementalJoin",
    ],
    ("capsys", "Q6-session"): ["Source SessionWindow Sink"],
    ("dspbench", "frauddetection"): ["source predictor sink"],
    ("dspbench", "logprocessing"): [
        "source volumeCounter sink",
        "source statusCounter sink",
        "source geoLocator geoSummarizer sink",
    ],
    ("dspbench", "sentimentanalysis"): ["source classifier sink"],
    ("dspbench", "spikedetection"): ["source movingAverage spikeDetector sink"],
    ("dspbench", "traffic-monitoring"): ["source mapMatcherBolt speedCalculatorBolt sink"],
    ("dspbench", "wordcount"): ["source splitter counter sink"],
}
"""Source and application -> paths of operators, by the names of the table."""


class Held(NamedTuple):
    """A figure that was left out, whether its interval holds it, and the width as a factor."""

    figure: Figure
    holds: bool
    width: float


def project(figure: Figure) -> str:
    """Return who made the measurements of a figure."""
    return figure.source.partition("-")[0]


def application(figure: Figure) -> tuple[str, str]:
    """Return the application of a figure, with its project."""
    return project(figure), figure.application


def of_flink(figure: Figure) -> bool:
    """Return whether a figure was measured on Flink."""
    return str(sources()[figure.source]["engine"]).startswith("Flink")


def left_out(
    figures: Iterable[Figure], group_of: Callable[[Figure], Hashable], kind: Kind
) -> Iterator[Held]:
    """Return the figures of a kind, each with the interval by the figures of other groups."""
    groups: dict[Hashable, list[Figure]] = defaultdict(list)
    for each in figures:
        if kind != "selectivity" or each.type != MAP:
            groups[group_of(each)].append(each)
    for name, group in groups.items():
        others = (several for other, several in groups.items() if other != name)
        rest = TypicalCosts(each for several in others for each in several)
        if not any(each.kind == kind for each in rest.figures):
            continue
        for each in group:
            if each.kind == kind:
                found = rest.of(kind, each.type)
                ends = [log(found.quantile(sign * DEVIATIONS)) for sign in (-1.0, 1.0)]
                holds = ends[0] <= each.log <= ends[1]
                yield Held(each, holds, found.quantile(DEVIATIONS) / found.quantile(-DEVIATIONS))


def rows(figures: Iterable[Figure], name: str, group_of: Callable[[Figure], Hashable]) -> list[str]:
    """Return the rows of the main table for what is left out in turn, and one of all kinds."""
    several = list(figures)
    by_kind = {KINDS[kind]: list(left_out(several, group_of, kind)) for kind in KINDS}
    by_kind["all"] = [each for held in by_kind.values() for each in held]
    return [_row(name, kind, held) for kind, held in by_kind.items() if held]


def _row(name: str, kind: str, held: list[Held]) -> str:
    share, width = sum(each.holds for each in held) / len(held), median(h.width for h in held)
    met = ASKED[0] <= share <= ASKED[1] and width <= MOST_WIDTH
    verdict = (
        "met"
        if met
        else "missed: "
        + ", ".join(
            text
            for text, is_missed in (
                (f"{share:.0%}", not ASKED[0] <= share <= ASKED[1]),
                (f"factor {width:,.0f}", width > MOST_WIDTH),
            )
            if is_missed
        )
    )
    return f"| {name} | {kind} | {len(held)} | {share:.1%} | {width:,.0f} | {verdict} |"


def by_project(figures: Iterable[Figure]) -> Iterator[str]:
    """Return the lines of the table of instructions by the project that was left out."""
    yield "| left out | figures | held | below | above |"
    yield "|---|---|---|---|---|"
    groups: dict[str, list[tuple[Held, float]]] = defaultdict(list)
    for each in left_out(figures, project, "cpu_us"):
        own = project(each.figure)
        rest = TypicalCosts(f for f in typical_costs().figures if project(f) != own)
        middle = log(rest.of("cpu_us", each.figure.type).quantile(0.0))
        groups[project(each.figure)].append((each, each.figure.log - middle))
    for name, held in groups.items():
        missed = [off for each, off in held if not each.holds]
        share = 1.0 - len(missed) / len(held)
        below = sum(off < 0 for off in missed)
        yield f"| {name} | {len(held)} | {share:.1%} | {below} | {len(missed) - below} |"


def table() -> Iterator[str]:
    """Return the lines of the table of typical values, with their intervals of 90%."""
    yield "| type | figures | microseconds of a core | selectivity | payload in bytes |"
    yield "|---|---|---|---|---|"
    costs = typical_costs()
    counts = Counter(each.type for each in costs.figures if each.kind == "cpu_us")
    for name in types_known():
        cells = [
            "none" if kind != "cpu_us" and name == SINK else _cell(costs, kind, name)
            for kind in KINDS
        ]
        yield f"| {name} | {counts[name] or sum(counts.values())} | {' | '.join(cells)} |"


def _cell(costs: TypicalCosts, kind: Kind, name: str) -> str:
    found = costs.of(kind, name)
    if not found.spread:
        return rounded(found.mean, 3)
    low, high = (rounded(found.quantile(sign * DEVIATIONS), 2) for sign in (-1.0, 1.0))
    return f"{rounded(found.mean, 3)} ({low} to {high})"


def names() -> str:
    """Return how many names of inner operators say the type that the table gives them."""
    inner = [
        (row["type"], type_in_name(row["operator"]))
        for source in sources().values()
        for row in source["figures"]
        if row["type"] not in (SOURCE, SINK) and row["operator"][0:6] != "beyond"
    ]
    right, silent = sum(a == b for a, b in inner), sum(b == "other" for _, b in inner)
    return f"{right} of {len(inner)} names say the type, {silent} none, and the others another one"


def jobs() -> Iterator[str]:
    """Return the lines of the table of whole jobs."""
    yield "| job | by measured costs | range of 90% | factor | held |"
    yield "|---|---|---|---|---|"
    known = typical_costs().figures
    for (source, name), paths in JOBS.items():
        steps = [step for path in paths for step in pairwise(path.split())]
        figures = {
            row["operator"]: row
            for row in sources()[source]["figures"]
            if row["application"] == name
        }
        names = dict.fromkeys(each for step in steps for each in step)
        graph = sp.StreamGraph(
            [sp.Operator(each, UNKNOWN, UNKNOWN) for each in names],
            [sp.Stream(a, b, selectivity=UNKNOWN) for a, b in steps],
            source_rate=1.0,
        )
        measured = graph.with_numbers(
            instructions=[figures[each]["cpu_us"] * ASSUMED_MIPS for each in graph.names],
            payload_bytes=[0.0] * len(graph.names),
            selectivity=[figures[each.source].get("selectivity", 1.0) for each in graph.streams],
        )[0]
        rate = sp.place(measured, "1x2500", placer="single").max_source_rate or inf
        rest = TypicalCosts(each for each in known if project(each) != source)
        guess = sp.place(fill(graph, rest).graph, "1x2500", placer="single")
        found = cost_basis(0, 0, guess.placement).sustained
        assert found is not None
        low, high = found
        held = "yes" if low <= rate <= high else "no"
        shown = [rounded(each, 3) for each in (rate, low, high, high / low)]
        yield f"| {name} | {shown[0]} | {shown[1]} to {shown[2]} | {shown[3]} | {held} |"


def main() -> None:
    """Print the tables."""
    figures = typical_costs().figures
    print(*table(), sep="\n")
    print("\n| left out in turn | number | figures | held by 90% | median width | goal |")
    print("|---|---|---|---|---|---|")
    print(*rows(figures, "project", project), sep="\n")
    print(*rows(figures, "application", application), sep="\n")
    print(*rows(filter(of_flink, figures), "project, Flink alone", project), sep="\n")
    print("\nWhole jobs on one core, in source tuples/s, the project left out:")
    print(*jobs(), sep="\n")
    print("\nInstructions, a project left out:")
    print(*by_project(figures), sep="\n")
    print(f"\nInner operators whose code has a name: {names()}.")
    if not RUNNING.is_dir():
        print("left out: CloudLab, because there is no data in ../shared")
        return
    ratios = [each.ratio for each in capsys(RUNNING)]
    print(
        f"CPU time of an operator on CloudLab over that on AWS: {min(ratios):.2f} to "
        f"{max(ratios):.2f}, median {median(ratios):.2f}, of {len(ratios)} operators."
    )


if __name__ == "__main__":
    main()
