"""Rates of recorded stream jobs at numbers of instances that no fit used.

    python -m benchmarks.recorded_jobs [--phoebe FILE] [--dspbench FILE] [--boosted PYTHON]

The jobs were measured by others. ContTune's points are read from ../shared/data/running. Two more
sources are files of their repositories:

- FILE of ``--phoebe``: analytics/app/test/profiles2.csv of Phoebe (Apache-2.0), a Flink job. Of
  its rows, those that say that the job was backpressured are its capacity;
- FILE of ``--dspbench``: results/experiments/v2/throughput-full.csv of DSPBench (MIT), three
  applications on Storm and one on Spark, on 1 to 8 nodes.

PYTHON is the interpreter of a separate environment with scikit-learn, for the gradient-boosted
model. What is not given is left out, and the output says so.

A prediction's q-error is the larger of predicted / measured and measured / predicted. Two splits
hold numbers of instances back: each one in turn, and all above the k least, for every k from 2. The
value of a held-out number is the median over the k; tables have the median over the held-out
numbers, with 95% percentile-bootstrap intervals that resample them, for all models alike.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.released_data import SHARED, needed
from streamplace.capacity.sizing.scaling import expected_rate, fit_scaling
from streamplace.util.arrays import Floats
from streamplace.util.effect import RESAMPLES, SHARE

RUNNING = SHARED / "running"
SEED = 0
LEAST_COUNTS = 4  # of a series: with three, a split upwards has one number to predict
FAR = 2.0  # times the largest fitted number
NOISE, DRAWS, ASKED = 0.05, 2_000, 23  # of `noise`
BACKPRESSURED = "1"

Rates = Mapping[int, float]


class Series(NamedTuple):
    """Measured rates, by number of instances, of a job under otherwise equal conditions."""

    source: str
    name: str
    rates: Rates

    @property
    def project(self) -> str:
        """Who measured it."""
        return self.source.split(",")[0]


class Split(NamedTuple):
    """The numbers of instances that a fit sees, and one that it does not."""

    kind: str
    fitted: tuple[int, ...]
    asked: int


def splits(counts: Iterable[int]) -> Iterator[Split]:
    """Return the splits of a series: each number held back, and all above the k least, k >= 2."""
    ordered = sorted(counts)
    for i, asked in enumerate(ordered):
        yield Split("left out", tuple(ordered[:i] + ordered[i + 1 :]), asked)
    for k in range(2, len(ordered)):
        for asked in ordered[k:]:
            near = asked <= FAR * ordered[k - 1]
            kind = f"up to {FAR:g} x" if near else f"above {FAR:g} x"
            yield Split(kind, tuple(ordered[:k]), asked)


def q_error(predicted: float, measured: float) -> float:
    """Return the larger of predicted / measured and measured / predicted."""
    return max(predicted / measured, measured / predicted)


def one_instance(measured: Rates, count: int) -> float:
    """Return the rate per instance at the least number, times the number."""
    least = min(measured)
    return measured[least] / least * count


def nearest(measured: Rates, count: int) -> float:
    """Return the rate per instance at the nearest number, times the number: DS2's rule there."""
    close = min(measured, key=lambda known: abs(np.log(known / count)))
    return measured[close] / close * count


def law(measured: Rates, count: int) -> float:
    """Return the rate of the universal scalability law that `fit_scaling` fits."""
    fitted = fit_scaling(measured)
    return fitted.rate * count / fitted.scaling.cost(count)


def middle(measured: Rates, count: int) -> float:
    """Return the geometric mean of `law` and `expected_rate`, a correction that was tried."""
    return float(np.sqrt(law(measured, count) * expected_rate(measured, count)))


MODELS: dict[str, Callable[[Rates, int], float]] = {
    "one instance": one_instance,
    "nearest": nearest,
    "law": law,
    "expected_rate": expected_rate,
    "middle": middle,
}
BOOSTED, BOOSTED_ALONE = "boosted", "boosted, no twins"
"""The boosted model that learns from all other series, and from those of other projects only."""


def conttune(folder: Path) -> list[Series]:
    """Return ContTune's two series: the table of Nexmark Q1, and the points of its code."""
    value = json.loads((folder / "conttune-q1.json").read_text())
    table = {row["parallelism"]: row["mean"] for row in value["table"]}
    points = {int(count): rate for count, rate in value["other_points"]["points"].items()}
    return [Series("ContTune, Q1", "table", table), Series("ContTune, code", "points", points)]


def phoebe(file: Path) -> list[Series]:
    """Return the rates of Phoebe's backpressured profiling runs."""
    with file.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["isBckPres"] == BACKPRESSURED]
    return [Series("Phoebe", "cars", {int(row["scaleOut"]): float(row["avgThr"]) for row in rows})]


def dspbench(file: Path) -> list[Series]:
    """Return DSPBench's series: a number of nodes, and of instances of what is not varied."""
    found: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
    with file.open() as lines:
        for row in csv.DictReader(lines):
            match = re.fullmatch(r"(n\d+)_x(\d+)((?:_x\d+)*)", row["experiment"])
            if match is None:
                sys.exit(f"{file}: experiment {row['experiment']!r}: not n…_x…")
            nodes, count, others = match.groups()
            found[row["application"], nodes, others][int(count)] = float(row["average"])
    return [
        Series(f"DSPBench, {key[0].split('_')[0].title()}", "".join(key), rates)
        for key, rates in found.items()
        if len(rates) >= LEAST_COUNTS
    ]


def boosted(python: str, tasks: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Return the predictions of a gradient-boosted model for each task; see the script."""
    script = Path(__file__).with_name("recorded_jobs_boosted.py")
    run = subprocess.run(
        [python, "-P", str(script)],
        input=json.dumps({"seed": SEED, "tasks": tasks}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers: list[list[float]] = json.loads(run.stdout)
    return answers


def features(number: int, count: int, least: int) -> list[float]:
    """Return what the boosted model knows of a number of instances."""
    return [float(np.log(count)), float(np.log(count / least)), float(number)]


def task(several: Sequence[Series], own: int, split: Split, *, twins: bool) -> dict[str, Any]:
    """Return a task for `boosted`: the fitted numbers of a series, and all of the others.

    Without `twins`, the other series of the same project are left out. The target is the logarithm
    of the rate per instance over that at the least number, so that a tree without a split is the
    constant rule.
    """
    x, y = [], []
    for number, series in enumerate(several):
        if number != own and not twins and series.project == several[own].project:
            continue
        counts = split.fitted if number == own else tuple(series.rates)
        known = {count: series.rates[count] for count in counts}
        x += [features(number, count, min(counts)) for count in counts]
        y += [float(np.log(known[count] / one_instance(known, count))) for count in counts]
    return {"x": x, "y": y, "asked": [features(own, split.asked, min(split.fitted))]}


class Outcome(NamedTuple):
    """A split of a series, and the rate that each model predicts."""

    series: Series
    split: Split
    predicted: Mapping[str, float]

    def error(self, model: str) -> float:
        """Return a model's q-error."""
        return q_error(self.predicted[model], self.series.rates[self.split.asked])


def outcomes(several: Sequence[Series], python: str | None) -> list[Outcome]:
    """Return the predictions of all models for all splits of all series."""
    asked = [(i, split) for i, series in enumerate(several) for split in splits(series.rates)]
    answers: list[dict[str, float]] = []
    for i, split in asked:
        known = {count: several[i].rates[count] for count in split.fitted}
        answers.append({name: model(known, split.asked) for name, model in MODELS.items()})
    for name in (BOOSTED, BOOSTED_ALONE):
        if python is None:
            break
        tasks = [task(several, i, split, twins=name == BOOSTED) for i, split in asked]
        for answer, (ratio,) in zip(answers, boosted(python, tasks), strict=True):
            answer[name] = answer["one instance"] * float(np.exp(ratio))
    return [
        Outcome(several[i], split, answer)
        for (i, split), answer in zip(asked, answers, strict=True)
    ]


def errors(rows: Iterable[Outcome], models: Sequence[str]) -> Floats:
    """Return the q-errors, (models, held-out numbers): medians over the fits that each one has."""
    units: dict[tuple[str, str, int], list[list[float]]] = defaultdict(list)
    for row in rows:
        key = row.series.source, row.series.name, row.split.asked
        units[key].append([row.error(model) for model in models])
    return np.array([np.median(each, axis=0) for each in units.values()]).T


def median_intervals(values: Floats, seed: int = SEED) -> Floats:
    """Return 95% bootstrap intervals, (rows, 2), of the medians of rows, resampled alike."""
    picks = np.random.default_rng(seed).integers(values.shape[1], size=(RESAMPLES, values.shape[1]))
    tail = (1.0 - SHARE) / 2.0
    return np.quantile(np.median(values[:, picks], axis=2), [tail, 1.0 - tail], axis=1).T


def cells(values: Floats) -> list[str]:
    """Return the median of each row with its interval, as text."""
    pairs = zip(np.median(values, axis=1), median_intervals(values), strict=True)
    return [f"{middle:.3f} ({low:.3f} to {high:.3f})" for middle, (low, high) in pairs]


def table(rows: Sequence[Outcome]) -> Iterator[str]:
    """Return the lines of the main table, the law's greatest losses first."""
    models = list(rows[0].predicted)
    rivals = [("law", rival) for rival in ("nearest", BOOSTED, BOOSTED_ALONE) if rival in models]
    compared = [*rivals, ("middle", "law")]
    titles = [*models, *(f"{a} / {b}" for a, b in compared)]
    yield f"| source | held out | numbers | {' | '.join(titles)} |"
    yield "|---" * (len(titles) + 3) + "|"
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for row in rows:
        groups[row.series.source, row.split.kind].append(row)
    found = []
    for (source, kind), group in groups.items():
        values = errors(group, models)
        row_of = dict(zip(models, values, strict=True))
        ratios = np.array([row_of[a] / row_of[b] for a, b in compared])
        line = [source, kind, str(values.shape[1]), *cells(np.vstack([values, ratios]))]
        worst = float(np.median(ratios[: len(rivals)], axis=1).max())
        found.append((worst, f"| {' | '.join(line)} |"))
    yield from (line for _, line in sorted(found, reverse=True))


def by_fitted(rows: Sequence[Outcome]) -> Iterator[str]:
    """Return, by source and number of fitted numbers, predicted / measured above the fitted."""
    models = ("nearest", "law", "expected_rate")
    yield "| source | fitted | predictions | " + " | ".join(f"{name}" for name in models) + " |"
    yield "|---" * (len(models) + 3) + "|"
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for row in rows:
        size = len(row.split.fitted)
        if row.split.kind != "left out":
            groups[row.series.source, str(size) if size < LEAST_COUNTS else "more"].append(row)
    for (source, fitted), group in groups.items():
        texts = []
        for model in models:
            ratios = [row.predicted[model] / row.series.rates[row.split.asked] for row in group]
            texts.append(f"{np.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
        yield f"| {source} | {fitted} | {len(group)} | {' | '.join(texts)} |"


def noise() -> Iterator[str]:
    """Return, by fitted numbers, what the law predicts of a straight line that is measured badly.

    The numbers are Phoebe's, and the largest is asked for. Noise is lognormal.
    """
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    yield f"| fitted | {' | '.join(f'{share:.0%}' for share in shares)} |"
    yield "|---" * (len(shares) + 1) + "|"
    rng = np.random.default_rng(SEED)
    for fitted in ((2, 5), (2, 5, 8), (2, 5, 8, 11), (2, 5, 8, 11, 14, 17)):
        drawn = np.array(fitted) * np.exp(NOISE * rng.normal(size=(DRAWS, len(fitted))))
        ratios = [law(dict(zip(fitted, row, strict=True)), ASKED) / ASKED for row in drawn.tolist()]
        quantiles = np.quantile(ratios, shares)
        yield f"| {', '.join(map(str, fitted))} | {' | '.join(f'{q:.3f}' for q in quantiles)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phoebe", type=Path)
    parser.add_argument("--dspbench", type=Path)
    parser.add_argument("--boosted")
    options = parser.parse_args()
    several = conttune(needed(RUNNING))
    for name, file, reader in (
        ("phoebe", options.phoebe, phoebe),
        ("dspbench", options.dspbench, dspbench),
    ):
        if file is None:
            print(f"left out: --{name} is not given")
        else:
            several += reader(file)
    if options.boosted is None:
        print("left out: the boosted model, because --boosted is not given")
    print(f"seed {SEED}; {len(several)} series\n")
    rows = outcomes(several, options.boosted)
    print("Median q-error of the rate:", *table(rows), sep="\n")
    print("\nPredicted over measured, above the fitted numbers; median (least to largest):")
    print(*by_fitted(rows), sep="\n")
    print(
        f"\nThe law over a straight line at {ASKED}, fitted with noise of {NOISE:.0%}; quantiles:"
    )
    print(*noise(), sep="\n")


if __name__ == "__main__":
    sys.exit(exit_code(main, name="recorded_jobs"))
