"""The outcome of the study: tables with the published figures, what they show, and pictures."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from streamplace.studies.hsdag.comparisons import ablation, groups, makespans, published, rivals
from streamplace.studies.hsdag.findings import findings
from streamplace.studies.hsdag.results import Results
from streamplace.studies.hsdag.workloads import OWN
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Table

TITLE = "HSDAG (NeurIPS 2024): learned groups, plain search and ablations"


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the pictures and what they show."""
    results = Results(rows)
    pictures = {"curves": partial(_draw_curves, results), "ablation": partial(_draw_bars, results)}
    return Outcome(TITLE, findings(plan, results), tuple(_tables(results)), pictures)


def _tables(results: Results) -> Iterator[Table]:
    own = [one for one in results.workloads if one.source == OWN]
    for scale in dict.fromkeys(one.scale for one in own):
        part = [one for one in own if one.scale == scale]
        what = f"our networks with the ratios x {scale:g}"
        yield makespans(results, part, f"makespans-{scale:g}", what)
    for source in dict.fromkeys(one.source for one in results.workloads if one.source != OWN):
        part = [one for one in results.workloads if one.source == source]
        yield makespans(results, part, f"makespans-{source}", f"graphs of {source}")
    yield rivals(results, own)
    yield published(results, results.networks)
    yield ablation(results, results.networks)
    yield groups(results, results.workloads)


def _draw_curves(results: Results, path: Path) -> None:
    from streamplace.studies.hsdag.picture import curves_picture  # noqa: PLC0415 - heavy

    curves_picture(path, results)


def _draw_bars(results: Results, path: Path) -> None:
    from streamplace.studies.hsdag.picture import ablation_picture  # noqa: PLC0415 - heavy

    ablation_picture(path, results)
