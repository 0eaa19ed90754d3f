"""Tests for the study of GiPH: its units, counts of wins, tables and findings."""

from typing import Any

import numpy as np
import pytest

from streamplace.papers.giph.study.adaptivity import AFTER_CHANGES as OF_CHANGES
from streamplace.papers.giph.study.adaptivity import FREE_MOVES
from streamplace.papers.giph.study.outcome import findings_of, outcome
from streamplace.papers.giph.study.registered import (
    DRAWN,
    GIPH,
    OURS,
    PAPER_RANGES,
    PAPER_TRAINED,
    PER_OPERATOR,
    QUICK,
    SEVERAL,
    SINGLE,
    SYSTEMS,
    WINS,
    fusion_cases,
)
from streamplace.papers.giph.study.results import fusion_figures, fusion_tables, results_of
from streamplace.papers.giph.study.study import GiphStudy
from streamplace.papers.giph.study.systems import (
    CLIMB,
    CLIMB_FROM_HEFT,
    EFT,
    HEFT,
    LIMITED,
    ONCE,
    PEFT,
    RANDOM,
    SEARCH,
)
from streamplace.papers.studies.study import Plan, Row
from streamplace.problem.makespan import Makespan
from streamplace.scoring.registry import evaluator
from tests.support.studies import unit_of, without_times

LEVELS = {
    HEFT: 1.0,
    PEFT: 0.97,
    GIPH: 0.98,
    OURS: 0.979,
    RANDOM: 1.5,
    CLIMB: 1.1,
    SEARCH: 0.975,
    EFT: 1.2,
}


def test_published_shares_sum_to_all_cases() -> None:
    assert all(sum(shares) == pytest.approx(100.0) for shares in WINS.values())


def test_units_have_distinct_names_and_every_test_has_plain_placers() -> None:
    study = GiphStudy(quick=True)
    units = study.plan().units
    keys = [unit.key for unit in units]
    assert len({*keys}) == len(keys)
    trained = {
        (u.settings["experiment"], u.settings["system"])
        for u in units
        if {"experiment", "repeat"} <= u.settings.keys()
    }
    assert {system for experiment, system in trained if experiment == SINGLE} == {*SYSTEMS}
    plain = {(u.settings["experiment"], u.settings["test"]) for u in units if "test" in u.settings}
    assert {(SEVERAL, DRAWN), (SEVERAL, PAPER_RANGES), (SINGLE, SINGLE)} <= plain


def _unit(prefix: str) -> tuple[GiphStudy, Any]:
    study = GiphStudy(quick=True)
    return study, unit_of(study, prefix)


@pytest.mark.parametrize("prefix", ["GiPH-NE-Pol: single", "Placeto: single"])
def test_a_policy_has_a_row_per_case_and_repeats(prefix: str) -> None:
    study, unit = _unit(prefix)
    rows = study.run(unit)
    assert [row["case"] for row in rows] == list(range(QUICK.cases))
    assert without_times(study.run(unit)) == without_times(rows)
    for row in rows:
        assert len(row["losses"]) == len(PER_OPERATOR)
        assert (np.diff(row["losses"]) <= 0).all()
        assert row["losses"][-1] >= row["longest_s"] >= row["shortest_s"] > 0


def test_other_results_have_no_placements() -> None:
    """Results of long runs are kept, so their format stays."""
    study, unit = _unit("plain placers: total cost")
    row = study.run(unit)[0]
    assert {*row} == {
        "experiment",
        "test",
        "case",
        "operators",
        "depth",
        "longest_s",
        "shortest_s",
        "repeat",
        "system",
        "losses",
        "cpu_s",
    }


def test_plain_placers_make_no_more_evaluations_than_an_episode() -> None:
    study, unit = _unit("plain placers: several, drawn")
    rows = study.run(unit)
    systems = {row["system"] for row in rows}
    assert {*ONCE, *LIMITED} - systems == {name for name in (*ONCE, *LIMITED) if "00" in name}
    mean = {
        system: np.mean([r["losses"] for r in rows if r["system"] == system], axis=0)
        for system in systems
    }
    assert mean[CLIMB][-1] < mean[CLIMB][0]
    assert mean[CLIMB_FROM_HEFT][-1] < mean[HEFT][-1]


@pytest.mark.long
def test_few_relocations_after_each_change() -> None:
    study, unit = _unit("changes as in the paper")
    rows = study.run(unit)
    assert {row["system"] for row in rows} == {*OF_CHANGES}
    for row in rows:
        if f"{FREE_MOVES} relocations" in row["system"]:
            assert row["moves"] <= FREE_MOVES
        if row["system"] == "forced relocations only":
            assert row["moves"] == 0
        assert row["makespan_s"] > 0


@pytest.mark.parametrize(
    "prefix",
    [
        "plain placers: sensor fusion",
        "GiPH: sensor fusion",
    ],
)
@pytest.mark.long
def test_results_of_sensor_fusion_have_the_placements(prefix: str) -> None:
    study, unit = _unit(prefix)
    problems = fusion_cases(QUICK.cases).problems(Makespan())
    rows = study.run(unit)
    for row in rows:
        loss = evaluator(problems[row["case"]]).loss(np.array(row["devices"]))[0]
        assert loss == row["losses"][-1]
    (table,) = fusion_tables(fusion_figures(rows))
    assert {name for name, _ in table.rows} == {row["system"] for row in rows}


def _rows(experiment: str, test: str, levels: dict[str, float], cases: int = 12) -> list[Row]:
    """Return results of systems with known makespans over HEFT's."""
    rng = np.random.default_rng(1)
    rows: list[Row] = []
    for case in range(cases):
        heft = float(rng.uniform(5.0, 9.0))
        for system, level in levels.items():
            for repeat in range(2 if system in SYSTEMS else 1):
                final = heft * level * float(rng.uniform(0.999, 1.001)) if level != 1.0 else heft
                rows.append(
                    {
                        "experiment": experiment,
                        "test": test,
                        "case": case,
                        "operators": 20,
                        "depth": 8 + 2 * case,
                        "longest_s": 4.0,
                        "shortest_s": 1.0,
                        "repeat": repeat,
                        "system": system,
                        "losses": [final * f for f in (1.3, 1.2, 1.1, 1.0)],
                        "cpu_s": 0.01,
                    }
                )
    return rows


def _changes(repeats: int = 1) -> list[Row]:
    return [
        {
            "protocol": "code",
            "repeat": repeat,
            "graph": graph,
            "change": change,
            "system": system,
            "makespan_s": 1.0 + 0.02 * graph,
            "from_scratch_s": 1.0,
            "moves": 2,
            "relocation_s": 0.5,
        }
        for repeat in range(repeats)
        for graph in range(3)
        for change in range(2)
        for system in OF_CHANGES
    ]


def test_wins_compare_equal_seeds_and_cases() -> None:
    found = results_of(_rows(SINGLE, SINGLE, LEVELS | {"GiPH-3": 0.98}))[SINGLE, SINGLE]
    assert found.wins(GIPH, HEFT) == (100.0, 0.0, 0.0)
    assert found.wins(GIPH, GIPH) == (0.0, 100.0, 0.0)
    better, equal, worse = found.wins(GIPH, "GiPH-3")
    assert better + equal + worse == pytest.approx(100.0)
    assert 20 < better < 80
    assert found.over(GIPH, HEFT).mean == pytest.approx(0.98, abs=1e-3)
    assert found.curve(GIPH)[0] == pytest.approx(1.3 * 0.98, abs=2e-3)
    assert found.slr(HEFT)[1] == pytest.approx(4 * found.slr(HEFT)[0])


def test_more_seeds_of_one_system_count_in_its_own_figures_alone() -> None:
    """Wins over a system with fewer seeds are those of the seeds that both have."""
    rows = _rows(SEVERAL, SEVERAL, LEVELS | {PAPER_TRAINED: 0.9})
    longer = [
        {**row, "repeat": 2, "losses": [10.0 * loss for loss in row["losses"]]}
        for row in rows
        if row["system"] == PAPER_TRAINED and row["repeat"] == 0
    ]
    found = results_of([*rows, *longer])[SEVERAL, SEVERAL]
    assert found.wins(PAPER_TRAINED, GIPH) == (100.0, 0.0, 0.0)
    assert found.wins(GIPH, PAPER_TRAINED) == (0.0, 0.0, 100.0)
    better, _, worse = found.wins(PAPER_TRAINED, HEFT)
    assert [better, worse] == pytest.approx([200 / 3, 100 / 3])
    assert found.wins(HEFT, PAPER_TRAINED) == (worse, 0.0, better)
    assert found.over(PAPER_TRAINED, HEFT).mean == pytest.approx(0.9 * 4, rel=0.01)


def test_trainings_have_their_least_and_most() -> None:
    levels = LEVELS | dict.fromkeys(set(SYSTEMS) - {GIPH, OURS}, 1.05)
    rows = [*_rows(SINGLE, SINGLE, levels), *_rows(SEVERAL, SEVERAL, levels)]
    rows += [
        {**row, "repeat": 2, "losses": [1.5 * loss for loss in row["losses"]]}
        for row in rows
        if row["system"] == GIPH and row["repeat"] == 0
    ]
    rows += [*_rows(SEVERAL, DRAWN, levels), *_rows(SEVERAL, PAPER_RANGES, levels), *_changes()]
    tables = outcome(Plan({}, ()), rows).tables
    (trainings,) = (one.rows for one in tables if one.name == "trainings")
    (cells,) = (cells for name, cells in trainings if name == GIPH and cells[0] == "one network")
    assert cells[1] == 3
    least, most = 0.98, 0.98 * 1.5
    expected = [pytest.approx(each, rel=2e-3) for each in (least, least, most)]
    assert list(cells[4:]) == expected
    assert cells[3] == f"{cells[4]:.3f} to {cells[6]:.3f}"  # of three, one can be drawn thrice


def test_times_are_medians_which_leave_out_compilation() -> None:
    rows = _rows(SINGLE, SINGLE, LEVELS)
    rows[0]["cpu_s"] = 30.0  # HEFT's first case
    found = results_of(rows)[SINGLE, SINGLE]
    assert found.median_ms(HEFT) == pytest.approx((10.0, 10.0 / 40))


def test_the_findings_compare_signs_other_clusters_and_changes() -> None:
    rivals = {"GiPH-3": 1.0, "GiPH-5": 0.97, "GiPH-NE": 0.98}
    levels = LEVELS | dict.fromkeys(set(SYSTEMS) - {GIPH, OURS}, 1.05) | rivals
    rows = [
        *_rows(SINGLE, SINGLE, levels),
        *_rows(SEVERAL, SEVERAL, levels),
        *_rows(SEVERAL, DRAWN, levels),
        *_rows("trained on 6 devices", "40 devices", LEVELS | {GIPH: 1.02}),
        *_rows("trained on 40 devices", "40 devices", LEVELS | {GIPH: 1.01}),
    ]
    texts = list(findings_of(results_of(rows), _changes()))
    (signs,) = (text for text in texts if "Table 6" in text)
    same, opposite, chance = (signs.index(name) for name in ("published", "opposite", "chance"))
    assert same < signs.index("GiPH-NE-Pol (+100.0, +100.0 to +100.0)")
    assert opposite < signs.index("GiPH-5 (-100.0")
    assert chance < signs.index("GiPH-NE (")
    (clusters,) = (text for text in texts if text.startswith("On 40 devices"))
    assert "of GiPH trained on 6 is 1.010 (" in clusters
    (change,) = (text for text in texts if "protocol of the code" in text)
    assert "forced relocations only 1.020 (" in change


def test_the_outcome_names_what_is_better_without_a_trained_policy() -> None:
    levels = LEVELS | dict.fromkeys(set(SYSTEMS) - {GIPH, OURS}, 1.05)
    rows = [
        *_rows(SINGLE, SINGLE, levels),
        *_rows(SEVERAL, SEVERAL, levels),
        *_rows(SEVERAL, DRAWN, levels),
        *_rows(SEVERAL, PAPER_RANGES, levels),
        *_changes(),
    ]
    made = outcome(Plan({}, ()), rows)
    assert any(
        text.startswith("Better than both on one network with 95% confidence") and PEFT in text
        for text in made.findings
    )
    names = [table.name for table in made.tables]
    assert names == [
        "makespans-one-network",
        "makespans-ten-networks",
        "trainings",
        "wins",
        "pairs",
        "depth",
        "others",
        "changes",
    ]
    for table in made.tables:
        assert len(table.markdown()) > 100
        assert all(len(cells) == len(table.head) - 1 for _, cells in table.rows)
    first = made.tables[0].rows[0]
    assert first[0] == PEFT
    again = outcome(Plan({}, ()), [*rows, *_changes(2)[len(_changes()) :]])
    assert again.tables[-1].rows == made.tables[-1].rows  # graphs are the unit of its intervals
