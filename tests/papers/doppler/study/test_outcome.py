"""Tests for the outcome of the study of DOPPLER: figures of results that are known."""

from pathlib import Path
from typing import Any

import pytest

from streamplace.papers.doppler.study.comparisons import Results
from streamplace.papers.doppler.study.outcome import outcome
from streamplace.papers.doppler.study.registered import (
    BARRIER,
    DOPPLER,
    EVERY_STEP,
    SYSTEMS,
    TABLE_2,
)
from streamplace.papers.doppler.study.study import targets_of
from streamplace.papers.doppler.study.systems import (
    CLIMB,
    ENUMERATIVE,
    IMITATION,
    PLAIN,
    SEARCH,
    SIMULATION,
    ZERO_SHOT,
)
from streamplace.papers.doppler.study.workloads import Workload, own_workloads, released_workloads
from streamplace.papers.studies.study import Outcome, Plan, Row
from streamplace.papers.studies.workloads import LONG_SEARCH

CHAIN, FFNN = Workload("own", "chain-mm", 4), Workload("own", "ffnn", 4)
BLOCK = Workload("own", "transformer-block", 4)
LITTLE = Workload("own", "chain-mm", 4, limited=True)
LEVELS = {LONG_SEARCH: 1.0, SEARCH: 1.05, CLIMB: 1.1, ENUMERATIVE: 1.3, DOPPLER: 1.08}


def _row(workload: Workload, system: str, repeat: int, best: float, **others: Any) -> Row:
    about = {**workload.settings, "system": system, "repeat": repeat}
    barrier = {"best_s": best, "barrier_s": 1.5 * best, "evaluations": 4000, "cpu_s": 2.0}
    return {**about, **barrier, **others}


def _trained(workload: Workload, system: str, repeat: int, best: float) -> list[Row]:
    """Return rows after imitation, the first and the last checkpoint, in falling order."""
    after = ((IMITATION, 0, 2.0), (SIMULATION, 1024, 1.5), (SIMULATION, 4000, 1.0))
    return [
        _row(workload, system, repeat, f * best, stage=s, episodes=n, greedy_s=f * best * 1.25)
        for s, n, f in after
    ]


def _rows(chain: float = 1.08) -> list[Row]:
    """Return results in which makespans are known multiples of 3 ms, the best known one."""
    rows = list[Row]()
    for workload in (CHAIN, FFNN, BLOCK, LITTLE):
        known = 0.003 * (2.0 if workload.limited else 1.0)
        for system in PLAIN:
            factors = (1.0, 1.2) if system == LONG_SEARCH else (LEVELS.get(system, 1.4),)
            rows += [_row(workload, system, r, known * f) for r, f in enumerate(factors)]
        for system in (DOPPLER,) if workload.limited else SYSTEMS:
            level = chain if workload == CHAIN else 1.08
            for repeat, seed in enumerate((0.98, 1.0, 1.02)):
                rows += _trained(workload, system, repeat, level * seed * known)
    moved = [
        _row(BLOCK, DOPPLER, 0, 0.0045, stage=ZERO_SHOT, episodes=0, greedy_s=0.006),
        _row(BLOCK, DOPPLER, 0, 0.0036, stage=SIMULATION, episodes=1984, greedy_s=0.006),
    ]
    return [*rows, *({**row, "trained_on": FFNN.settings} for row in moved)]


def _outcome(rows: list[Row], **settings: Any) -> Outcome:
    plan = {"devices": [4], "evaluations": [4000], "released_sha256": {}, **settings}
    return outcome(Plan(plan, ()), rows)


def test_makespans_are_over_the_shortest_long_search() -> None:
    table, *_ = _outcome(_rows()).tables
    assert table.name == "makespans-own-4"
    made: dict[str, Any] = dict(table.rows)
    ratio, milliseconds, seconds, published = made[DOPPLER][:4]
    assert ratio == (pytest.approx(1.08), "1.058 to 1.102")
    assert milliseconds == pytest.approx(3.24)
    assert (seconds, published) == (2.0, TABLE_2[DOPPLER]["chain-mm"])
    assert made[LONG_SEARCH][0] == (pytest.approx(1.1), "1.000 to 1.200")
    assert made["HEFT"][3] is None


def test_parts_of_doppler() -> None:
    table = next(one for one in _outcome(_rows()).tables if one.name == "ablations-own")
    made = {name: cells[:2] for name, cells in table.rows}
    for name, factor in ((DOPPLER, 1.0), ("imitation only", 2.0), (EVERY_STEP, 1.0)):
        best, greedy = (cell[0] for cell in made[name] if isinstance(cell, tuple))
        assert best == pytest.approx(1.08 * factor)
        assert greedy == pytest.approx(1.35 * factor)
    assert dict(table.rows)["SEL only"][2] == 127.0
    makespans, *_ = _outcome(_rows()).tables
    note = "the published figures of SEL only and PLC only are of Doppler-SYS"
    assert note in table.caption
    assert note in makespans.caption


def test_other_tables() -> None:
    tables = {one.name: dict(one.rows) for one in _outcome(_rows()).tables}
    episodes, *cells = tables["checkpoints"][f"{DOPPLER}: {CHAIN.name}"]
    assert episodes == "1024, 4000"
    means = [cell[0] for cell in cells if isinstance(cell, tuple)]
    assert means == [pytest.approx(2.16), pytest.approx(1.62), pytest.approx(1.08)]
    transfer: Any = next(iter(tables["transfer"].values()))
    assert [transfer[i] for i in (0, 1, 2)] == [
        (pytest.approx(mean), None) for mean in (2.0, 1.5, 1.2)
    ]
    assert (transfer[3], transfer[5], transfer[-3:]) == (1984, 4000, (251.0, 165.3, 159.4))
    assert tables["memory"][ENUMERATIVE] == [(1.3, None), pytest.approx(2.0), 133.5]
    barrier = tables["barrier"][f"{ENUMERATIVE}: {CHAIN.name}"]
    assert barrier == ((pytest.approx(1.5), None), BARRIER["chain-mm"][1] / BARRIER["chain-mm"][0])


def test_findings_count_workloads_without_our_ffnn() -> None:
    first, *others = _outcome(_rows()).findings
    assert "(4,000 on 4 devices)" in first
    assert "below climb's on 3 of 3 workloads, below search's on 0, " in first
    assert "EnumerativeOptimizer's on 3. Our FFNN is in no table" in first
    assert not any(FFNN.name in text for text in others)
    assert others[-1].startswith("The released graphs are left out")
    worse = _outcome(_rows(chain=1.2), released_sha256={"file": "0"}).findings
    assert "climb's on 2 of 3" in worse[0]
    assert not any("released graphs" in text for text in worse)


def test_no_table_has_our_ffnn() -> None:
    """A transfer from it to another graph has a row."""
    made = _outcome(_rows())
    heads = [head for one in made.tables for head in one.head]
    assert not any("ffnn" in head for head in heads)
    rows = [name for one in made.tables for name, _ in one.rows]
    assert [name for name in rows if FFNN.name in name] == [f"{FFNN.name}; {BLOCK.name}"]


def test_a_placer_without_feasible_placement_has_no_figure() -> None:
    rows = _rows()
    for row in rows:
        if row["system"] in (CLIMB, DOPPLER) and row["limited"]:
            row.update(best_s=None, greedy_s=None, barrier_s=None)
    made = _outcome(rows)
    memory = next(dict(one.rows) for one in made.tables if one.name == "memory")
    assert memory[CLIMB][:2] == memory[DOPPLER][:2] == [None, None]
    assert f"On {LITTLE.name}, DOPPLER finds no feasible placement." in made.findings


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "curves.png"
    _outcome(_rows()).pictures["curves"](path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_checkpoints_of_results() -> None:
    results = Results(_rows())
    assert [row["episodes"] for row in results.after(CHAIN, DOPPLER, 1)] == [1024] * 3
    assert results.after(CHAIN, DOPPLER, 3) == []
    assert results.best_known(LITTLE) == pytest.approx(0.006)


def test_transfers_are_those_of_the_paper_and_to_more_devices() -> None:
    graphs = tuple(TABLE_2[DOPPLER])
    workloads = [*own_workloads(graphs, (4, 8)), *released_workloads()]
    names = [one.name for one in targets_of(FFNN, workloads)]
    assert names == [
        "own transformer-block on 4 devices",
        "own transformer-layer on 4 devices",
        "own ffnn on 8 devices",
    ]
    released = Workload("released", "transformer-block", 4)
    assert [one.devices for one in targets_of(released, workloads)] == [8]
    assert targets_of(LITTLE, workloads) == []
