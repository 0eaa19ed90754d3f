"""The event engine of schedules, compared with the plain engine and with known makespans."""

import gzip
import json

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import ScheduleForm
from streamplace.sim.schedule.lists import list_schedule
from streamplace.sim.schedule.passes import makespans
from streamplace.sim.schedule.ranks import optimistic_costs
from tests.support.released_data import SHARED
from tests.support.schedule_comparison import first_difference
from tests.support.schedule_tasks import fast_engine, heft_rank, task_problem
from tests.support.share import Share

MAKESPAN = SHARED / "makespan"


def test_golden_cases() -> None:
    if not MAKESPAN.exists():
        pytest.skip("the golden cases are not in ../shared")
    for line in (MAKESPAN / "golden.jsonl").read_text().splitlines():
        case = json.loads(line)
        forms = (case[name] for name in ("graph", "cluster", "settings", "placement"))
        start, finish = fast_engine(*forms)
        assert start == case["expected"]["start_s"], case["name"]
        assert finish == case["expected"]["finish_s"], case["name"]


def test_it_agrees_with_the_plain_engine() -> None:
    assert first_difference(fast_engine, range(300), tolerance_s=0.0) is None
    assert first_difference(fast_engine, range(10), large=True, tolerance_s=0.0) is None


@pytest.mark.long
def test_it_agrees_with_the_plain_engine_on_many_problems(share: Share) -> None:
    small, large = share.of(range(300, 21_500)), share.of(range(10, 600))
    assert first_difference(fast_engine, small, tolerance_s=0.0) is None
    assert first_difference(fast_engine, large, large=True, tolerance_s=0.0) is None


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["giph-single", "giph-several"])
def test_heft_and_peft_on_giph_problems(name: str, step: int) -> None:
    path = MAKESPAN / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the GiPH problems are not in ../shared")
    for line in gzip.decompress(path.read_bytes()).splitlines()[::step]:
        row = json.loads(line)
        form: ScheduleForm = {
            "graph": row["graph"],
            "cluster": row["cluster"],
            "settings": row["settings"],
            "placement": row["reference"]["best_placement"],
        }
        _, tasks, rules, order, devices = task_problem(form)
        heft = list_schedule(tasks, rules, heft_rank(tasks, rules))
        ahead = optimistic_costs(tasks, rules.allowed, rules.row_of)
        means = np.array([a[may].mean() for a, may in zip(ahead, rules.allowed, strict=True)])
        peft = list_schedule(tasks, rules, means, ahead)
        found = makespans(tasks, order, np.stack([devices, heft.devices, peft.devices]))
        expected = [row["reference"][key] for key in ("optimum", "heft", "peft")]
        assert found.tolist() == pytest.approx(expected, rel=1e-12), row["name"]
        own = [row["reference"][key] for key in ("heft_own", "peft_own")]
        assert [heft.length, peft.length] == pytest.approx(own, rel=1e-12), row["name"]
