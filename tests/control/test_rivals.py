"""The figures of the runs beside Flink's autoscaler, on lines whose figures are known."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.rivals.figures import Sample, figures
from benchmarks.rivals.loads import (
    AUCTIONS,
    AUTOSCALER,
    FAMILIES,
    KEPT,
    LENGTH_S,
    PIECE_S,
    QUIET_S,
    WATCH,
    drawn,
    due_s,
    offered,
    order,
    results_of,
)
from benchmarks.rivals.report import paired, write
from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT

PIECES = [(0.0, 10.0)]  # 1,800 tuples; number n is due at (n + 1) / 10
Lines = list[tuple[int, int, float]]


def lines(delay_s: float, query: str = "counts") -> Lines:
    due = due_s(PIECES)
    return [
        (number, value, float(due[number] + delay_s))
        for number, value in results_of(query, len(due)).items()
    ]


def figures_of(found: Lines, samples: list[Sample] | None = None, query: str = "counts") -> Any:
    return figures(query, PIECES, found, samples or [Sample(0.0, 1, {"a": 1})])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_numbers_fall_due_at_the_offered_rate(family: str, seed: int) -> None:
    pieces = drawn(family, seed)
    assert pieces == drawn(family, seed) != drawn(family, seed + 1)
    times = [at for at, _ in pieces]
    assert times == sorted(times)
    assert times[0] == 0.0
    assert times[-1] + PIECE_S <= LENGTH_S
    assert len({rate for at, rate in pieces if at <= QUIET_S}) == 1  # both measure first
    due = due_s(pieces)
    moments = np.linspace(0.0, LENGTH_S, 400)
    by_count = np.searchsorted(due, moments + 1e-9, side="right")
    assert np.abs(by_count - offered(pieces, moments)).max() <= 1.0


def test_each_controller_is_first_equally_often() -> None:
    firsts = [order("counts", "step", seed)[0] for seed in range(20)]
    assert {firsts.count(WATCH), firsts.count(AUTOSCALER)} == {10}
    assert firsts[::2].count(WATCH) not in (0, 10)  # and not always at even seeds


def test_a_job_that_is_never_late() -> None:
    found = figures_of(lines(0.1))
    assert found["served"] == pytest.approx(1.0, abs=0.001)
    assert found["waiting_tuple_s"] == pytest.approx(180.0, rel=0.01)  # 1,800 tuples of 0.1 s
    assert (found["behind_s"], found["paused_s"], found["exact"]) == (0.0, 0.0, True)


def test_a_job_that_stops_for_ten_seconds() -> None:
    """From 100 s on, nothing is written for 10 s; then all at once."""
    late = [(n, v, 110.0 if 100.0 <= at < 110.0 else at) for n, v, at in lines(0.0)]
    found = figures_of(late)
    assert found["waiting_tuple_s"] == pytest.approx(10.0 * 10.0**2 / 2, rel=0.02)
    assert found["paused_s"] == pytest.approx(10.0, abs=0.2)
    assert found["behind_s"] == pytest.approx(8.0, abs=0.6)  # from 2 s of the rate on


def test_what_comes_after_the_load_is_not_served() -> None:
    found = figures_of([(n, v, max(at, LENGTH_S + 5.0) if n >= 900 else at)
                        for n, v, at in lines(0.0)])  # fmt: skip
    assert found["served"] == pytest.approx(0.5, abs=0.001)
    assert found["waiting_tuple_s"] == pytest.approx(10.0 * 90.0**2 / 2, rel=0.01)
    assert found["exact"]


def test_filtered_tuples_count_as_those_that_are_kept() -> None:
    whole, kept = figures_of(lines(1.0)), figures_of(lines(1.0, "filter"), query="filter")
    assert kept["waiting_tuple_s"] == pytest.approx(whole["waiting_tuple_s"], rel=0.01)
    assert len(lines(0.0, "filter")) == pytest.approx(len(lines(0.0)) / KEPT, rel=0.02)


def test_slots_and_rescales() -> None:
    samples = [
        Sample(0.2, 1, {"a": 1}),
        Sample(10.0, 1, {}),
        Sample(11.0, 3, {"a": 3}),
        Sample(12.0, 3, {}),
        Sample(20.0, 3, {"a": 3}),
        Sample(110.0, 2, {"a": 2}),
    ]
    found = figures_of(lines(0.0), samples)
    assert found["slot_s"] == pytest.approx(11.0 + 3 * 99.0 + 2 * 70.0)
    assert found["rescales"] == 2  # a recovery with the same numbers is none


@pytest.mark.parametrize(
    ("query", "change", "fault"),
    [
        ("counts", lambda rows: rows[:-1], "1 results are missing, such as that of 1799"),
        ("filter", lambda rows: rows[1:], "1 results are missing, such as that of 0"),
        ("filter", lambda rows: [*rows, (1, 0, 5.0)], "1 results are too many, such as that of 1"),
        ("filter", lambda rows: [(0, -1, 5.0), *rows[1:]], "1 values are wrong"),
        ("counts", lambda rows: [(0, 2, 5.0), *rows[1:]], "the counts of 1 auctions are wrong"),
        ("counts", lambda rows: [*rows, (0, 1, 9.0)], ""),  # repeated after a checkpoint
        (
            "counts",  # two bids of an auction have passed each other
            lambda rows: [(0, 2, 0.1), *rows[1:AUCTIONS], (AUCTIONS, 1, 101.0), *rows[1010:]],
            "",
        ),
    ],
)
def test_faults_of_results(query: str, change: Any, fault: str) -> None:
    found = figures_of(change(lines(0.0, query)), query=query)
    assert found["fault"].startswith(fault)
    assert found["exact"] is (not fault)


def row(rival: str, seed: int, **more: Any) -> dict[str, Any]:
    over = {
        "load": [[0.0, 10.0]],
        "waiting": [0] * 180,
        "slots": [[0.0, 1]],
        "rescales": [[50.0, {"a": 2}]],
    }
    about = {"query": "counts", "load": "step", "seed": seed, "rival": rival, "place": 1}
    about |= {"commit": "c", "load_average": [0.5, 2.5], "over_time": over}
    return {**about, **figures_of(lines(0.0)), **more}


def test_the_page_has_whole_pairs_only_and_losses_first(tmp_path: Path) -> None:
    rows = [
        row(WATCH, 0, slot_s=120.0),
        row(AUTOSCALER, 0, slot_s=100.0, rescales=3, fault="1 results are missing", exact=False),
        row(WATCH, 1, slot_s=130.0),
        row(AUTOSCALER, 1, slot_s=100.0, rescales=2),
        row(WATCH, 2),
    ]
    assert [one["seed"] for one, _ in paired(rows)] == [0, 1]
    write(rows, {"seconds": 180.0, "slots": 6, "matched": []}, tmp_path, tmp_path / "pictures")
    text = (tmp_path / "RESULTS.md").read_text()
    assert "counts step 0 autoscaler: 1 results are missing" in text
    table = re.findall(r"^\| (.*?) \|.*\| (.*?) \|$", text, re.MULTILINE)
    assert table[2] == ("slot-seconds", "worse")
    assert "| slot-seconds | 125 | 100 | +25 (+20 to +30) | worse |" in text
    assert "| rescales | 0.00 | 2.50 | -2.50 (-3.00 to -2.00) |  |" in text
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == ["counts-step-0.svg", "counts-step-1.svg"]


def test_nothing_runs_without_an_autoscaler(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.rivals", str(tmp_path)]
    path = f"{ROOT}:{ROOT / 'examples' / 'flink'}"
    for more in ([], ["--autoscaler", str(tmp_path)]):
        done = subprocess.run(
            [*command, *more], capture_output=True, text=True, cwd=tmp_path, check=False,
            env={**ENVIRONMENT, "PYTHONPATH": path},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("flink-rivals: skipped, because --autoscaler names no folder")
    assert list(tmp_path.iterdir()) == []
