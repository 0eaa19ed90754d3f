"""The campaign of contention on Flink: its jobs, and the page of its results."""

from typing import Any

import pytest

from benchmarks.contention.jobs import INSTRUCTIONS, JOBS, SIZES, SLOTS, drawn
from benchmarks.contention.tables import OURS, page
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
    return {"job": job, "repeat": repeat, "way": way, "sink": rate, "source": rate}


def test_the_page_compares_runs_of_the_same_turn() -> None:
    rates = {"default": (100.0, 80.0), "tasks": (110.0, 100.0), OURS: (120.0, 120.0)}
    rows = [
        row(job, repeat, way, rate * (1.0 if job == "a" or way == OURS else 2.0))
        for job in "ab"
        for way, both in rates.items()
        for repeat, rate in enumerate(both)
    ]
    rows.append(row("a", 2, OURS, 1e6))  # a turn that was interrupted
    text = page(rows, {"seed": 1, "share": 0.5, "commit": "c"})
    assert "| a | 90 | 105 | 120 | +35.0% (+20.0% to +50.0%)" in text
    assert "| yes |" in text
    assert "NO |" in text
    assert "better than both on 1 of 2 jobs" in text
    assert "2 runs of each" in text


def test_the_mean_gain_has_the_spread_of_the_jobs() -> None:
    rates = {"a": 110.0, "b": 130.0}
    rows = [
        {**row(job, repeat, way, rates[job] if way == OURS else 100.0), "source": 99.0}
        for job in rates
        for way in ("default", "tasks", OURS)
        for repeat in range(5)
    ]
    text = page(rows, {"seed": 1, "share": 0.5, "commit": "c"})
    assert "Mean gain over tasks: +20.0%, 95% interval over the jobs +10.0% to +30.0%" in text
    assert "rates differ by at most 23.8%" in text


def test_every_way_comes_first_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "flink"))
    turn = pytest.importorskip("benchmarks.contention.__main__").turn
    assert [turn(repeat)[0] for repeat in range(4)] == ["default", "tasks", OURS, "default"]
    assert {tuple(sorted(turn(repeat))) for repeat in range(4)} == {("default", OURS, "tasks")}
