"""The comparison of rules: cases by seed, results that go on, and the page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.control.__main__ import main, row_of
from benchmarks.control.cases import DEVICES, STEPS, case
from benchmarks.control.tables import TABLE, page
from benchmarks.result_lines import LINES
from streamplace.control.simulated.run import GAP_S

RULES = ["ours", "ours, simple plans", "autoscaler", "ds2", "never", "clairvoyant"]


def ran(folder: Path, patch: pytest.MonkeyPatch, *options: str) -> list[dict[str, object]]:
    """Run the comparison in this process, and return its lines."""
    patch.setattr(sys, "argv", ["control", *options, "-o", str(folder)])
    main()
    return [json.loads(line) for line in (folder / LINES).read_text().splitlines()]


@pytest.mark.long
def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ran(tmp_path / "whole", monkeypatch, "--traces", "2")
    ran(tmp_path / "parts", monkeypatch, "--traces", "1")
    with (tmp_path / "parts" / LINES).open("a") as file:
        file.write(json.dumps(whole[1])[:-20])  # killed while it wrote the second line
    assert ran(tmp_path / "parts", monkeypatch, "--traces", "2") == whole
    pages = [(tmp_path / name / TABLE).read_text().splitlines() for name in ("whole", "parts")]
    assert [line for line in pages[0] if line.startswith("|")] == [
        line for line in pages[1] if line.startswith("|")
    ]
    assert [line.split("|")[1].strip() for line in pages[0] if line.startswith("| ")][-6:] == RULES


def test_other_settings_need_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(tmp_path, monkeypatch, "--traces", "1")
    for options in (["--downtime", "30", "60"], ["--downtime", "3", "1"], ["--traces", "0"]):
        with pytest.raises(SystemExit) as stopped:
            ran(tmp_path, monkeypatch, "--traces", "1", *options)
        assert stopped.value.code == 2
    assert "has other settings; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(8))
def test_cases(seed: int) -> None:
    of = case(seed)
    assert of.trace.steps == STEPS
    assert len(of.job.devices) == DEVICES
    assert of.job.loads(of.first.deployment).capacity_s >= of.trace.mean_rate(0, 30) / 0.7 * 0.999
    assert np.array_equal(case(seed).trace.rates, of.trace.rates)
    assert all(0 < each.begin < each.end <= STEPS for each in of.trace.disturbances)


@pytest.mark.long
def test_who_knows_the_trace_leaves_the_fewest_tuples_waiting() -> None:
    rows = [row_of(seed, GAP_S)["rules"] for seed in range(8)]  # ours may win on single ones
    waiting = {name: np.mean([row[name]["mean_waiting"] for row in rows]) for name in RULES}
    assert min(waiting, key=lambda name: waiting[name]) == "clairvoyant"
    assert max(waiting, key=lambda name: waiting[name]) == "never"
    assert all(row["never"]["actions"] == 0 for row in rows)


def test_the_page_counts_traces_on_which_doing_nothing_serves_more() -> None:
    def figures(served: float) -> dict[str, float]:
        zeros = dict.fromkeys(("mean_waiting", "actions", "paid", "machine_s", "delayed"), 0)
        return {"offered": 100.0, "served": served, **zeros}

    rows = [
        {"seed": seed, "kind": "walk", "rules": {"ours": figures(ours), "never": figures(90.0)}}
        for seed, ours in enumerate((89.5, 89.995, 90.0, 95.0))
    ]
    lines = page(rows, "command", {"downtime_s": [1.0, 2.0], "commit": "0"}).splitlines()
    table = [line.split(" | ") for line in lines if line.startswith(("| ours", "| never"))][:2]
    assert [cells[3] for cells in table] == ["1; 0.50", "0"]
