"""Tables, stored best values and runs of the benchmark at real sizes, on small files."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.commit import ROOT, running_commit
from benchmarks.real_sizes import best
from benchmarks.real_sizes.__main__ import main
from benchmarks.real_sizes.best import Known
from benchmarks.real_sizes.results import pairs, ratios
from benchmarks.result_lines import read

A, B, C = (f"random 100 4 nic {link} 0.8 1 1 0 0" for link in (1, 3, 10))
PASS = "random 100 4 nic 1 1 1 1 0 1000"


def line(problem: str, placer: str, value: float, **changes: Any) -> dict[str, Any]:
    """Return a line of results."""
    return {
        **{"problem": problem, "placer": placer, "limit": "1 s", "seed": "0", "commit": "abc"},
        **{"value": value, "least": 0.8, "cpu_s": 1.0, "used": 4, "graph": "g"},
        **changes,
    }


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write lines to a file and return its path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run the command."""
    monkeypatch.setattr(sys, "argv", ["real_sizes", *words])
    main()


def test_throughput_is_capped_at_the_offered_rate_and_makespans_are_not() -> None:
    own, others = {A: 0.9, B: 2.0, PASS: 0.5}, {A: 0.8, B: 1.0, PASS: 0.25, C: 1.0}
    assert ratios(own, others) == {A: 1.0, B: 0.5, PASS: 0.5}


def test_the_table_counts_losses_and_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(best, "PATH", tmp_path / "best.jsonl")
    rows = [
        *(line(A, "auto", 9.0), line(A, "auto", 0.9), line(B, "auto", 2.0), line(C, "auto", 3.0)),
        *(line(A, "metis-sweep", 1.0), line(B, "metis-sweep", 1.6), line(C, "metis-sweep", 6.0)),
        line(C, "heft", 3.0, limit="0.1 s"),
        *(line(B, "late", 1.6, cpu_s=2.0), line(C, "late", 3.0, cpu_s=1.2)),
    ]
    call(monkeypatch, "table", written(tmp_path / "rows", rows))
    out = capsys.readouterr().out
    assert "| `metis-sweep` | 3 | 33.3% | 33.3% | 0.800 | 33.3% | 1.170 [0.800, 2.000] |" in out
    assert "| best known | 3 | 33.3% | 33.3% | 0.800 | 0.0% | 0.928 [0.800, 1.000] |" in out
    assert "0.894, 2 problems |" in out  # links bind in B and C
    assert "| `late` | 2 | 50.0% |" in out
    assert "| the same, where it keeps to the limit | 1 | 0.0% |" in out
    assert "nic, link 3, load 0.8, seed 1 | 0.800 `late`, 0.800 `metis-sweep` |" in out
    assert "heft" not in out


def test_results_of_different_graphs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "rows", [line(A, "auto", 1.0), line(A, "b", 1.0, graph="h")])
    for words, message in ((["table", path], "different graphs"), (["table", "no"], "no results")):
        with pytest.raises(SystemExit) as end:
            call(monkeypatch, *words)
        assert end.value.code == 2
        assert message in capsys.readouterr().err


def test_every_pair_of_sizes_counts() -> None:
    values = {A: 2.0, A.replace(" 0 0", " 1 0"): 4.0, A.replace(" 0 0", " 2 0"): 1.0}
    found = {pair.split(" on ")[1]: ratio for pair, ratio in pairs(values).items()}
    assert found == {"1 and 2": 4.0, "1 and 4": 2.0, "2 and 4": 0.5}


def test_the_best_values_only_fall(tmp_path: Path) -> None:
    path = tmp_path / "best.jsonl"
    rows = [line(A, "auto", 2.0), line(A, "b@abc", 1.5), line(A, "c", 3.0), line(B, "c", 3.0)]
    few = line(A.replace(" 0 0", " 2 0"), "d", 1.0)
    assert best.update([Path(written(tmp_path / "rows", rows))], path) == 2
    assert best.known(path)[A] == Known(1.5, "b, 1 s, abc")
    assert best.update([Path(written(tmp_path / "rows", [*rows, few]))], path) == 1
    assert best.known(path) == {A: Known(1.0, "d, 1 s, abc"), B: Known(3.0, "c, 1 s, abc")}


def test_a_run_continues_and_skips_partitioners_that_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.real_sizes.__main__._silence_stdout", lambda: None)
    monkeypatch.setattr("benchmarks.real_sizes.running.running_commit", lambda _: "abc")
    monkeypatch.setattr("benchmarks.real_sizes.rivals.find_spec", lambda _: None)
    path = tmp_path / "rows"
    words = ("run", "--count", "2", "--seconds", "0.01", "--set", "makespans", "-o", str(path))
    call(monkeypatch, *words, "--placers", "heft")
    call(monkeypatch, *words, "--placers", "heft,cpop-subsets,kahip-sweep")
    rows = read(path)
    assert [row["placer"] for row in rows] == ["heft", "heft", "cpop-subsets", "cpop-subsets"]
    assert "kahip-sweep: skipped" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        call(monkeypatch, *words, "--placers", "hefty")
    assert end.value.code == 2


@pytest.mark.long
def test_another_checkout_runs_with_this_benchmark(tmp_path: Path) -> None:
    for package in ("sim", "streamplace", "datasets"):
        (tmp_path / package).symlink_to(ROOT / package)
    path = tmp_path / "rows"
    words = ("run", "--count", "1", "--seconds", "0.01", "--placers", "metis", "-o", str(path))
    command = [sys.executable, "-m", "benchmarks.real_sizes", *words, "--folder", str(tmp_path)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    (row,) = read(path)
    assert row["placer"] == f"metis@{row['commit']}"
    assert row["commit"] != running_commit()
