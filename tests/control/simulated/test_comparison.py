"""Comparisons of controllers on simulated jobs, and the benchmark."""

import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.control.__main__ import main, row_of
from benchmarks.control.cases import DEVICES, STEPS, case
from benchmarks.control.simulated.comparison import Prices, compare, pays
from benchmarks.control.simulated.measuring import with_measured_costs
from benchmarks.control.simulated.rules import Never
from benchmarks.control.simulated.run import GAP_S, JobState
from benchmarks.control.simulated.trace import Disturbance, Trace
from benchmarks.control.tables import TABLE, page
from benchmarks.result_lines import LINES
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from tests.support.simulated import CHAIN, SMALL, constant, window_of

LARGE = Deployment({"read": ("d0",), "parse": ("d0", "d2"), "store": ("d1", "d3")})
START = JobState(0, SMALL)


@dataclass
class Scripted:
    """A rule that asks for a deployment after some windows."""

    wishes: dict[int, Deployment]
    windows: list[Observation] = field(default_factory=list)
    ends: list[tuple[float, float, float]] = field(default_factory=list)

    def step(self, observation: Observation) -> Deployment | None:
        """Return the wish after this window."""
        self.windows.append(observation)
        return self.wishes.get(len(self.windows))

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Keep the times."""
        self.ends.append((begun_s, ended_s, downtime_s))


def test_never_on_a_constant_rate() -> None:
    found = compare(CHAIN, constant(800.0), START, Never(), 0)
    assert found.served_share == pytest.approx(1.0)
    assert (found.mean_waiting, found.actions, found.delayed) == (0.0, 0, 0.0)
    assert found.machine_s == pytest.approx(2 * 3600.0)


def test_an_overload_without_actions() -> None:
    found = compare(CHAIN, constant(1250.0), START, Never(), 0)
    assert found.served_share == pytest.approx(0.8)
    assert found.mean_waiting == pytest.approx(250.0 * 3610.0 / 2)
    assert found.delayed == found.offered


def test_actions_are_counted_and_judged_with_hindsight() -> None:
    rule = Scripted({2: LARGE})
    found = compare(CHAIN, constant(1250.0), START, rule, 0)
    assert (found.actions, found.paid) == (1, 1)
    assert found.served_share == pytest.approx(1.0)
    assert len(rule.windows) == 12
    (begun_s, ended_s, downtime_s), after = rule.ends[0], rule.windows[2]
    assert begun_s == 600.0
    assert ended_s == after.started_s
    assert 1.0 <= downtime_s <= 3.2
    wasted = compare(CHAIN, constant(300.0), START, Scripted({2: LARGE}), 0)
    assert (wasted.actions, wasted.paid) == (1, 0)


def test_a_part_in_which_tuples_pile_up_ends_its_window() -> None:
    rates = np.full(360, 800.0)
    rates[45:] = 1300.0
    rule = Scripted({})
    compare(CHAIN, Trace("steps", rates), START, rule, 0, parts=5)
    ends = [(window.at_s, window.seconds) for window in rule.windows]
    assert ends[:4] == [(300.0, 300.0), (540.0, 60.0), (600.0, 60.0), (660.0, 60.0)]
    assert [window.rise_s2 for window in rule.windows[:4]] == [0.0] * 4


def test_a_rate_that_rises_on_is_measured_in_parts() -> None:
    rule = Scripted({})
    compare(CHAIN, Trace("wave", np.linspace(100.0, 900.0, 60)), START, rule, 0, parts=5)
    assert rule.windows[0].rise_s2 == pytest.approx(800.0 / 600.0, rel=0.2)


def test_fewer_machines_pay_if_their_price_is_higher_than_that_of_late_tuples() -> None:
    """Two machines an hour cost 7,200; 4.5 million tuples are delayed, and .9 million left."""
    trace, large = constant(900.0), JobState(0, LARGE)
    assert pays(CHAIN, trace, large, START, Prices())
    assert pays(CHAIN, constant(1250.0), large, START, Prices(delayed_tuple=0.001))
    assert not pays(CHAIN, constant(1250.0), large, START, Prices(delayed_tuple=0.002))
    assert not pays(CHAIN, trace, START, START, Prices())


def test_noise_does_not_depend_on_the_rule() -> None:
    rules = [Scripted({}), Scripted({3: LARGE})]
    for rule in rules:
        compare(CHAIN, constant(800.0), START, rule, 7)
    for one, other in zip(*(rule.windows[:3] for rule in rules), strict=True):
        assert one.readings == other.readings


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


def test_a_window_below_the_capacity() -> None:
    found = window_of(constant(800.0))
    assert found.offered_s == pytest.approx(800.0, rel=0.1)
    assert found.waiting == 0.0
    assert (found.at_s, found.seconds) == (300.0, 300.0)
    assert found.readings["parse"].busy == pytest.approx(0.8, rel=0.1)
    assert found.readings["store"].tuples_s == pytest.approx(400.0, rel=0.1)
    assert found.readings["read"].backpressured == 0.0
    assert found.missing == ()
    assert found.parallelism == SMALL.parallelism


def test_a_window_above_the_capacity() -> None:
    """Store is the last of the two that are the limit, so the source waits for parse."""
    found = window_of(constant(1300.0))
    assert found.readings["parse"].busiest == pytest.approx(1.0, abs=0.1)
    assert found.readings["read"].backpressured == pytest.approx(0.8, abs=0.05)
    assert found.offered_s == pytest.approx(1300.0, rel=0.1)
    assert found.waiting == pytest.approx(300.0 * 300.0)


def test_backpressure_hides_rates() -> None:
    hidden = window_of(constant(1300.0, hides=True))
    assert (hidden.offered_s, hidden.waiting) == (hidden.read_s, None)
    assert hidden.hidden == "backpressure hides the offered rate"
    assert window_of(constant(800.0, hides=True)).offered_s == pytest.approx(800.0, rel=0.1)


def test_lost_devices_are_missing() -> None:
    found = window_of(constant(500.0, 360, Disturbance("d1", 10, 360, 0.0)))
    assert found.devices == {"d0", "d2", "d3"}
    assert found.started_s == pytest.approx(105.3)


@pytest.mark.parametrize("rate_s", [300.0, 900.0, 5000.0])
def test_costs_are_measured(rate_s: float) -> None:
    """The means over many windows are the costs, also while devices have too few cores."""
    crowded = Deployment({"read": ("d0",), "parse": ("d0", "d0"), "store": ("d0", "d0")})
    for deployment in (SMALL, crowded):
        found = [
            with_measured_costs(
                CHAIN, window_of(constant(rate_s), JobState(0, deployment), seed=seed)
            )
            for seed in range(40)
        ]
        for v, operator in enumerate(CHAIN.operators):
            mean = np.mean([job.operators[v].core_s for job in found])
            assert mean == pytest.approx(operator.core_s, rel=0.05)


def test_costs_without_measurements_are_those_of_the_job() -> None:
    found = replace(window_of(constant(800.0)), readings={})
    assert with_measured_costs(CHAIN, found) == CHAIN
