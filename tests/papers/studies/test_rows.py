"""Rows of claims that are run by themselves, and the units that decide them."""

import json
from pathlib import Path

import pytest

from benchmarks.studies_again import FOLDERS, kept_in
from docs import claims as generator
from streamplace.errors import UsageError
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.giph.study.study import GiphStudy
from streamplace.papers.hsdag.study.study import HsdagStudy
from streamplace.papers.ni2020.study.study import DreamStudy
from streamplace.papers.orders.study.registered import LISTED
from streamplace.papers.orders.study.study import OrdersStudy
from streamplace.papers.studies.claims import Claims
from streamplace.papers.studies.rows import RowsStudy, listed, rows_of, units_of
from streamplace.papers.studies.run import run_study
from streamplace.papers.studies.study import PlannedStudy, Unit
from tests.support.cli import Capture, printed, refused

STUDIES: dict[str, PlannedStudy] = {
    "ni2020": DreamStudy(),
    "orders": OrdersStudy(),
    "giph": GiphStudy(),
    "doppler": DopplerStudy(released="nowhere"),  # whose units do not depend on the files
    "hsdag": HsdagStudy(),
}


def units(study: PlannedStudy) -> list[Unit]:
    return [unit for part in study.parts() for unit in part.units()]


@pytest.mark.parametrize("paper", STUDIES)
def test_a_row_runs_the_units_whose_kept_results_decide_it(paper: str) -> None:
    claims, planned = Claims.of(paper), units(STUDIES[paper])
    kept, keys = kept_in(FOLDERS / claims.study), {unit.key for unit in planned}
    deciding = dict(zip(claims.rows, generator.units_of(claims, kept), strict=True))
    for row, claim in claims.runnable.items():
        of_each = list(units_of(claim, planned, claims.system))
        assert all(of_each), row
        chosen = set().union(*of_each)
        assert chosen & kept.keys() == deciding[row] & keys, row


@pytest.mark.parametrize("paper", STUDIES)
def test_claims_have_the_seconds_of_their_kept_units(paper: str) -> None:
    text = (generator.DATA / paper / "claims.toml").read_text()
    assert text == generator.with_seconds(paper, text), "run `python -m docs.claims`"


def test_rows_are_chosen_by_name_or_by_place() -> None:
    claims = Claims.of("doppler")
    assert rows_of(claims, "table-6-1") == ("table-6-1",)
    assert rows_of(claims, "table-3") == tuple(f"table-3-{n}" for n in range(1, 9))
    with pytest.raises(UsageError, match="doppler: no claim 'table-33'; did you mean 'table-3"):
        rows_of(claims, "table-33")
    assert rows_of(Claims.of("ni2020"), "text") == ("text-1", "text-2")  # not text-on-figure-5-1


@pytest.mark.parametrize(
    ("paper", "study", "row"),
    [
        ("ni2020", DreamStudy(quick=True), "table-1-15"),  # B, without its weights
        ("hsdag", HsdagStudy(quick=True), "table-6-2"),  # of which only the CPU alone is quick
    ],
)
def test_a_row_needs_units_of_its_system_and_of_each_rival(
    paper: str, study: PlannedStudy, row: str
) -> None:
    with pytest.raises(UsageError, match=f"this plan cannot decide the claim {row}; run"):
        RowsStudy(study, Claims.of(paper), (row,)).plan()


def test_a_row_is_run_with_the_seeds_asked_for(tmp_path: Path) -> None:
    claims = Claims.of("orders")
    study = RowsStudy(OrdersStudy(quick=True, seeds=2), claims, ("table-iii-1",))
    assert [unit.key for unit in study.plan().units] == [f"{LISTED}: nmt 0 on 3"]
    outcome = run_study(study, tmp_path, jobs=1)
    (table,) = outcome.tables
    ((row, cells),) = table.rows
    assert row == "table-iii-1"
    assert cells[0] == "Table III"
    assert str(cells[1]).startswith(claims.claim[0].says)
    assert cells[4] == "2 and 2, 1"  # seeds of the order and of its rivals, one graph
    kept = json.loads((tmp_path / "results.jsonl").read_text())
    assert {one["repeat"] for one in kept["rows"] if one["method"] == LISTED} == {0, 1}


def test_the_list_has_each_row_with_its_cpu_time(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = Claims.of("giph")
    table = listed(claims)
    assert [name for name, _ in table.rows] == list(claims.runnable)
    assert str(dict(table.rows)["table-6-1"][-1]).endswith("min")
    for columns in (90, None):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        _, command, *lines = printed(capsys, "study", "orders", "--list")[0].splitlines()
        assert "--only CLAIM" in command
        assert max(map(len, lines)) <= (columns or 100)
        (first,) = [
            n for n, line in enumerate(lines) if line.startswith("table-iii-1: Table III, ")
        ]
        assert lines[first + 1].startswith("  `reversed-topo` is better than the other orders on")
        assert "  published: wins 23 of 32" in lines
    document = json.loads(printed(capsys, "study", "giph", "--list", "--json")[0])
    assert len(document["rows"]) == len(claims.runnable)


def test_the_list_of_one_row_or_place(capsys: Capture) -> None:
    for only, names in (("table-iv-2", 1), ("table-iv", 2)):
        words = ("study", "orders", "--list", "--only", only)
        lines = printed(capsys, *words)[0].splitlines()
        assert sum(line.startswith("table-iv-") for line in lines) == names
        assert not any(line.startswith("table-iii") for line in lines)
        assert len(json.loads(printed(capsys, *words, "--json")[0])["rows"]) == names
    assert "orders: no claim 'table-60'" in refused(
        capsys, "study", "orders", "--list", "--only", "table-60"
    )


def test_rows_that_a_command_does_not_have(tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, "study", "giph", "--only", "table-60", "-o", tmp_path)
    assert "giph: no claim 'table-60'" in line
    line = refused(capsys, "study", "doppler", "--only", "table-2-1", "-o", tmp_path)
    assert "this plan cannot decide the claim table-2-1; run `streamplace study doppler" in line
    line = refused(capsys, "study", "giph", "--objective", "throughput", "--list")
    assert "--list requires --objective makespan" in line
