"""Scores under draws of uncertain costs, and shares of variance, against other computations."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.reference.random_problems import feasible_placements
from benchmarks.reference.uncertain_problems import larger_uncertain_problem, uncertain_problem
from streamplace import Problem, read_cluster
from streamplace.latency import sampled
from streamplace.latency.sampled import (
    CostDraws,
    carried_share,
    draws_within,
    first_order_shares,
    utilisation_at,
)
from streamplace.problem.objective import Model
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import throughput
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.work import own_utilisations
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng

SEEDS = range(40)


def drawn_problems(draws: CostDraws) -> list[Problem]:
    """Return an ordinary problem for each draw of the costs."""
    problem, graph = draws.problem, draws.problem.graph
    factors = draws.uncertainty.factors(draws.normals)
    problems = []
    for s in range(draws.count):
        drawn, before = graph.with_numbers(
            instructions=graph.instructions * factors.instructions[s],
            selectivity=graph.selectivity * factors.selectivity[s],
            stream_payload_bytes=graph.stream_payload_bytes
            * factors.payload_bytes[s][graph.stream_source],
        )
        assert sorted(before.tolist()) == list(range(len(before)))
        rates = problem.source_rates
        options = {"constraints": problem.constraints, "model": problem.model}
        share = problem.target_utilisation
        problems.append(
            Problem(drawn, problem.cluster, source_rate=rates, target_utilisation=share, **options)  # type: ignore[arg-type]  # the options have different types
        )
    return problems


def some_placements(problem: Problem) -> np.ndarray:
    rows = next(feasible_placements(problem))
    return rows[:: max(1, len(rows) // 6)]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_draw_scores_as_an_ordinary_problem(seed: int) -> None:
    problem = uncertain_problem(seed)
    draws = CostDraws(problem, Uncertainty.of(problem.graph), (seed,), 5)
    rows = some_placements(problem)
    found = draws.utilisation(rows)
    for s, drawn in enumerate(drawn_problems(draws)):
        for k, row in enumerate(rows):
            arrays = flow(drawn)
            device, link = utilisations(arrays, row)
            own = own_utilisations(arrays, row)
            worst = max(device.max(), link.max(initial=0.0), own.max())
            assert found[k, s] == pytest.approx(worst, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_a_draw_is_carried_where_the_score_is_the_source_rate(model: Model) -> None:
    agreed = np.zeros(2, int)
    for seed in range(15):
        problem = uncertain_problem(seed, model)
        problem = problem.with_source_rate(problem.source_rate)
        draws = CostDraws(problem, Uncertainty.of(problem.graph), (seed,), 4)
        rows = some_placements(problem)
        found = draws.utilisation(rows) <= 1.0
        for s, drawn in enumerate(drawn_problems(draws)):
            reached = throughput(drawn, rows)
            full = reached >= problem.source_rate * (1 - 1e-9)
            assert (full == found[:, s]).all()
            agreed += [full.sum(), (~full).sum()]
    assert (agreed > 50).all()


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = uncertain_problem(3)
    draws = CostDraws(problem, Uncertainty.of(problem.graph), (1, 2), 50)
    rows = some_placements(problem)
    whole = draws.utilisation(rows)
    monkeypatch.setattr(sampled, "BLOCK", 100)
    again = CostDraws(problem, Uncertainty.of(problem.graph), (1, 2), 50)
    assert (again.utilisation(rows) == whole).all()


def test_uplinks_count(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(
        '{"format": "streamplace-cluster", "version": 1, "devices": ['
        '{"name": "a", "mips": 2500, "group": "r"}, {"name": "b", "mips": 2500, "group": "s"}],'
        '"network": {"uplinks": {"r": {"up_mbps": 1.6}}}}'
    )
    graph, _ = chain_graph(1.0, 1.0).with_numbers(payload_bytes_se=[10.0, 0.0])
    problem = Problem(graph, read_cluster(file))
    draws = CostDraws(problem, Uncertainty.of(graph), (0,), 20_000)
    together, apart = draws.utilisation(np.array([[0, 0], [0, 1]], dtype=np.int32))
    assert together.max() < 1e-5
    assert apart.mean() == pytest.approx(0.5, rel=0.01)  # 0.8 of 1.6 Mbit/s
    assert apart.std() == pytest.approx(0.05, rel=0.03)


def test_quantiles_are_those_of_the_draws() -> None:
    utilisation = np.array([[0.5, 0.7, 0.9, 1.1], [1.2, 1.0, 0.1, 1.3]])
    assert carried_share(utilisation).tolist() == [0.75, 0.5]
    assert utilisation_at(utilisation, 0.75).tolist() == [0.9, 1.2]
    assert utilisation_at(utilisation, 0.76).tolist() == [1.1, 1.3]
    assert utilisation_at(utilisation, 1e-9).tolist() == [0.5, 0.1]


def test_large_graphs_have_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = larger_uncertain_problem(3)
    found = Uncertainty.of(problem.graph)
    assert draws_within(problem, found, 5000) == 5000
    monkeypatch.setattr(sampled, "MAX_LOADS", 100_000)
    assert 200 < draws_within(problem, found, 5000) < 2000
    monkeypatch.setattr(sampled, "MAX_NORMALS", 10)
    assert draws_within(problem, found, 5000) == 200


DRAWS = 16_384


def test_shares_of_a_sum_are_those_of_its_terms() -> None:
    z = seeded_rng().standard_normal((DRAWS, 3))
    shares = first_order_shares(z, 3 * z[:, 0] + z[:, 1])
    assert shares == pytest.approx([0.9, 0.1, 0.0], abs=0.015)


def test_effects_need_not_be_linear() -> None:
    """Var(exp(z)) is e (e - 1), and Var(z²) is 2."""
    z = seeded_rng().standard_normal((DRAWS, 2))
    result = np.exp(z[:, 0]) + z[:, 1] ** 2
    expected = np.e * (np.e - 1) / (np.e * (np.e - 1) + 2)
    assert first_order_shares(z, result) == pytest.approx([expected, 1 - expected], abs=0.05)


def test_an_interaction_is_no_first_order_share() -> None:
    z = seeded_rng().standard_normal((DRAWS, 2))
    assert first_order_shares(z, z[:, 0] * z[:, 1]) == pytest.approx([0, 0], abs=0.02)


def test_a_number_without_effect_has_no_share_of_few_draws() -> None:
    """Without its correction, 32 bins of 200 draws would show a share of 15%."""
    rng = seeded_rng()
    shares = [
        first_order_shares(rng.standard_normal((200, 1)), rng.standard_normal(200))[0]
        for _ in range(200)
    ]
    assert np.mean(shares) < 0.04


@pytest.mark.parametrize(("draws", "inputs"), [(400, 20_000), (400, 50), (4_000, 1_000)])
def test_of_many_numbers_without_effect_none_has_a_share(draws: int, inputs: int) -> None:
    """The strongest of 20,000 chance correlations of 400 draws explains 5% of the variance."""
    rng = seeded_rng()
    found = 0
    for _ in range(10):
        shares = first_order_shares(
            rng.standard_normal((draws, inputs)), rng.exponential(size=draws)
        )
        found += int(np.count_nonzero(shares))
    assert found <= 1


def test_a_number_with_an_effect_has_a_share_among_many() -> None:
    rng = seeded_rng()
    z = rng.standard_normal((400, 20_000))
    shares = first_order_shares(z, z[:, 7] + rng.standard_normal(400))
    assert np.flatnonzero(shares).tolist() == [7]
    assert shares[7] == pytest.approx(0.5, abs=0.12)


def test_constant_results_and_few_draws_have_no_shares() -> None:
    z = seeded_rng().standard_normal((100, 2))
    assert first_order_shares(z, np.ones(100)).tolist() == [0, 0]
    assert first_order_shares(z[:5], z[:5, 0]).tolist() == [0, 0]


def test_of_many_numbers_the_most_correlated_have_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "MOST", 2)
    z = seeded_rng().standard_normal((DRAWS, 5))
    shares = first_order_shares(z, 2 * z[:, 3] + z[:, 1] + 0.1 * z[:, 0])
    assert np.flatnonzero(shares).tolist() == [1, 3]
