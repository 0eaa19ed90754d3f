"""Tests for the study of DOPPLER for streams."""

from pathlib import Path

import pytest

from streamplace.papers.doppler.study import streams
from streamplace.papers.doppler.study.streams import (
    PLAIN,
    SEL_AND_PLC,
    SYSTEMS,
    Size,
    StreamDopplerStudy,
    outcome,
)
from streamplace.papers.studies.study import Plan, Row, problem_of
from tests.support.cli import Capture, refused

TINY = Size(graphs=2, training_graphs=3, seeds=1, imitation_epochs=1, epochs=1, samples=2)


@pytest.mark.long
def test_every_system_places_every_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "QUICK", TINY)
    study = StreamDopplerStudy(quick=True)
    plan = study.plan()
    rows = [row for unit in plan.units for row in study.run(unit)]
    placed = {(row["system"], row["graph"]) for row in rows}
    assert placed == {(system, graph) for system in (*SYSTEMS, *PLAIN) for graph in range(2)}
    for row in rows:
        assert 0.0 < row["one_pass"] <= 1.0
        assert row["best"] is None or row["best"] >= row["one_pass"]
    (table,) = study.outcome(plan, rows).tables
    assert [name for name, _ in table.rows] == [*SYSTEMS, *PLAIN]
    assert all(len(cells) == len(table.head) - 1 for _, cells in table.rows)


def test_policies_are_trained_on_other_graphs() -> None:
    count = streams.FULL.training_graphs
    own = StreamDopplerStudy()._problem(0).graph
    assert own != problem_of(0, count, streams.OTHER_GRAPHS).graph


def test_differences_are_those_of_the_first_system() -> None:
    systems = {SEL_AND_PLC: 0.0, "PLC, level by level": 0.1, "SEL only": -0.1}
    rows: list[Row] = [
        {
            "graph": graph,
            "system": system,
            "repeat": repeat,
            "one_pass": 0.6 + worth + 0.01 * graph,
            "best": 0.8,
        }
        for system, worth in systems.items()
        for repeat in range(2)
        for graph in range(4)
    ]
    settings = {"systems": dict.fromkeys(systems), "plain": {}, "graphs": 4, "seeds": 2}
    made = outcome(Plan(settings, ()), rows)
    above, below, same = made.findings
    assert f"{SEL_AND_PLC}, 0.615, is above these" in above
    assert above.endswith(": SEL only.")
    assert " is below " in below
    assert below.endswith(": PLC, level by level.")
    assert "not clearly above or below" in same
    assert same.endswith(": PLC, level by level; SEL only.")
    assert "-0.100" in made.tables[0].markdown()


def test_released_graphs_have_no_throughput(tmp_path: Path, capsys: Capture) -> None:
    arguments = ("--objective", "throughput", "--released", "x", "-o", tmp_path / "s")
    line = refused(capsys, "study", "doppler", *arguments)
    assert "cannot combine --objective throughput with --released" in line
