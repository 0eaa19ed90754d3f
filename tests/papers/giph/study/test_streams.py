"""Tests for the study of re-placement with a price per move."""

import pytest

from streamplace.papers.giph.study import streams
from streamplace.papers.giph.study.streams import (
    LOSS,
    PRICE,
    RISE,
    SYSTEMS,
    StreamGiphStudy,
    outcome,
)
from streamplace.papers.studies.study import Plan, Row


def test_every_system_re_places_after_both_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("QUICK_GRAPHS", 2), ("OURS", 300), ("TENTH", 30)):
        monkeypatch.setattr(streams, name, value)
    study = StreamGiphStudy(quick=True)
    plan = study.plan()
    (unit,) = plan.units
    rows = study.run(unit)
    assert {(row["change"], row["system"]) for row in rows} == {
        (change, system) for change in (LOSS, RISE) for system in SYSTEMS
    }
    assert len(rows) == 2 * 2 * len(SYSTEMS)
    for graph in range(2):
        for change in (LOSS, RISE):
            own = {r["system"]: r for r in rows if (r["graph"], r["change"]) == (graph, change)}
            least = own["necessary moves only"]
            assert least["moves"] == 0
            for system, row in own.items():
                assert row["worth"] >= least["worth"] - 1e-9 or "giph" not in system
                paid = row["relative_throughput"] - row["worth"]
                assert paid == pytest.approx(PRICE * 0.08 * row["moves"], rel=0.05)
    assert len(study.outcome(plan, rows).tables) == 2


def test_differences_are_those_from_our_re_placement() -> None:
    rows: list[Row] = [
        {
            "graph": graph,
            "change": LOSS,
            "system": system,
            "relative_throughput": 0.9,
            "moves": 1,
            "worth": 0.8 - 0.1 * number,
            "cpu_s": 0.01,
        }
        for graph in range(4)
        for number, system in enumerate(SYSTEMS)
    ]
    made = outcome(Plan({"systems": list(SYSTEMS)}, ()), rows)
    (table,) = made.tables
    assert [round(float(str(cells[2])), 6) for _, cells in table.rows] == [
        0.0,
        -0.1,
        -0.2,
        -0.3,
        -0.4,
    ]
    assert "giph, a tenth differs from that of our re-placement by -0.200" in made.findings[1]
