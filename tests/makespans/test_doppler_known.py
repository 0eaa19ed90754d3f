"""The table of the study of DOPPLER beside the best makespans known, of results that are known."""

import sys
from pathlib import Path

import pytest

from benchmarks.makespans.doppler_known import main
from benchmarks.makespans.problems import known
from benchmarks.released_data import SHARED
from streamplace.papers.doppler.study.registered import DOPPLER
from streamplace.papers.doppler.study.study import DopplerStudy
from streamplace.papers.doppler.study.systems import BEST_CRITICAL_PATH, CLIMB
from streamplace.papers.doppler.study.workloads import RELEASED, Workload
from streamplace.papers.studies.run import PLAN, RESULTS, plan_text, result_line
from streamplace.papers.studies.study import Row

WORKLOAD = Workload(RELEASED, "chain-mm", 4)
FILE = "gdp_chain_mm_112nodes.txt"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")


def _row(system: str, repeat: int, best: float) -> Row:
    """Return the row of a best placement, whose makespan is in units of 1e10 released costs."""
    about = {**WORKLOAD.settings, "system": system, "repeat": repeat}
    return {**about, "stage": "simulation", "episodes": 8, "best_s": best * 1e10}


def _shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["doppler_known", str(folder)])
    main()


@needs_shared
def test_results_so_far_are_over_the_makespans_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (reference,) = [
        row["devices"]["4"] for row in known("doppler.json")["results"] if row["file"] == FILE
    ]
    best, drawn = reference["best_known"], reference["critical_path_best_of_50"]
    plain = [_row(CLIMB, 0, 1.25 * best), _row(BEST_CRITICAL_PATH, 0, 1.125 * drawn["mean"])]
    first, second = ([_row(DOPPLER, seed, over * best)] for seed, over in enumerate((1.5, 1.75)))
    units = {
        f"plain placers: {WORKLOAD.name}": plain,
        f"DOPPLER: {WORKLOAD.name}, seed 0": first,
        f"DOPPLER: {WORKLOAD.name}, seed 1": second,
    }
    plan = DopplerStudy(released=str(SHARED / "doppler")).plan()
    (tmp_path / PLAN).write_text(plan_text(DopplerStudy.name, plan.settings))
    lines = [result_line(key, rows, 1.0) for key, rows in units.items()]
    (tmp_path / RESULTS).write_text("".join(lines) + lines[0][:30])
    _shown(tmp_path, monkeypatch)
    table = capsys.readouterr().out.splitlines()
    (own,) = [line for line in table if WORKLOAD.name in line]
    cells = [cell.strip() for cell in own.strip("|").split("|")]
    assert cells[1].startswith("1.625")
    assert "1.500 to 1.750" in cells[1]
    assert float(cells[3]) == 1.25
    assert float(cells[6]) == 1.125
    assert len([line for line in table if RELEASED in line and line != own]) >= 4


@needs_shared
def test_a_folder_of_no_study_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        _shown(tmp_path, monkeypatch)
    assert str(tmp_path / PLAN) in capsys.readouterr().err
