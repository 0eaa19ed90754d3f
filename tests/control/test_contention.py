"""The campaign of contention on Flink: its jobs, and the page of its results."""

from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from benchmarks.contention.costs import BUSY, CPU, shares, table
from benchmarks.contention.jobs import INSTRUCTIONS, JOBS, SIZES, SLOTS, drawn
from benchmarks.contention.tables import OURS, page
from streamplace.files import write_dataset
from tests.support.paths import ROOT


def test_jobs_of_a_seed_stay_the_same() -> None:
    assert drawn() == drawn()
    assert len(drawn()) == JOBS
    assert drawn()[0] != drawn(seed=33)[0]


@pytest.mark.parametrize("seed", range(20))
def test_instances_follow_the_shares_of_the_work(seed: int) -> None:
    for job in drawn(seed):
        rates, work = {"events": 1.0}, {}
        for each in job.operators:
            arriving = sum(rates[name] for name in each.inputs)
            rates[each.name] = arriving * each.out / each.per
            work[each.name] = arriving * each.instructions
        assert SIZES[0] <= len(job.operators) <= SIZES[1]
        assert sum(work.values()) == pytest.approx(INSTRUCTIONS)
        assert job.sink_share == pytest.approx(rates[job.operators[-1].name])
        executed = [job.arriving[each.name] * each.instructions for each in job.operators]
        assert executed == pytest.approx(list(work.values()))
        counts = {each.name: each.instances for each in job.operators}
        assert max(counts.values()) == SLOTS
        largest = max(work.values())
        for name, count in counts.items():
            assert count - 1 <= SLOTS * work[name] / largest * (1 + 1e-9) <= count * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_every_operator_is_read(seed: int) -> None:
    for job in drawn(seed):
        names = {each.name for each in job.operators}
        read = {name for each in job.operators for name in each.inputs}
        assert names - read == {job.operators[-1].name}


def row(job: str, repeat: int, way: str, rate: float) -> dict[str, Any]:
    return {"job": job, "repeat": repeat, "way": way, "work": rate, "sink": rate, "source": rate}


def test_the_page_compares_runs_of_the_same_turn() -> None:
    rates = {"default": (100.0, 80.0), "tasks": (110.0, 100.0), OURS: (120.0, 120.0)}
    rows = [
        row(job, repeat, way, rate * (1.0 if job == "a" or way == OURS else 2.0))
        for job in "ab"
        for way, both in rates.items()
        for repeat, rate in enumerate(both)
    ]
    rows.append(row("a", 2, OURS, 1e6))  # a turn that was interrupted
    text = page(rows, {"seed": 1, "share": 0.5, "commit": "c"}, ["| costs |"])
    assert "| a | 90 | 105 | 120 | +35.0% (+20.0% to +50.0%)" in text
    assert "| yes |" in text
    assert "NO |" in text
    assert "better than both on 1 of 2 jobs" in text
    assert "2 runs of each" in text


def test_the_mean_gain_has_the_spread_of_the_jobs() -> None:
    rates = {"a": 110.0, "b": 130.0, "c": 120.0}
    rows = [
        {**row(job, repeat, way, rates[job] if way == OURS else 100.0), "sink": 80.0}
        for job in rates
        for way in ("default", "tasks", OURS)
        for repeat in range(5)
    ]
    text = page(rows, {"seed": 1, "share": 0.5, "commit": "c"}, ["| costs |"])
    assert "Mean gain over tasks: +20.0%, 95% interval over the jobs +10.0% to +30.0%" in text
    assert "source and at the sink differ by at most 62.5%" in text
    assert "better than both on 3 of 3 jobs; by the\ncounts of the sink alone, on 0." in text
    assert "| costs |" in text


def test_costs_are_compared_up_to_a_common_factor(tmp_path: Path) -> None:
    job = drawn()[0]
    first = job.operators[0]
    for factor, file in ((1.0, CPU), (2.0, BUSY)):
        costs = [3e-4 * each.instructions for each in job.operators]
        costs[0] *= factor
        operators = [
            (f"{each.name}[{i}]", cost, 8.0)
            for each, cost in zip(job.operators, costs, strict=True)
            for i in range(each.instances)
        ]
        file_of_job = job.folder(tmp_path) / file
        file_of_job.parent.mkdir(exist_ok=True)
        write_dataset(file_of_job, [sp.StreamGraph(operators, [])])
    share = job.arriving[first.name] * first.instructions / INSTRUCTIONS
    assert shares(job, job.folder(tmp_path) / CPU) == pytest.approx(1.0)
    assert shares(job, job.folder(tmp_path) / BUSY)[0] == pytest.approx(2.0 / (1.0 + share))
    low, high = 1.0 / (1.0 + share), 2.0 / (1.0 + share)
    assert table([job], tmp_path)[-1] == f"| job 0 | 1.00 to 1.00 | {low:.2f} to {high:.2f} |"


def test_work_is_counted_in_tuples_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "flink"))
    done = pytest.importorskip("benchmarks.contention.trial").done
    for job in drawn():
        read = {each.name: 7 * job.arriving[each.name] for each in job.operators}
        assert done(job, read) == pytest.approx(7.0)
        heaviest = max(job.operators, key=lambda each: each.instructions * read[each.name])
        less = done(job, read | {heaviest.name: 0.0})
        assert less == pytest.approx(
            7.0 - heaviest.instructions * read[heaviest.name] / INSTRUCTIONS
        )


def test_every_way_comes_first_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "flink"))
    turn = pytest.importorskip("benchmarks.contention.__main__").turn
    assert [turn(repeat)[0] for repeat in range(4)] == ["default", "tasks", OURS, "default"]
    assert {tuple(sorted(turn(repeat))) for repeat in range(4)} == {("default", OURS, "tasks")}
