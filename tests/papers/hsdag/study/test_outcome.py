"""Tests for the outcome of the study of HSDAG: figures of results that are known."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace.papers.hsdag.study.comparisons import OWN_BEST, Results
from streamplace.papers.hsdag.study.outcome import outcome
from streamplace.papers.hsdag.study.registered import (
    ACCELERATOR_ONLY,
    CPU_ONLY,
    DNN,
    HSDAG,
    METIS_GROUPS,
    NETWORKS,
    NO_STRUCTURE,
    OWN,
    PLACETO,
    RATIO_SCALES,
    UNTRAINED,
    Workload,
    below_cpu,
)
from streamplace.papers.hsdag.study.systems import (
    FIXED,
    RANDOM_GROUPS,
    SEARCH,
    SEARCH_GROUPS,
)
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.workloads import LONG_SEARCH

KNOWN_S = 0.02
LEVELS = {
    LONG_SEARCH: 1.0,
    SEARCH: 1.01,
    SEARCH_GROUPS: 1.04,
    RANDOM_GROUPS: 1.5,
    HSDAG: 1.05,
    METIS_GROUPS: 1.1,
    PLACETO: 1.2,
    NO_STRUCTURE: 1.155,
    UNTRAINED: 1.05,
}
SEEDS = (0.99, 1.0, 1.01)


def _row(workload: Workload, system: str, repeat: int, over: float, **others: Any) -> Row:
    about = {**workload.settings, "system": system, "repeat": repeat}
    return {**about, "best_s": KNOWN_S * over, "evaluations": 2100, "cpu_s": 3.0, **others}


def _rows(**levels: float) -> list[Row]:
    """Return results in which makespans are known multiples of 20 ms, the best known one."""
    rows = list[Row]()
    for network in NETWORKS:
        for workload in (Workload(OWN, network, RATIO_SCALES[network]), Workload(DNN, network)):
            rows.append(_row(workload, CPU_ONLY, 0, 5.0))
            rows.append(_row(workload, ACCELERATOR_ONLY, 0, 1.1))
            for system, level in (LEVELS | levels).items():
                for repeat, seed in enumerate(SEEDS):
                    over = level * (1.0 if system == LONG_SEARCH else seed)
                    own = KNOWN_S * over * (1.2 if system == UNTRAINED else 1.0)
                    more = {
                        "own_s": own,
                        "groups": 9 + repeat,
                        "lowest_s": [own, own],
                        "means_s": [2 * own, own],
                    }
                    rows.append(_row(workload, system, repeat, over, **more))
    return rows


def _outcome(rows: list[Row]) -> Outcome:
    return outcome(Plan({"evaluations": 2100, "data_sha256": {}}, ()), rows)


@cache
def _default() -> Outcome:
    """Return the outcome of the unchanged rows; its intervals take a second."""
    return _outcome(_rows())


def _table(made: Outcome, name: str) -> dict[str, Any]:
    return dict(next(table for table in made.tables if table.name == name).rows)


def test_makespans_are_over_the_shortest_long_search() -> None:
    made = _table(_default(), "makespans-own")
    ratio, milliseconds, seconds = made[HSDAG][:3]
    assert ratio == (pytest.approx(1.05), "1.040 to 1.060")
    assert (milliseconds, seconds) == (pytest.approx(21.0), 3.0)
    assert made[OWN_BEST][0] == ratio
    assert "HEFT" not in made  # which has no results here


def test_rivals_are_paired_by_seed() -> None:
    made = _table(_default(), "rivals")
    mean, interval = made[SEARCH_GROUPS][0]
    assert mean == pytest.approx(1.05 / 1.04)
    assert interval == "1.010 to 1.010"  # seeds vanish in pairs
    assert made[SEARCH_GROUPS][1:] == (0, 0, 9)
    assert made[METIS_GROUPS][1:] == (9, 0, 0)
    assert made[ACCELERATOR_ONLY][0] == (pytest.approx(1.05 / 1.1), "0.949 to 0.960")


def test_planted_effects_of_variants_are_found() -> None:
    made = _table(_default(), "ablation")
    assert made[NO_STRUCTURE][0] == (pytest.approx(1.1), "1.100 to 1.100")
    assert made[UNTRAINED][0] == (pytest.approx(1.0), "1.000 to 1.000")
    assert made[UNTRAINED][1] == (pytest.approx(1.2), "1.200 to 1.200")
    assert made[NO_STRUCTURE][-3:] == [pytest.approx(part) for part in (0.0, 3.1, 0.0)]
    assert "without sizes" not in made
    findings = _default().findings
    assert any("without structure (1.100)" in text and "above 1" in text for text in findings)
    assert any("not distinguished" in text and "without learning" in text for text in findings)


def test_percentages_below_the_cpu() -> None:
    made = _table(_default(), "published")
    ours, published, spent, published_s = made[HSDAG][:4]
    assert ours == pytest.approx(100 * (1 - 1.05 / 5.0))
    assert published == pytest.approx(52.1, abs=0.05)
    assert (spent, published_s) == (3.0, 1047.0)
    assert below_cpu("RNN", "bert-base") is None
    assert below_cpu(HSDAG, "bert-base") == pytest.approx(58.2, abs=0.1)


def test_groups() -> None:
    made = _table(_default(), "groups")
    assert made["resnet50, ratios x 0.2277"][0] == (10.0, "9 to 11")


def test_findings_count_networks() -> None:
    first, groups, whole, *_, last = _default().findings
    assert "on 3 of 3 networks" in first
    assert "within 2% of that of search on the same groups on 3 of 3" in groups
    assert groups.endswith("at or below it on 0.")
    assert "within 2% of that of search on 0 of 3" in whole
    assert last.startswith("The released graphs are left out")
    worse = _outcome(_rows(HSDAG=1.12)).findings
    assert "on 0 of 3 networks" in worse[0]
    assert "on 0 of 3 networks, and" in worse[1]


def test_a_rival_counts_on_networks_on_which_it_was_run() -> None:
    rows = [row for row in _rows() if row["system"] != PLACETO or row["graph"] == NETWORKS[0]]
    made = _table(_outcome(rows), "rivals")
    assert made[PLACETO][0] == (pytest.approx(0.875), "0.875 to 0.875")
    assert [sum(made[rival][1:]) for rival in (PLACETO, SEARCH)] == [3, 9]


def test_findings_say_what_grouping_costs_and_what_was_learned() -> None:
    findings = _default().findings
    groups = f"{1.04 / 1.01:.3f}"
    assert any(f"HSDAG's groups stay together, search has {groups}" in text for text in findings)
    single = f"{1.05 / 1.1:.3f} (0.9"
    assert any(f"last update have on average {single}" in text for text in findings)
    assert "HSDAG takes 1 times the CPU seconds of search on average." in findings


def test_a_system_without_feasible_placement_has_no_figure() -> None:
    rows = _rows()
    for row in rows:
        if row["system"] == SEARCH_GROUPS:
            row["best_s"] = None
    made = _outcome(rows)
    assert _table(made, "makespans-own")[SEARCH_GROUPS][:2] == [None, None]
    assert SEARCH_GROUPS not in _table(made, "rivals")


def test_a_long_search_without_feasible_placement_is_left_out() -> None:
    rows, failed = _rows(), list[Row]()
    for row in rows:
        if row["system"] == LONG_SEARCH and (row["repeat"] == 0 or row["source"] == DNN):
            row["best_s"] = None
            failed.append(row)
    assert failed
    made = _outcome(rows)
    assert _table(made, "makespans-own")[HSDAG][0] == (pytest.approx(1.05), "1.040 to 1.060")
    ratio, milliseconds, _ = _table(made, "makespans-dnn-partitioning")[HSDAG][:3]
    assert (ratio, milliseconds) == (None, pytest.approx(21.0))


def test_pairs_with_one_row_and_with_seeds() -> None:
    results = Results(_rows())
    (first, *_) = results.networks
    assert results.ratios(HSDAG, ACCELERATOR_ONLY, [first]) == pytest.approx(
        1.05 * np.array(SEEDS) / 1.1
    )
    assert results.single(first) == pytest.approx(0.022)
    assert len(results.networks) == 3
    assert results.effect(HSDAG, "no such system", [first]) is None


@pytest.mark.long
def test_the_pictures_are_drawn(tmp_path: Path) -> None:
    made = _default()
    for name, draw in made.pictures.items():
        draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert len(FIXED) == 2
