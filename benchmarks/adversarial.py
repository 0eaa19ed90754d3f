"""Adversarial search: the problems on which one placer is worst beside another one.

    python -m benchmarks.adversarial --found FILE [--seconds 300] [--seed 0]

The method is PISA (problem-instance simulated annealing) of Coleman and Krishnamachari, "PISA: An
Adversarial Approach To Comparing Task Graph Scheduling Algorithms". It anneals over problems for
the largest ratio of two makespans. A run starts from a random chain of operators, and each step
changes one thing: it adds or removes a stream, or changes the weight of an operator, stream,
device or link by up to 0.1. Three things are our own: Metropolis's rule with temperatures from 0.1
to 0.003 accepts changes for the worse, speeds are at least 0.05 so that no time is infinite, and
there are larger and contended problems beside the small ones, all of whose placements `auto` tries.

Every placer that accepts evaluations gets the same number, so a result can be replayed. A ratio is
the median over three seeds, and ratios above 1 are confirmed with five others. FILE has a row per
run with its problem; a run that was stopped goes on from it.

Where STREAMPLACE_SAGA_PYTHON names an interpreter of an environment that has anrg-saga 2.1, `saga`
is the shortest schedule of all of SAGA's schedulers. It has runs on ``free`` networks only, since
SAGA knows no others. Since its schedulers choose the order on each device, `auto` may choose among
the orders too (``any``) beside it; all others run under ``fifo``.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, count, permutations
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

import streamplace as sp
from benchmarks.makespans.rivals import ONCE
from benchmarks.schedulers.instances import by_start, instance_of
from benchmarks.schedulers.library import FailedError, Library, Made
from sim import work_clock
from streamplace.errors import FormatError, StreamplaceError
from streamplace.files.atomic import write_text
from streamplace.files.reading import check, read_json
from streamplace.files.schema import ForeignForm
from streamplace.placers.registry import make_placer
from streamplace.problem.network import NetworkKind
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.scoring.rounding import ROUNDING

EVALUATIONS = 1_000
PLACERS = {
    "auto": f"auto:evaluations={EVALUATIONS}",
    "search": f"search:evaluations={EVALUATIONS}",
    "climb": f"climb:evaluations={EVALUATIONS}",
    "heft": "heft",
    "peft": "peft",
    "cpop": "cpop",
}
MEMBERS = {
    "heft:contention": "heft:contention=true",
    "critical-path": "critical-path:samples=50",
    "random-eft": "random-eft:samples=50",
    "enumerative": "enumerative",
    "metis-oracle": "metis-oracle",
    "single": "single",
}
"""Further placers that only `auto` is compared with."""
TEXTS = PLACERS | MEMBERS
SAGA, INTERPRETER = "saga", "STREAMPLACE_SAGA_PYTHON"
LIMIT = 1.0  # CPU seconds of a scheduler of SAGA
PAIRS = (
    *permutations(PLACERS, 2),
    *(("auto", rival) for rival in MEMBERS),
    ("auto", SAGA),
    (SAGA, "auto"),
)
"""Each placer, and the rival beside which it is to be worst."""
HOTTEST, COLDEST, STEPS = 0.1, 0.003, 200  # temperatures as relative losses of the ratio
STEP = 0.1  # largest change of a weight
SLOWEST = 0.05  # lowest speed of a device or link
SEEDS, CONFIRMING = (0, 1, 2), (3, 4, 5, 6, 7)
"""The seeds over which a run takes the median, and those that confirm what it found.

With one seed, runs find problems on which that seed is unlucky, which says nothing of others.
"""
DIGITS = 4  # of weights, so that a problem is the same after it was written

Score = Callable[[sp.Problem, int], float]
"""Returns the makespan of a placer on a problem with a seed, in seconds."""


@dataclass(frozen=True)
class Sizes:
    """The problems from which runs start: least and most operators and devices, and the network."""

    operators: tuple[int, int]
    devices: tuple[int, int]
    kind: NetworkKind = "free"


LARGER, CONTENDED, PUBLISHED = "larger", "contended", "published"
SIZES = {
    LARGER: Sizes((12, 20), (4, 6)),
    CONTENDED: Sizes((12, 20), (4, 6), "egress"),
    PUBLISHED: Sizes((3, 5), (3, 5)),
}


@dataclass(frozen=True)
class Instance:
    """A problem as weights; times are in seconds on a device or link of speed 1.

    Parameters
    ----------
    streams
        Source, target and weight; a source has a lower number than its target.
    links
        Speeds between pairs of devices in the order of `itertools.combinations`, in both
        directions.
    """

    kind: NetworkKind
    operators: tuple[float, ...]
    streams: tuple[tuple[int, int, float], ...]
    devices: tuple[float, ...]
    links: tuple[float, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Instance":
        """Return an instance that was written as JSON."""
        streams = tuple((int(a), int(b), float(weight)) for a, b, weight in value["streams"])
        rest = {name: tuple(value[name]) for name in ("operators", "devices", "links")}
        return cls(value["kind"], streams=streams, **rest)

    def problem(self) -> sp.Problem:
        """Return the problem of shortest makespan."""
        operators = [sp.Operator(f"v{v}", 1e6 * w, 0.0) for v, w in enumerate(self.operators)]
        streams = [
            sp.Stream(f"v{a}", f"v{b}", payload_bytes=125_000 * weight)
            for a, b, weight in self.streams
        ]
        pairs = zip(combinations(range(len(self.devices)), 2), self.links, strict=True)
        overrides = tuple(
            sp.LinkOverride(f"d{source}", f"d{target}", speed, 0.0)
            for (a, b), speed in pairs
            for source, target in ((a, b), (b, a))
        )
        network = sp.Network(self.kind, 1.0, 0.0, overrides=overrides)
        cluster = sp.Cluster([sp.Device(f"d{d}", s) for d, s in enumerate(self.devices)], network)
        graph = sp.StreamGraph(operators, streams, firing="all")
        return sp.Problem(graph, cluster, objective=sp.Makespan())


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


@dataclass(frozen=True)
class Worst:
    """The largest ratio of two makespans that was found, with its problem."""

    ratio: float
    instance: Instance


def chain(sizes: Sizes, rng: np.random.Generator) -> Instance:
    """Return a chain of operators on a complete network, with uniform weights."""
    operators = int(rng.integers(sizes.operators[0], sizes.operators[1] + 1))
    devices = int(rng.integers(sizes.devices[0], sizes.devices[1] + 1))
    weights = _drawn(rng, operators - 1, 0.0)
    return Instance(
        sizes.kind,
        _drawn(rng, operators, 0.0),
        tuple((v, v + 1, weight) for v, weight in enumerate(weights)),
        _drawn(rng, devices, SLOWEST),
        _drawn(rng, devices * (devices - 1) // 2, SLOWEST),
    )


def perturbed(instance: Instance, rng: np.random.Generator) -> Instance:
    """Return the instance with one change; it is the same one where the change is impossible."""
    return CHANGES[rng.integers(len(CHANGES))](instance, rng)


def _added(instance: Instance, rng: np.random.Generator) -> Instance:
    linked = {(a, b) for a, b, _ in instance.streams}
    free = [ab for ab in combinations(range(len(instance.operators)), 2) if ab not in linked]
    if not free:
        return instance
    a, b = free[rng.integers(len(free))]
    (weight,) = _drawn(rng, 1, 0.0)
    return replace(instance, streams=(*instance.streams, (a, b, weight)))


def _removed(instance: Instance, rng: np.random.Generator) -> Instance:
    if len(instance.streams) < 2:  # a graph has at least one stream
        return instance
    i = int(rng.integers(len(instance.streams)))
    return replace(instance, streams=instance.streams[:i] + instance.streams[i + 1 :])


def _stream(instance: Instance, rng: np.random.Generator) -> Instance:
    i = int(rng.integers(len(instance.streams)))
    a, b, weight = instance.streams[i]
    (weight,) = _changed((weight,), 0.0, rng)
    after = instance.streams[i + 1 :]
    return replace(instance, streams=(*instance.streams[:i], (a, b, weight), *after))


def _operator(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, operators=_changed(instance.operators, 0.0, rng))


def _device(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, devices=_changed(instance.devices, SLOWEST, rng))


def _link(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, links=_changed(instance.links, SLOWEST, rng))


CHANGES = (_added, _removed, _stream, _operator, _device, _link)


def _drawn(rng: np.random.Generator, count: int, low: float) -> tuple[float, ...]:
    return tuple(round(float(w), DIGITS) for w in rng.uniform(low, 1.0, count))


def _changed(weights: tuple[float, ...], low: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Return weights of which a random one is changed by up to `STEP`, within ``low`` and 1."""
    i = int(rng.integers(len(weights)))
    weight = min(max(weights[i] + rng.uniform(-STEP, STEP), low), 1.0)
    return (*weights[:i], round(float(weight), DIGITS), *weights[i + 1 :])


def makespan(text: str, problem: sp.Problem, seed: int) -> float:
    """Return the makespan of a placer's placement, in seconds, by the simulator."""
    placement = make_placer(text)(problem, np.random.default_rng(seed))
    return float(MakespanEvaluator(problem).makespans(placement.devices)[0])


def best_of(library: Library) -> Score:
    """Return a score: our makespan of the shortest schedule of all schedulers of a library."""

    @lru_cache(maxsize=1)
    def score(problem: sp.Problem) -> float:
        instance = instance_of("adversarial", problem)
        found = list[Made]()
        for name in library.names:
            with suppress(FailedError):
                found.append(library.schedule(name, instance, LIMIT))
        best = min(found, key=lambda made: made.makespan)
        return instance.replayed(best.devices, by_start(problem, best.start))

    return lambda problem, _: score(problem)


def pair(placer: str, rival: str, scores: Mapping[str, Score]) -> tuple[Score, Score]:
    """Return the scores of a placer and its rival, which may choose the order beside SAGA."""
    both = scores[placer], scores[rival]
    if placer == SAGA:
        return both[0], in_any_order(both[1])
    return (in_any_order(both[0]), both[1]) if rival == SAGA else both


def in_any_order(score: Score) -> Score:
    """Return a score of the problem in which a placer may choose the order."""
    objective = sp.Makespan(order="any")
    return lambda problem, seed: score(problem.with_objective(objective), seed)


def ratios(
    placer: Score, rival: Score, instance: Instance, seeds: Iterable[int] = (0,)
) -> list[float]:
    """Return the makespan of a placer over that of a rival for every seed; 1 if both are 0."""
    problem = instance.problem()
    pairs = ((placer(problem, seed), rival(problem, seed)) for seed in seeds)
    return [1.0 if ours == theirs else ours / max(theirs, 1e-9) for ours, theirs in pairs]


def anneal(
    placer: Score,
    rival: Score,
    sizes: Sizes,
    rng: np.random.Generator,
    steps: int,
    seeds: Iterable[int] = (0,),
) -> Worst:
    """Return the worst problem that one run of annealing finds, by the median over seeds."""
    current = chain(sizes, rng)
    worth = median(ratios(placer, rival, current, seeds))
    worst = Worst(worth, current)
    for temperature in np.geomspace(HOTTEST, COLDEST, steps):
        tried = perturbed(current, rng)
        found = median(ratios(placer, rival, tried, seeds))
        if found >= worth or rng.random() < np.exp((found / worth - 1.0) / temperature):
            current, worth = tried, found
        if worth > worst.ratio:
            worst = Worst(worth, current)
    return worst


def runs(seed: int) -> Iterator[tuple[dict[str, Any], np.random.Generator]]:
    """Return runs without end, each with its own random numbers: all pairs, then restarts.

    Pairs without `auto` have only runs on the published sizes.
    """
    of_auto = [both for both in PAIRS if both[0] == "auto"]
    others = [both for both in PAIRS if both[0] != "auto"]
    waiting = [both for both in of_auto if SAGA not in both]
    turns = (LARGER, of_auto), (PUBLISHED, others), (CONTENDED, waiting), (PUBLISHED, of_auto)
    for restart in count():
        for sizes, pairs in turns:
            for placer, rival in pairs:
                numbers = seed, restart, list(SIZES).index(sizes), PAIRS.index((placer, rival))
                key = {"placer": placer, "rival": rival, "sizes": sizes, "restart": restart}
                yield key, np.random.default_rng(numbers)


def row_of(
    key: dict[str, Any], rng: np.random.Generator, scores: Mapping[str, Score]
) -> dict[str, Any]:
    """Return the row of one run, with the ratios of other seeds where the worst is above 1."""
    names = key["placer"], key["rival"]
    placer, rival = pair(*names, scores)
    is_drawn = any(TEXTS[name] not in ONCE for name in names if name != SAGA)
    worst = anneal(placer, rival, SIZES[key["sizes"]], rng, STEPS, SEEDS if is_drawn else SEEDS[:1])
    again = ratios(placer, rival, worst.instance, CONFIRMING) if worst.ratio > 1.0 else []
    return {**key, "ratio": worst.ratio, "again": again, "problem": asdict(worst.instance)}


def main() -> None:
    """Add runs until the CPU time is spent; then print a table of the worst ratios."""
    options = _options()
    settings = {"seed": options.seed, "evaluations": EVALUATIONS, "steps": STEPS}
    try:
        rows = rows_of(options.found, settings) if options.found.exists() else []
    except StreamplaceError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    scores: dict[str, Score] = {name: partial(makespan, text) for name, text in TEXTS.items()}
    with work_clock.cpu_time(), ExitStack() as stack:
        if python := os.environ.get(INTERPRETER):
            scores[SAGA] = best_of(stack.enter_context(Library("SAGA", "on_saga", python)))
        else:
            print(f"{SAGA}: skipped, as {INTERPRETER} names no interpreter", file=sys.stderr)
        begun = work_clock.now()
        for key, rng in runs(options.seed):
            is_known = {key["placer"], key["rival"]} <= scores.keys()
            if not is_known or any(key.items() <= row.items() for row in rows):
                continue
            if work_clock.now() - begun >= options.seconds:
                break
            rows.append(row_of(key, rng, scores))
            lines = ",\n".join(json.dumps(row) for row in rows)
            head = json.dumps(settings)
            write_text(options.found, f'{{"settings": {head}, "rows": [\n{lines}\n]}}\n')
        report(rows)
        report_longer([row for row in rows if row["rival"] in scores], scores)


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


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--found", type=Path, required=True, help="JSON file of all runs")
    parser.add_argument("--seconds", type=float, default=300.0, help="CPU time to add")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
