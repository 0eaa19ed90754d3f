"""The figures of the runs beside Flink's autoscaler, on lines whose figures are known."""

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.rivals import queries
from benchmarks.rivals.figures import Sample, figures
from benchmarks.rivals.loads import (
    AUTOSCALER,
    FAMILIES,
    LENGTH_S,
    PIECE_S,
    QUIET_S,
    RECORDED,
    WATCH,
    Pieces,
    drawn,
    due_s,
    offered,
    order,
)
from benchmarks.rivals.logs import decisions
from benchmarks.rivals.queries import GAP, JOINED, QUERIES, RANKED, Numbers, skewed_auctions
from benchmarks.rivals.report import draw, page, paired
from benchmarks.rivals.sharing import Key, free_pairs
from streamplace.errors import FormatError
from streamplace.files.writing import held
from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT

PIECES = [(0.0, 10.0)]  # number n is due at (n + 1) / 10
LAST = int(LENGTH_S) * 10 - 1
COUNT = 3000
Lines = list[tuple[int, int, float]]


def lines(delay_s: float, query: str = "counts") -> Lines:
    due = due_s(PIECES)
    wanted = QUERIES[query].expected(len(due))
    columns = (wanted.number.tolist(), wanted.value.tolist(), due[wanted.cause] + delay_s)
    return [(number, value, float(at)) for number, value, at in zip(*columns, strict=True)]


@cache
def expected(query: str) -> dict[int, tuple[int, int]]:
    """Return number -> value and cause of the results on some tuples."""
    wanted = QUERIES[query].expected(COUNT)
    pairs = zip(wanted.value.tolist(), wanted.cause.tolist(), strict=True)
    return dict(zip(wanted.number.tolist(), pairs, strict=True))


def price(number: int) -> int:
    return 100 + number * 7919 % 10_000


def test_bids_are_filtered() -> None:
    kept = [n for n in range(COUNT) if n * 7 % 1009 % 4 == 0]
    assert expected("filter") == {n: (price(n) * 908 // 1000, n) for n in kept}


@pytest.mark.parametrize("query", ["counts", "rocksdb", "hidden", "skewed"])
def test_bids_are_counted(query: str) -> None:
    auctions = [n * 7 % 1009 for n in range(COUNT)]
    if query == "skewed":
        table = [k - 1 for k in range(1, 1010) for _ in range(1009 // k)]
        auctions = [table[n * 7919 % len(table)] for n in range(COUNT)]
    counts: Counter[int] = Counter()
    for number, auction in enumerate(auctions):
        counts[auction] += 1
        assert expected(query)[number] == (counts[auction], number)
    assert QUERIES[query].expected(COUNT).group.tolist() == auctions


def test_shares_of_skewed_auctions() -> None:
    """Zipf's law: the k-th auction gets 1/k of the bids of the first."""
    numbers: Numbers = np.arange(100_000)
    shares = np.bincount(skewed_auctions(numbers)) / len(numbers)
    assert shares[0] == pytest.approx(0.14, abs=0.01)
    assert shares[9] == pytest.approx(shares[0] / 10, rel=0.1)
    assert (shares > 0.0).all()


def test_bids_are_joined_with_the_openings_in_their_window() -> None:
    found = {}
    for begin in range(0, COUNT - JOINED, JOINED):
        openings = {n // 8: n for n in range(begin, begin + JOINED) if n % 8 == 0}
        for number in range(begin, begin + JOINED):
            auction = number // 8 - number * 7 % 5
            if number % 8 and auction in openings:
                more = price(number) - price(openings[auction])
                found[number] = (more, begin + JOINED)
    assert expected("join") == found
    assert 0.6 < len(found) / COUNT < 0.8


def test_bids_of_sessions_are_counted() -> None:
    found, open_ = {}, dict[int, list[int]]()
    for number in range(COUNT):
        for bidder, bids in list(open_.items()):
            if number - bids[-1] > GAP:
                found[bids[-1]] = (len(bids), bids[-1] + GAP)
                del open_[bidder]
        open_.setdefault(number**2 % 10_007 % 211, []).append(number)
    late = {bids[-1]: (len(bids), bids[-1] + GAP) for bids in open_.values()}
    assert expected("sessions") == found | {n: v for n, v in late.items() if v[1] < COUNT}
    assert len({count for count, _ in found.values()}) > 5


def test_bids_are_ranked_by_category_and_window() -> None:
    found: dict[int, tuple[int, int]] = {}
    for begin in range(0, COUNT - RANKED, RANKED):
        window = range(begin, begin + RANKED)
        for category in range(61):
            bids = [n for n in window if n * 7 % 1009 % 61 == category]
            best = sorted(bids, key=price, reverse=True)[:2]
            found |= {n: (rank + 1, begin + RANKED) for rank, n in enumerate(best)}
    assert expected("top") == found


def test_the_job_has_the_same_constants() -> None:
    sources = [ROOT / "examples" / "flink" / f"{name}.java" for name in ("Bid", "BidsJob")]
    text = "".join(path.read_text() for path in sources)
    names = ("AUCTIONS", "PRICES", "SQUARES", "BIDDERS", "KEPT", "CATEGORIES", "HIGHEST")
    for name in (*names, "JOINED", "RANKED", "GAP"):
        (value,) = re.findall(rf"{name} = (?:Duration.ofMillis\()?([\d_]+)", text)
        assert int(value) == getattr(queries, name), name


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
    assert found["waiting_tuple_s"] == pytest.approx(
        LENGTH_S, rel=0.01
    )  # ten tuples a second, each of 0.1 s
    assert (found["behind_s"], found["paused_s"], found["exact"]) == (0.0, 0.0, True)


def test_a_job_that_stops_for_ten_seconds() -> None:
    """From 100 s on, nothing is written for 10 s; then all at once."""
    late = [(n, v, 110.0 if 100.0 <= at < 110.0 else at) for n, v, at in lines(0.0)]
    found = figures_of(late)
    assert found["waiting_tuple_s"] == pytest.approx(10.0 * 10.0**2 / 2, rel=0.02)
    assert found["paused_s"] == pytest.approx(10.0, abs=0.2)
    assert found["behind_s"] == pytest.approx(8.0, abs=0.6)  # from 2 s of the rate on


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_can_be_in_time(query: str) -> None:
    """Windows close after their last bid, which is no waiting."""
    found = figures_of(lines(0.1, query), query=query)
    assert (found["behind_s"], found["paused_s"], found["exact"]) == (0.0, 0.0, True)
    assert found["waiting_tuple_s"] == pytest.approx(LENGTH_S, rel=0.01)


def test_what_comes_after_the_load_is_not_served() -> None:
    half = LENGTH_S * 10.0 / 2
    found = figures_of([(n, v, max(at, LENGTH_S + 5.0) if n >= half else at)
                        for n, v, at in lines(0.0)])  # fmt: skip
    assert found["served"] == pytest.approx(0.5, abs=0.001)
    assert found["waiting_tuple_s"] == pytest.approx(10.0 * (LENGTH_S / 2) ** 2 / 2, rel=0.01)
    assert found["exact"]


def test_filtered_tuples_count_as_those_that_are_kept() -> None:
    whole, kept = figures_of(lines(1.0)), figures_of(lines(1.0, "filter"), query="filter")
    assert kept["waiting_tuple_s"] == pytest.approx(whole["waiting_tuple_s"], rel=0.01)
    assert len(lines(0.0, "filter")) == pytest.approx(len(lines(0.0)) / 4, rel=0.02)


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
    assert found["slot_s"] == pytest.approx(11.0 + 3 * 99.0 + 2 * (LENGTH_S - 110.0))
    assert found["rescales"] == 2  # a recovery with the same numbers is none


@pytest.mark.parametrize(
    ("query", "change", "fault"),
    [
        (
            "counts",
            lambda rows: rows[:-1],
            f"1 results are missing, such as that of {LAST}",
        ),
        ("filter", lambda rows: rows[1:], "1 results are missing, such as that of 0"),
        ("filter", lambda rows: [*rows, (1, 0, 5.0)], "1 results are too many, such as that of 1"),
        (
            "filter",
            lambda rows: [(0, -1, 5.0), *rows[1:]],
            "the values of 1 groups are wrong, such as 0",
        ),
        (
            "counts",
            lambda rows: [(0, 2, 5.0), *rows[1:]],
            "the values of 1 groups are wrong, such as 0",
        ),
        ("counts", lambda rows: [*rows, (0, 1, 9.0)], ""),  # repeated after a checkpoint
        (
            "counts",  # two bids of an auction have passed each other
            lambda rows: [(0, 2, 0.1), *rows[1:1009], (1009, 1, 101.0), *rows[1010:]],
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
        "waiting": [0] * 150,
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
        row(WATCH, 2, slot_s=125.0),
        row(AUTOSCALER, 2, slot_s=100.0, rescales=2),
        row(WATCH, 3),
    ]
    assert [one["seed"] for one, _ in paired(rows)] == [0, 1, 2]
    text = page(paired(rows), {"seconds": 150.0, "slots": 6, "matched": []})
    assert "counts step 0 autoscaler: 1 results are missing" in text
    table = re.findall(r"^\| (.*?) \|.*\| (.*?) \|$", text.partition("## ")[2], re.MULTILINE)
    assert table[2] == ("slot-seconds", "worse")
    assert "| slot-seconds | 125 | 100 | +25 (+20 to +30) | worse |" in text
    assert "| rescales | 0.00 | 2.33 | -2.33 (-3.00 to -2.00) |  |" in text
    two = page(paired(rows[:4]), {"seconds": 150.0, "slots": 6, "matched": []})
    assert "| slot-seconds | 125 | 100 | +25 (two pairs) | worse |" in two


def test_the_page_begins_with_the_families_that_miss_most_goals() -> None:
    rows = [
        row(WATCH, 0, rescales=1),
        row(AUTOSCALER, 0, rescales=2),
        row(WATCH, 0, load="sine", rescales=2, waiting_tuple_s=200e3),
        row(AUTOSCALER, 0, load="sine", rescales=2, waiting_tuple_s=100e3),
        row(WATCH, 0, load="ramp", served=0.98, rescales=0),
        row(AUTOSCALER, 0, load="ramp", served=1.0, rescales=0),
    ]
    text = page(paired(rows), {"seconds": 150.0, "slots": 6, "matched": []})
    summary = [line for line in text.partition("## ")[0].splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[1:4] for line in summary[2:]] == [
        ["sine", "1", "waiting, rescales"],
        ["ramp", "1", "served"],
        ["step", "1", ""],
    ]
    assert "| 200.0 / 100.0 |" in summary[2]


def test_a_pair_is_drawn(tmp_path: Path) -> None:
    draw((row(WATCH, 0), row(AUTOSCALER, 0)), tmp_path / "pair.svg")
    assert "<svg" in (tmp_path / "pair.svg").read_text()


def shaped(folder: Path, text: str, seed: int = 0) -> Pieces:
    path = folder / "rates.csv"
    path.write_text(text)
    return drawn(RECORDED, seed, path)


def test_recorded_shapes(tmp_path: Path) -> None:
    """Half of a file, at a place drawn by seed, between a low and a high rate."""
    rising = shaped(tmp_path, "second|count\n" + "".join(f"{i}|{i * 50}\n" for i in range(2000)))
    rates = [rate for _, rate in rising[1:]]
    assert rates == sorted(rates)
    assert (80.0 <= rates[0] <= 120.0, 400.0 <= rates[-1] <= 550.0) == (True, True)
    assert rising[0] == (0.0, rates[0])
    assert rising[1][0] == QUIET_S
    assert len(rates) == round((LENGTH_S - QUIET_S) / PIECE_S)
    falling = shaped(tmp_path, "".join(f"{2000 - i}\n" for i in range(2000)))
    assert falling[0][1] == min(rate for _, rate in falling) < falling[1][1]
    few = shaped(tmp_path, "[\n1.5,\n2.5,\n1.0\n]")  # fewer numbers than pieces
    assert {rate for _, rate in few} != {few[0][1]}


@pytest.mark.parametrize("text", ["no numbers\n", "5\n5\n"])
def test_files_without_a_shape_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match=r"rates.csv: has no rates that change"):
        shaped(tmp_path, text)


def test_decisions_are_kept_and_the_rest_of_a_log_is_not(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    made = {"at": "2026-11-28T09:46:29+00:00", "state": "steady", "reason": "nothing: enough"}
    steps = [{"version": 1}, {"step": "window", "decision": made}, {"step": "required"}]
    text = "".join(json.dumps(each) + "\n" for each in steps)
    (tmp_path / "journal" / "journal.jsonl").write_text(text)
    assert decisions(WATCH, tmp_path) == ["2026-11-28T09:46:29+00:00 steady: nothing: enough"]
    colour, end = "\x1b[33m", "\x1b[m"
    log = (
        f"{colour}2026-11-28 09:50:11,9{end} o.a.f.a.Collector [INFO ] [c1] Stabilizing until 9\n"
        f"{colour}2026-11-28 09:50:12,204{end} o.a.f.a.e.Handler [INFO ] [c1] Autoscaler event, "
        "job key : c1, type : Normal, reason : Scaling, message : done., messageKey : null\n"
    )
    (tmp_path / "autoscaler.log").write_text(log)
    assert decisions(AUTOSCALER, tmp_path) == ["2026-11-28 09:50:12 Scaling done."]


def test_processes_share_pairs(tmp_path: Path) -> None:
    """What another one holds is left to it, and what an interrupted one left is removed."""
    keys: list[Key] = [("counts", "step", 0), ("counts", "step", 1), ("counts", "sine", 0)]
    (tmp_path / "counts-sine-0" / "watch").mkdir(parents=True)
    with held(tmp_path / "counts-step-1"):
        found = []
        for key, folder in free_pairs(keys, tmp_path):
            assert list(folder.iterdir()) == []
            (folder / "job.jar").write_text("")
            assert key not in dict(free_pairs(keys, tmp_path))  # as another process would see it
            found.append(key)
    assert found == [keys[0], keys[2]]
    assert not (tmp_path / "counts-step-0").exists()


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


def test_settings_are_scaled_as_those_of_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "flink")
    controllers = importlib.import_module("benchmarks.rivals.controllers")
    rows = {row["setting"]: row for row in controllers.matched()}
    assert rows["stabilisation"][WATCH] == "--stabilisation 8 s"
    assert rows["stabilisation"][AUTOSCALER] == "stabilization.interval 8000 ms"
    assert rows["target utilisation"][AUTOSCALER] == "utilization.target 0.7"
    assert rows["actions"][WATCH] == "--actions-per-hour 1000, --actions-per-day 1000"
