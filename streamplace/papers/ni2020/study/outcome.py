"""Table 1 of Ni et al. (AAAI 2020) with published and measured figures, Figures 5 and 6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os.path import isfile  # False for names that are no path, unlike `Path.is_file`
from pathlib import Path
from typing import cast

import numpy as np

from streamplace.errors import FormatError
from streamplace.files.training_logs import POLICY
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.table import Cell, Table
from streamplace.pictures.comparison import devices_picture, throughput_picture
from streamplace.problem.objective import Model, Throughput
from streamplace.util.arrays import Floats
from streamplace.util.effect import mean_intervals
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison, Figures
from streamplace.workflows.differences import KEEPS_UP, TIE, RelativeThroughput

REFERENCE = "METIS"
PLAIN = {
    REFERENCE: "metis",
    "METIS, weights by utilisation": "metis:weights=utilisation",
    "METIS recursive": "metis-recursive",
    "METIS recursive, by utilisation": "metis-recursive:weights=utilisation",
    "METIS oracle": "metis-oracle",
    "METIS oracle, by utilisation": "metis-oracle:weights=utilisation",
    "METIS recursive oracle": "metis-recursive-oracle",
    "METIS recursive oracle, by utilisation": "metis-recursive-oracle:weights=utilisation",
    "METIS sweep": "metis-sweep",
    "fuser": "fuser",
    "fuser oracle": "fuser-oracle",
}
OURS = {
    "policy, network alone": "policy:refine=0",
    "policy, one pass": "policy",
    "policy, best of 16": "policy:samples=16",
    "annealing": "search",
}
SYSTEMS = {**PLAIN, **OURS}
"""Placers by the name of their row."""
WEIGHTS = {"B": "b.safetensors", "B+F1": "b-f1.safetensors", "B+F1&F2": "b-f1-f2.safetensors"}
"""The paper's allocators, and the files of their weights."""
DRAWN = (
    *(REFERENCE, "METIS recursive oracle", "fuser", "policy, one pass", "annealing"),
    *reversed(WEIGHTS),
    *("METIS oracle", "METIS sweep", "fuser oracle"),
)
"""The systems in the figures, as far as they were run; the first six have colours."""

HEAD = (
    "system",
    "mean",
    "Q1",
    "median",
    "better than METIS",
    "worse than METIS",
    "minimum",
    "share > 0.97",
    "mean difference from METIS",
)
HIGHEST = ("mean", "Q1", "median", "minimum", "share > 0.97")
"""Those of which the highest value is the best."""

RULES = ("better", "not worse", "better where METIS is below the full rate")
"""What the share of graphs that are better than METIS may count; the paper does not say."""

TITLE = "Ni et al. (AAAI 2020): allocators on the branched benchmark"
FOLLOWED = "path-average"  # the model of the published figures


@dataclass(frozen=True)
class Published:
    """A row of Table 1 and what section 5 adds; pairs are at 1e4 and at 2e4 tuples/s.

    The minimum and the share above .97 were measured on the paper's 630 test graphs at 1e4
    tuples/s, and published as throughputs, from which they follow.
    """

    mean: tuple[float | None, ...] = (None,)
    q1: tuple[float | None, ...] = (None,)
    median: tuple[float | None, ...] = (None,)
    better: tuple[float | None, ...] = (None,)
    min: float | None = None
    above: str | None = None


PUBLISHED = {
    "METIS, k = 5": Published((0.81, 0.48), (0.70, 0.37), (0.88, 0.46), min=0.222, above="0.30"),
    "B": Published((0.82, 0.45), (0.73, 0.37), (0.87, 0.44), (0.51, 0.39), 0.214, "0.27"),
    "B+F1": Published((0.87, 0.48), (0.80, 0.40), (0.91, 0.47), (0.59, 0.47)),
    "B+F1&F2": Published((0.91, 0.53), (0.87, 0.43), (0.97, 0.50), (0.76, 0.65), 0.447, "> 0.50"),
    "IBM fuser": Published(min=0.036, above="0.16"),
}


def placers(weights: Path | None) -> Mapping[str, str]:
    """Return the placers by the names of their rows.

    Parameters
    ----------
    weights
        See `weight_files`; None: without the paper's allocators.

    Raises
    ------
    FormatError
        If a file is missing.
    """
    if weights is None:
        return SYSTEMS
    own = {name: f"policy:file={file}" for name, file in weight_files(weights).items()}
    return {**PLAIN, **own, **OURS}


def weight_files(weights: Path) -> dict[str, Path]:
    """Return the weights of each of the paper's allocators by the name of its row.

    Parameters
    ----------
    weights
        A folder with the files of `WEIGHTS`, or with runs that have their names without a suffix.

    Raises
    ------
    FormatError
        If a file is missing.
    """
    found = {}
    for name, file in WEIGHTS.items():
        config = file.removesuffix(".safetensors")
        places = weights / file, weights / config / POLICY
        known = next(filter(isfile, places), None)
        if known is None:
            raise FormatError(
                f"{weights}: has no {file}, the weights of {name}; take those of a release, or "
                f"train them with the config {config} and -o {weights / config}"
            )
        found[name] = known
    return found


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the figures and what they show."""
    rates, systems = plan.settings["source_rates"], plan.settings["systems"]
    measured = {
        model: _comparison(model, systems, rates, [row for row in rows if row["model"] == model])
        for model in plan.settings["models"]
    }
    tables = [_table(model, found) for model, found in measured.items()]
    tables.append(_by_rule(measured[FOLLOWED]))
    pictures = {}
    for model, found in measured.items():
        drawn = _chosen(found)
        pictures[f"throughput-{model}"] = partial(throughput_picture, comparison=drawn)
        pictures[f"devices-{model}"] = partial(devices_picture, comparison=drawn)
    return Outcome(TITLE, _findings(measured), tuple(tables), pictures)


def _comparison(
    model: str, systems: Sequence[str], rates: Sequence[float], rows: Sequence[Row]
) -> Comparison:
    graphs = len(rows) // len(systems)

    def array(name: str) -> Floats:  # rates, systems, graphs
        found = np.array([row[name] for row in rows], dtype=np.float64)
        return found.reshape(graphs, len(systems), len(rates)).transpose(2, 1, 0)

    return Comparison(
        "",
        CaseList(tuple(str(row["graph"]) for row in rows[:: len(systems)])),
        RelativeThroughput(Throughput(model=cast("Model", model))),
        tuple(systems),
        tuple(rates),
        Figures.of(array("relative_throughput"), devices_used=array("devices")),
    )


def _chosen(found: Comparison) -> Comparison:
    """Return the systems of the figures only."""
    return found.of_placers([name for name in DRAWN if name in found.placers])


def _table(model: str, found: Comparison) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    if model == FOLLOWED:
        rows += [(f"{name}, published", _published(row)) for name, row in PUBLISHED.items()]
    rows += [(name, _measured(found, j)) for j, name in enumerate(found.placers)]
    caption = f"relative throughput over {found.cases} under {model}"
    return Table(model, caption, HEAD, rows, _rates(found), dict.fromkeys(HIGHEST, max))


def _by_rule(found: Comparison) -> Table:
    """Return the shares of graphs that count as better than METIS, by rule for ties."""
    rows: list[tuple[str, Sequence[Cell]]] = [
        (f"{name}, published", (row.better, row.better, row.better))
        for name, row in PUBLISHED.items()
        if row.better != (None,)
    ]
    reference = found.values[:, found.placers.index(REFERENCE)]
    below = reference < 1.0 - TIE
    for j, name in enumerate(found.placers):
        over = found.values[:, j] - reference
        better = over > TIE
        shares = (
            better.mean(axis=1),
            (over >= -TIE).mean(axis=1),
            (better & below).sum(axis=1) / np.maximum(below.sum(axis=1), 1),
        )
        if name != REFERENCE:
            rows.append((name, [tuple(map(float, share)) for share in shares]))
    caption = f"share of {found.cases} on which a system counts as better than METIS, by rule"
    best = dict.fromkeys(RULES, max)
    return Table("better", caption, ("system", *RULES), rows, _rates(found), best)


def _rates(found: Comparison) -> list[str]:
    return [_rate_text(rate) for rate in found.source_rates]


def _rate_text(rate: float | None) -> str:
    return f"{rate:g} tuples/s"


def _published(row: Published) -> Sequence[Cell]:
    return (row.mean, row.q1, row.median, row.better, None, row.min, row.above, None)


def _measured(found: Comparison, j: int) -> Sequence[Cell]:
    """Return the figures of one system; a pair holds those at each source rate."""
    reached = found.values[:, j]
    over = reached - found.values[:, found.placers.index(REFERENCE)]

    def pair(values: Floats) -> tuple[float, ...]:
        return tuple(map(float, values))

    better: Cell = pair((over > TIE).mean(axis=1))
    worse: Cell = pair((over < -TIE).mean(axis=1))
    difference: Cell = tuple(f"{low:+.3f} to {high:+.3f}" for low, high in mean_intervals(over))
    if found.placers[j] == REFERENCE:
        better = worse = difference = None
    return (
        pair(reached.mean(axis=1)),
        pair(np.percentile(reached, 25, axis=1)),
        pair(np.median(reached, axis=1)),
        better,
        worse,
        pair(reached.min(axis=1)),
        pair((reached > KEEPS_UP).mean(axis=1)),
        difference,
    )


def _findings(measured: Mapping[str, Comparison]) -> tuple[str, ...]:
    """Return what the first source rate shows under the model of the published figures."""
    found = measured[FOLLOWED]
    means = dict(zip(found.placers, found.values[0].mean(axis=1), strict=True))
    best = max(means, key=means.__getitem__)
    texts = [f"The highest mean is that of {best}, {means[best]:.3f}."]
    texts += [
        f"{name} reaches a mean of {means[name]:.3f}; published is {PUBLISHED[row].mean[0]:.2f}."
        for name, row in (
            (REFERENCE, "METIS, k = 5"),
            *((name, name) for name in PUBLISHED if name in means),
        )
    ]
    rival = max((name for name in PLAIN if name in means), key=means.__getitem__)
    for name in ("B+F1&F2", "policy, one pass", "annealing"):
        if name in means:
            j, k = found.placers.index(name), found.placers.index(rival)
            over = found.values[0, j] - found.values[0, k]
            low, high = mean_intervals(over[None])[0]
            texts.append(
                f"{name} differs from the strongest partitioner, {rival}, by {over.mean():+.3f} "
                f"(95% interval {low:+.3f} to {high:+.3f})."
            )
    if not any(name in means for name in ("B", "B+F1", "B+F1&F2")):
        texts.append("The paper's allocators were left out, since no weights were passed.")
    return tuple(texts)
