"""Placements that carry the source rate with a probability, and the number to measure better."""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import streamplace as sp
from benchmarks.confidence import ASKED, checked
from benchmarks.reference.uncertain_problems import TrueCosts, uncertain_problem
from streamplace.errors import ProblemError, UsageError
from streamplace.files.reading import read_json
from streamplace.latency import sampled
from streamplace.latency.confidence import REPORTED, Confidence
from streamplace.latency.confident import COMPARED
from streamplace.latency.sampled import CostDraws
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from streamplace.workflows.result import Result
from tests.support.objectives import Net
from tests.support.placements import solve
from tests.support.share import Share

GRAPH = sp.StreamGraph(
    [
        sp.Operator("steady", 1e6, 0.0, instructions_se=1e5),
        sp.Operator("wild", 1e6, 0.0, instructions_se=3e5),
    ],
    source_rate=1000.0,
)


def confidence_of(result: Result) -> Confidence:
    assert result.confidence is not None
    return result.confidence


def test_the_probability_of_one_operator_is_known() -> None:
    """One lognormal cost: P(cost <= capacity / rate) has a closed form."""
    graph = sp.StreamGraph([sp.Operator("a", 2e6, 0.0, instructions_se=5e5)], source_rate=1000.0)
    found = confidence_of(sp.place(graph, "1x2500", confidence=0.9))
    sigma = np.sqrt(np.log(1 + 0.25**2))
    mu = np.log(2e6) - sigma**2 / 2
    exact = NormalDist(mu, sigma).cdf(np.log(2.5e6))
    assert found.reached == pytest.approx(exact, abs=4 * found.reached_se)
    assert found.reached_se == pytest.approx(np.sqrt(exact * (1 - exact) / found.samples), rel=0.1)
    rate = 2.5e9 / np.exp(NormalDist(mu, sigma).inv_cdf(0.9))
    assert found.source_rate == pytest.approx(rate, rel=0.02)
    assert found.measure_better is not None
    assert (found.measure_better.kind, found.measure_better.name) == ("instructions", "a")
    assert found.measure_better.share == pytest.approx(1.0, abs=0.03)


def two_exact_two_wild() -> sp.Problem:
    """Return two costs of exactly 1 and two of 1 ± 0.4, on two devices of 2.5."""
    rows = [sp.Operator(f"exact{i}", 1e6, 0.0) for i in range(2)]
    rows += [sp.Operator(f"wild{i}", 1e6, 0.0, instructions_se=4e5) for i in range(2)]
    graph = sp.StreamGraph(rows, source_rate=4000.0)  # 1,000 for each
    return sp.Problem(graph, "2x2500")


def test_uncertain_operators_share_a_device_if_that_carries_more_often() -> None:
    """Pairs of operators go onto two devices, whose mean utilisations are equal in any case.

    Both uncertain ones together (2 ± 0.57) exceed 2.5 in 17% of the draws. One of them with an
    exact one (2 ± 0.4) exceeds it in 11%, but that can happen on two devices, in 20% together.
    """
    problem = two_exact_two_wild()
    apart = sp.Placement(problem, [0, 1, 0, 1])
    result = solve(problem, lambda *_: apart, confidence=0.9)
    on = result.placement.assignment
    assert on["wild0"] == on["wild1"] != on["exact0"] == on["exact1"]
    found = confidence_of(result)
    assert found.without == pytest.approx(0.80, abs=0.02)
    assert found.reached == pytest.approx(0.83, abs=0.02)
    assert found.reached > found.without


def test_a_placement_that_fails_more_often_is_replaced() -> None:
    problem = two_exact_two_wild()
    uneven = sp.Placement(problem, [0, 0, 0, 1])
    result = solve(problem, lambda *_: uneven, confidence=0.9)
    found = confidence_of(result)
    assert found.reached > found.without + 0.5
    assert result.score.throughput == pytest.approx(4000.0)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        (0.9, 4),
        pytest.param(0.9, 12, marks=pytest.mark.long),
        pytest.param(0.5, 12, marks=pytest.mark.long),
    ],
)
def test_the_reported_probability_holds_for_other_draws(asked: float, count: int) -> None:
    """Draws by other code, scored one by one; the mean difference is within a point."""
    differences = []
    for seed in range(count):
        problem = uncertain_problem(seed)
        result = solve(problem, "search:evaluations=20000", confidence=asked)
        found = confidence_of(result)
        rng, true = np.random.default_rng(seed), TrueCosts(problem)
        row = result.placement.devices
        worst = [worst_utilisation(flow(true.draw(rng)), row)[0] for _ in range(400)]
        differences.append(found.reached - np.mean(np.array(worst) <= 1.0 + 1e-9))
    assert abs(np.mean(differences)) < 0.015
    assert np.max(np.abs(differences)) < 0.08


def test_the_number_with_the_largest_effect_is_named() -> None:
    graph, _ = GRAPH.with_numbers(instructions=[1e6, 1e6])
    for devices, least in (("1x2500", 0.8), ("2x2500", 0.6)):
        found = confidence_of(sp.place(graph, devices, confidence=0.9))
        assert found.measure_better is not None
        assert found.measure_better.name == "wild"
        assert found.measure_better.share > least
    on_one = confidence_of(sp.place(graph, "1x2500", confidence=0.9))
    assert [each.share for each in on_one.influences] == pytest.approx([0.9, 0.1], abs=0.05)


def test_a_number_that_does_not_limit_the_rate_is_not_named() -> None:
    """`wild` is uncertain but light, so the rate does not depend on it."""
    graph, _ = GRAPH.with_numbers(instructions=[2e6, 1e4], instructions_se=[1e5, 8e3])
    found = confidence_of(sp.place(graph, "2x2500", confidence=0.9))
    assert found.influences[0].name == "steady"
    assert found.influences[0].share > 0.95


def test_selectivities_and_payloads_can_be_the_number_to_measure() -> None:
    rows = [sp.Operator("a", 1e4, 1e3), sp.Operator("b", 1e6, 0.0)]
    streams = [sp.Stream("a", "b", 1.0, selectivity_se=0.3)]
    graph = sp.StreamGraph(rows, streams, source_rate=1000.0)
    better = confidence_of(sp.place(graph, "2x2500", confidence=0.9)).measure_better
    assert better is not None
    assert (better.kind, better.name) == ("selectivity", "a->b")
    rows = [sp.Operator("a", 1e4, 1e5, payload_bytes_se=2e4), sp.Operator("b", 1e4, 0.0)]
    graph = sp.StreamGraph(rows, [sp.Stream("a", "b")], source_rate=1000.0)
    apart = sp.Constraints(exlocate=[["a", "b"]])
    better = confidence_of(
        sp.place(graph, "2x2500", constraints=apart, confidence=0.9)
    ).measure_better
    assert better is not None
    assert (better.kind, better.name) == ("payload_bytes", "a")


def test_instances_count_as_one_number() -> None:
    """Independent costs of ten instances would average out; a shared cost does not."""
    graph = sp.StreamGraph([sp.Operator("a", 1e6, 0.0, instructions_se=3e5)], source_rate=2000.0)
    expanded = to_instances(LogicalGraph(graph, {"a": 10}))
    found = confidence_of(sp.place(expanded, "1x2500x10", confidence=0.9))
    assert [each.name for each in found.influences] == ["a"]
    one = confidence_of(sp.place(graph, "1x2500", confidence=0.9))
    assert found.source_rate is not None
    assert one.source_rate is not None
    assert found.source_rate == pytest.approx(10 * one.source_rate, rel=1e-9)


def test_a_rate_that_is_out_of_reach() -> None:
    result = sp.place(GRAPH, "1x2500", source_rate=5000.0, confidence=0.9)
    found = confidence_of(result)
    assert found.reached == 0.0
    assert 0.0 < found.reached_se < 1e-3
    assert found.source_rate is not None
    assert found.source_rate < 2500.0  # the rate at the mean costs
    text = "\n".join(line.text for line in found.lines())
    assert "no placement found carries the 5,000 offered with probability 0.9" in text


def test_headroom_and_several_rates_count() -> None:
    plain = confidence_of(sp.place(GRAPH, "1x2500", source_rate=[500, 1000], confidence=0.9))
    assert plain.offered == 1000.0
    half = sp.place(GRAPH, "1x5000", source_rate=1000, target_utilisation=0.5, confidence=0.9)
    assert confidence_of(half).reached == plain.reached
    assert confidence_of(half).source_rate == pytest.approx(plain.source_rate)


def test_exact_costs_have_no_report() -> None:
    graph = sp.StreamGraph([("a", 1e6, 0.0), ("b", 1e6, 0.0)], source_rate=1000.0)
    result = sp.place(graph, "2x2500", confidence=0.9)
    assert result.confidence is None
    assert "confidence" not in result.to_dict()
    assert result.placement == sp.place(graph, "2x2500").placement


def test_equal_seeds_give_equal_results() -> None:
    first, again = (sp.place(GRAPH, "2x2500", confidence=0.9, seed=4) for _ in range(2))
    assert first.placement == again.placement
    assert first.confidence == again.confidence
    assert sp.place(GRAPH, "2x2500", confidence=0.9, seed=5).confidence != first.confidence


def test_the_report_is_json_and_placement_files_keep_it(tmp_path: Path) -> None:
    result = sp.place(GRAPH, "2x2500", confidence=0.9)
    printed = result.to_dict()["confidence"]
    assert set(printed) == {
        "asked",
        "reached",
        "reached_se",
        "without",
        "source_rate",
        "samples",
        "measure_better",
        "shares",
    }
    assert set(printed["measure_better"]) == {"kind", "name", "share"}
    assert printed["shares"][0] == printed["measure_better"]
    result.save(tmp_path / "placement.json")
    assert read_json(tmp_path / "placement.json")["confidence"] == printed
    assert sp.read_placement(tmp_path / "placement.json") == result.placement


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, float("nan")])
def test_other_probabilities_are_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match="confidence: must be above 0 and below 1"):
        sp.place(GRAPH, "2x2500", confidence=confidence)


@pytest.mark.parametrize("confidence", [0.9991, 0.9999999])
def test_probabilities_beyond_the_draws_are_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match=rf"at most 0.999, since .* \(got {confidence}\)"):
        sp.place(GRAPH, "2x2500", confidence=confidence)


def test_few_draws_for_a_high_probability_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "only 200 draws were possible on a graph of this size, so the rate with probability 0.96"
    found = confidence_of(sp.place(GRAPH, "1x2500", confidence=0.96))
    assert text not in str([line.text for line in found.lines()])
    monkeypatch.setattr(sampled, "MAX_NORMALS", 400)
    found = confidence_of(sp.place(GRAPH, "1x2500", confidence=0.96))
    assert text in str([line.text for line in found.lines()])


def test_the_report_uses_other_draws_than_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the search would choose what suits the draws that then judge it."""
    seeds: dict[int, set[tuple[int, ...]]] = {}
    utilisation = CostDraws.utilisation

    def recorded(draws: CostDraws, rows: np.ndarray) -> np.ndarray:
        seeds.setdefault(draws.count, set()).add(draws.seed)
        return utilisation(draws, rows)

    monkeypatch.setattr(CostDraws, "utilisation", recorded)
    confidence_of(sp.place(GRAPH, "2x2500", confidence=0.9))
    assert len(seeds[COMPARED]) == len(seeds[REPORTED]) == 1
    assert seeds[COMPARED].isdisjoint(seeds[REPORTED])


def test_what_is_not_supported_is_refused_before_placing() -> None:
    def unused(
        problem: sp.Problem, rng: np.random.Generator, start: sp.Placement | None = None
    ) -> sp.Placement:
        raise AssertionError

    with pytest.raises(UsageError, match="requires the model bottleneck or path-average"):
        sp.place(GRAPH, "2x2500", model="engine", confidence=0.9, placer=unused)
    objective = Net((1000.0,))
    with pytest.raises(UsageError, match="confidence supports only throughput, not objective"):
        sp.place(GRAPH, "2x2500", objective=objective, confidence=0.9, placer=unused)
    with pytest.raises(ProblemError, match="model: must be one of"):
        sp.place(GRAPH, "2x2500", model="other", confidence=0.9)  # type: ignore[call-overload]


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_the_promised_share_holds_on_200_problems(part: int, share: Share) -> None:
    """As `benchmarks.confidence` does, with fewer draws of the true costs of each problem."""
    numbers = range(part, 200, 4)
    rows = [row for number in share.of(numbers) for row in checked(number, draws=100)]
    for asked in ASKED:
        of_asked = [row for row in rows if row.asked == asked]
        reported = np.mean([row.reported for row in of_asked])
        carried = np.mean([row.carried for row in of_asked])
        assert reported == pytest.approx(carried, abs=0.03)
    reached = [row for row in rows if row.reported >= row.asked]
    assert np.mean([row.carried - row.asked for row in reached]) >= -0.03
    assert min(row.reported - row.without for row in rows) >= -0.01
