"""Networks as distributions over placements: alone or in company, told or chosen, they agree."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmarks.reference.strategies import problems
from streamplace import Cluster, Constraints, Operator, Problem, Stream, StreamGraph
from streamplace.errors import UsageError
from streamplace.policy.batch import Batch
from streamplace.policy.decoding import Sampler
from streamplace.policy.device_scorer.state import DecodingState
from streamplace.policy.features import encode
from streamplace.policy.ni2020.state import Ni2020State
from streamplace.policy.registry import Network
from streamplace.policy.rollout import Rollout
from streamplace.problem.objective import CLOSED_FORMS, Model
from streamplace.problem.symmetry import relabelled
from streamplace.util.arrays import Ints
from tests.placers.jobs import pipeline
from tests.placers.test_every_placer import constrained
from tests.policy.jobs import KINDS, SCRIPTING, batch_of, cluster_of, job, network_of, tiny

pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SCORERS = [name for name in KINDS if name.startswith("device-scorer")]
PUBLISHED = [name for name in KINDS if name not in SCORERS]
OF_ONE_ORDER = [name for name in KINDS if "orders" not in name]

of_every_kind = pytest.mark.parametrize("name", KINDS)
of_scorers = pytest.mark.parametrize("name", SCORERS)
of_published = pytest.mark.parametrize("name", PUBLISHED)


def greedy(network: Network, problem: Problem) -> Ints:
    """Return the placement of the likeliest device of every operator."""
    placed: Ints = network.sample(batch_of(problem), 1, Sampler())[0, 0]
    return placed


def assert_close(one: Tensor, other: Tensor) -> None:
    """Compare log-probabilities in single precision."""
    torch.testing.assert_close(one.detach(), other.detach(), rtol=1e-4, atol=1e-4)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def told(network: Network, problem: Problem, rows: Ints) -> Rollout:
    """Return how likely placements, (S, V), are."""
    with torch.no_grad():
        return network.rollout(batch_of(problem), len(rows), Sampler(), rows[None])


def every_placement(problem: Problem) -> Ints:
    devices = range(len(problem.cluster.devices))
    return np.array(list(product(devices, repeat=len(problem.graph.names))), dtype=np.int32)


def offered(network: Network, problem: Problem) -> Ints:
    """Return every placement that a network can choose; of a network of one order."""
    rows = every_placement(problem)
    if not network.breaks_symmetry:
        return rows
    one = encode(problem)
    first = [relabelled(row, one.job.kind, one.orders[0]) for row in rows]
    return np.unique(np.stack(first), axis=0)


def mixed(name: str) -> list[Problem]:
    """Return problems of unlike sizes, largest first; of unlike clusters, where those may differ.

    The second and third are of one size.
    """
    clusters = [cluster_of(3), cluster_of(3, "nic", seed=1), cluster_of(3, seed=2), cluster_of(3)]
    if name in SCORERS:
        clusters = [cluster_of(2, "nic"), cluster_of(5), cluster_of(8, seed=1), cluster_of(1)]
    large = [job(n, c, seed=n) for n, c in zip((15, 12, 12, 9), clusters, strict=True)]
    return [*large, tiny(clusters[1], 1)]


@of_every_kind
def test_greedy_placements_are_those_made_alone(name: str) -> None:
    network = network_of(name)
    problems = mixed(name)
    together = network.sample(batch_of(*problems), 1, Sampler())[:, 0]
    used = set()
    for problem, row in zip(problems, together, strict=True):
        size = len(problem.graph.names)
        assert row[:size].tolist() == greedy(network, problem).tolist()
        assert (row[size:] == -1).all()
        used.add(len(set(row[:size].tolist())))
    assert max(used) > 1, "a network that uses one device alone shows nothing"


@of_every_kind
def test_likelihoods_are_those_found_alone(name: str) -> None:
    """Of sampled placements; in company, and told again alone."""
    network = network_of(name)
    problems = mixed(name)
    together = network.rollout(batch_of(*problems), 4, Sampler(chance()))
    for p, problem in enumerate(problems):
        rows = together.placements[p, :, : len(problem.graph.names)]
        alone = told(network, problem, rows)
        assert (alone.placements[0] == rows).all()
        for column in ("log_probability", "entropy"):
            assert_close(getattr(alone, column)[0], getattr(together, column)[p])


@of_every_kind
def test_what_was_chosen_is_as_likely_when_it_is_told(name: str) -> None:
    network = network_of(name)
    batch = batch_of(*mixed(name))
    chosen = network.rollout(batch, 6, Sampler(chance()))
    assert len(np.unique(chosen.placements[0], axis=0)) > 1
    again = network.rollout(batch, 6, Sampler(), chosen.placements)
    assert (again.placements == chosen.placements).all()
    for column in ("log_probability", "entropy"):
        torch.testing.assert_close(getattr(again, column), getattr(chosen, column))
    assert (chosen.log_probability <= 0).all()
    assert (chosen.entropy >= 0).all()


@of_every_kind
def test_some_rows_told_and_others_free(name: str) -> None:
    """As in training: what is told stays, what is free (-1) is greedy here."""
    network = network_of(name)
    batch = batch_of(*mixed(name))
    chosen = network.rollout(batch, 4, Sampler(chance()))
    free = network.rollout(batch, 4, Sampler())
    forced = chosen.placements.copy()
    forced[:, :2] = -1
    both = network.rollout(batch, 4, Sampler(), forced)
    for rollout, rows in ((free, slice(2)), (chosen, slice(2, 4))):
        assert (both.placements[:, rows] == rollout.placements[:, rows]).all()
        now, before = both.log_probability[:, rows], rollout.log_probability[:, rows]
        assert_close(now, before)


@of_every_kind
def test_a_placement_begun_goes_on_from_there(name: str) -> None:
    """Told the first operators of a greedy placement, a network makes the rest the same."""
    network = network_of(name)
    problem = mixed(name)[0]
    row = greedy(network, problem)
    half = encode(problem).orders[0][: len(row) // 2]
    forced = np.full((1, 1, len(row)), -1, dtype=np.int32)
    forced[0, 0, half] = row[half]
    made = network.rollout(batch_of(problem), 1, Sampler(), forced)
    assert made.placements[0, 0].tolist() == row.tolist()


@of_scorers
def test_decisions_scored_at_once_are_those_scored_in_turn(name: str) -> None:
    """What each step's logits say of the device taken adds up to the rollout's likelihood."""
    network: Any = network_of(name)
    batch = batch_of(*mixed(name))
    chosen = network.rollout(batch, 4, Sampler(chance()))
    total = torch.zeros(len(batch) * 4)
    with torch.no_grad():
        growth = DecodingState(network, batch, 4, network.encode(batch))
        for t in range(growth.steps):
            logs = torch.log_softmax(growth.ask(t, *growth.room(t)), dim=1)
            taken = growth.of_step(t, chosen.placements)
            total[: len(taken)] += logs.gather(1, taken.unsqueeze(1)).squeeze(1)
            growth.take(t, taken)
    assert (growth.placements == chosen.placements).all()
    assert_close(total.reshape(-1, 4), chosen.log_probability)


PLACES: dict[str, Cluster] = {
    "equal": cluster_of(3),
    "unlike": cluster_of(3, seed=4),
    "interfaces": cluster_of(3, "nic"),
}


@pytest.mark.parametrize("cluster", PLACES)
@pytest.mark.parametrize("name", OF_ONE_ORDER)
def test_probabilities_add_up_to_one(name: str, cluster: str) -> None:
    """Of devices that are alike and empty some networks are offered the first alone."""
    network, problem = network_of(name), tiny(PLACES[cluster])
    rows = offered(network, problem)
    alike = network.breaks_symmetry and cluster != "unlike"
    assert len(rows) == (5 if alike else 27)
    likelihood = told(network, problem, rows).log_probability[0].double()
    assert likelihood.exp().sum().item() == pytest.approx(1.0, rel=1e-5)
    if alike:
        others = np.array([row for row in every_placement(problem) if row[0] != 0])
        assert told(network, problem, others).log_probability.max().item() < -1e8


@pytest.mark.parametrize("cluster", PLACES)
@pytest.mark.parametrize("name", OF_ONE_ORDER)
def test_entropies_of_decisions_make_up_that_of_placements(name: str, cluster: str) -> None:
    """The chain rule: the mean over placements of their decisions' entropies is the whole's."""
    network, problem = network_of(name), tiny(PLACES[cluster])
    rows = offered(network, problem)
    rollout = told(network, problem, rows)
    logs = rollout.log_probability[0].double()
    entropy = -(logs.exp() * logs).sum()
    decisions = (logs.exp() * rollout.entropy[0] * rows.shape[1]).sum()
    assert decisions.item() == pytest.approx(entropy.item(), rel=1e-4)
    assert entropy.item() > 0.1


@of_every_kind
def test_entropy_of_one_decision_by_hand(name: str) -> None:
    network, problem = network_of(name), tiny(cluster_of(3, seed=4), 1)
    rollout = told(network, problem, np.arange(3, dtype=np.int32)[:, None])
    share = rollout.log_probability[0].double().exp().tolist()
    assert sum(share) == pytest.approx(1.0)
    by_hand = -sum(p * np.log(p) for p in share)
    assert rollout.entropy[0].tolist() == pytest.approx([by_hand] * 3, rel=1e-4)


@pytest.mark.parametrize("name", OF_ONE_ORDER)
def test_samples_are_as_frequent_as_they_are_likely(name: str) -> None:
    """4,000 placements of two operators: within five standard deviations."""
    network, problem = network_of(name), tiny(cluster_of(3, seed=4), 2)
    rows = every_placement(problem)
    share = told(network, problem, rows).log_probability[0].double().exp().numpy()
    drawn = network.sample(batch_of(problem), 4000, Sampler(chance()))[0]
    counts = np.array([(drawn == row).all(axis=1).sum() for row in rows])
    assert counts.sum() == 4000
    spread = np.sqrt(4000 * share * (1 - share))
    assert (np.abs(counts - 4000 * share) <= 5 * spread + 1).all()


def test_temperature_flattens_and_the_first_is_the_likeliest() -> None:
    """At 2 the odds are square roots; of each problem's 1,000 rows the first is not drawn."""
    logits = torch.tensor([[0.0, 1.0, -1e9, -0.5]]).repeat(4000, 1)
    choose = Sampler(chance(), temperature=2.0, first_is_likeliest=True)
    chosen = choose(logits, 1000)
    assert chosen[::1000].tolist() == [1, 1, 1, 1]
    share = torch.softmax(logits[0] / 2, dim=0).numpy()
    counts = np.bincount(chosen.numpy(), minlength=4)
    assert (np.abs(counts - 4000 * share) <= 5 * np.sqrt(4000 * share * (1 - share)) + 4).all()
    assert counts[2] == 0


@of_every_kind
def test_every_parameter_gets_a_finite_gradient(name: str) -> None:
    network = network_of(name).train()
    rollout = network.rollout(batch_of(*mixed(name)), 4, Sampler(chance()))
    weight = torch.linspace(-1.0, 2.0, 4)
    loss = (rollout.log_probability * weight).sum() + rollout.entropy.sum()
    loss.backward()  # type: ignore[no-untyped-call]
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        assert torch.isfinite(parameter.grad).all(), key
        if key != "score.bias":  # adds the same to every device
            assert parameter.grad.abs().max() > 1e-7, key


@of_every_kind
def test_a_step_along_the_gradient_makes_a_placement_likelier(name: str) -> None:
    """By what the gradient promises."""
    network, problem = network_of(name), mixed(name)[1]
    batch = batch_of(problem)
    rows = network.rollout(batch, 1, Sampler(chance())).placements
    before = network.rollout(batch, 1, Sampler(), rows).log_probability
    before.sum().backward()  # type: ignore[no-untyped-call]
    uphill = [(p, p.grad) for p in network.parameters() if p.grad is not None]
    length = float(sum(gradient.pow(2).sum() for _, gradient in uphill))
    step = 1e-2 / length  # by so much the log-probability is to rise
    with torch.no_grad():
        for parameter, gradient in uphill:
            parameter.add_(step * gradient)
    after = network.rollout(batch, 1, Sampler(), rows).log_probability
    assert (after - before).item() == pytest.approx(1e-2, rel=0.2)


@pytest.mark.parametrize(
    "name",
    [
        *SCORERS,
        "b",
        *PUBLISHED[1:],
    ],
)
def test_a_batch_that_was_sampled_can_be_learned_from(name: str) -> None:
    network, batch = network_of(name), batch_of(*mixed(name))
    network.sample(batch, 1, Sampler())
    rollout = network.rollout(batch, 2, Sampler(chance()))
    rollout.log_probability.sum().backward()  # type: ignore[no-untyped-call]


@of_scorers
@pytest.mark.parametrize("factor", [0.01, 0.3, 40.0])
def test_under_bottleneck_the_source_rate_has_no_say(name: str, factor: float) -> None:
    """Only the shape of loads counts there."""
    network = network_of(name)
    for problem in (job(12, cluster_of(4, seed=1)), job(14, cluster_of(3, "nic"), seed=2)):
        rate = problem.source_rate * factor
        faster = Problem(problem.graph, problem.cluster, source_rate=rate)
        for one, other in zip(features(problem), features(faster), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert greedy(network, faster).tolist() == greedy(network, problem).tolist()
        rows = network.sample(batch_of(problem), 5, Sampler(chance()))[0]
        before, after = (told(network, p, rows).log_probability for p in (problem, faster))
        assert_close(after, before)


def test_no_source_rate_is_special_under_bottleneck() -> None:
    """At 1,000 tuples/s the operator fills the device to the brim."""
    problems = [Problem(pipeline(1e6), Cluster.equal(1, 1000.0), source_rate=r) for r in (1e3, 2e3)]
    for one, other in zip(*map(features, problems), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_under_path_average_overload_is_seen() -> None:
    problem, faster = (
        Problem(pipeline(1e6, 1e6), Cluster.equal(2, 1000.0), source_rate=r, model="path-average")
        for r in (300.0, 3000.0)
    )
    assert (encode(problem).whole != encode(faster).whole).any()
    assert encode(problem).job.unit == encode(faster).job.unit == 1.0


def features(problem: Problem) -> list[np.ndarray]:
    """Return what a scorer reads before it places anything."""
    one = encode(problem)
    return [one.operators, one.streams, one.whole]


@st.composite
def of_any_model(draw: st.DrawFn) -> Problem:
    return draw(problems(draw(st.sampled_from(CLOSED_FORMS))))


@given(of_any_model())
def test_what_is_read_is_finite_and_of_moderate_size(problem: Problem) -> None:
    """Whatever the graph: no work, no streams, one device, streams that carry nothing."""
    one = encode(problem)
    for column in (*features(problem), one.published):
        assert column.dtype == np.float32
        assert np.isfinite(column).all()
    for column in features(problem):
        assert np.abs(column).max(initial=0.0) < 60
    assert len(one.published) == len(one.operators) == one.size == len(problem.graph.names)


def test_published_features_by_hand() -> None:
    """1,000 tuples/s of .5 Minstructions on devices of 1,000 and 3,000 MIPS; 2 links of 8 Mbit."""
    cluster = Cluster.parse("1x1000,1x3000")
    slow = Cluster(cluster.devices, cluster_of(2).network)
    graph = pipeline(5e5, 1e6, payload_bytes=100.0)
    read = encode(Problem(graph, slow)).published
    traffic = 1000 * (3e-6 + 800 / 1500e6)
    np.testing.assert_allclose(read, [[0.25, traffic], [0.5, 0.0]], rtol=1e-6)


@settings(max_examples=30)
@given(of_any_model())
def test_a_scorer_places_whatever_there_is(problem: Problem) -> None:
    """And tells apart what it chose from what it cannot choose."""
    network = network_of("device-scorer, two orders")
    rollout = network.rollout(batch_of(problem), 3, Sampler(chance()))
    assert ((rollout.placements >= 0) & (rollout.placements < len(problem.cluster.devices))).all()
    assert (rollout.log_probability > -1e4).all()


@settings(max_examples=30)
@given(constrained())
def test_a_scorer_takes_allowed_devices_alone(problem: Problem | None) -> None:
    if problem is None:
        return
    rows = network_of("device-scorer").sample(batch_of(problem), 4, Sampler(chance()))[0]
    rules = problem.feasibility
    assert rules.allowed[rules.unit_of[None, :], rows].all()


@pytest.mark.parametrize(
    "names",
    [
        "ab",
        "ba",
    ],
)
def test_a_scorer_keeps_together_what_is_colocated(names: str) -> None:
    """a sends to b, in whatever order the file has them."""
    rows = [Operator(name, 1e6, 100.0) for name in names]
    together = Constraints(colocate=[["a", "b"]])
    graph = StreamGraph(rows, [Stream("a", "b")], source_rate=1000.0, constraints=together)
    problem = Problem(graph, cluster_of(3, seed=1))
    placed = network_of("device-scorer").sample(batch_of(problem), 32, Sampler(chance()))[0]
    assert len(np.unique(placed[:, 0])) > 1
    assert (placed[:, 0] == placed[:, 1]).all()


def rewritten(problem: Problem, order: Ints, prefix: str = "") -> Problem:
    """Return the same job with its operators listed in another order, and called otherwise."""
    graph = problem.graph
    rows = [graph.operators[int(v)] for v in order]
    shares = dict(zip(graph.names, graph.source_share.tolist(), strict=True))
    other = StreamGraph(
        [Operator(prefix + o.name, o.instructions, o.payload_bytes) for o in rows],
        [
            Stream(prefix + s.source, prefix + s.target, s.selectivity, s.payload_bytes)
            for s in reversed(graph.streams)
        ],
        source_shares={prefix + o.name: shares[o.name] for o in rows if shares[o.name]},
    )
    return Problem(other, problem.cluster, source_rate=problem.source_rate, model=problem.model)


def levels_last_first(problem: Problem) -> Ints:
    """Return the operators, the deepest level first, each level in its own order."""
    order = encode(problem).orders[0]
    deep = encode(problem).operators[order, 7]  # depth, as a share of the deepest
    levels: Ints = order[np.argsort(-deep, kind="stable")]
    return levels


@pytest.mark.parametrize("model", CLOSED_FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_names_and_the_order_of_levels_have_no_say(model: Model, seed: int) -> None:
    """Operators of one level are placed as the file lists them; nothing else depends on that."""
    network = network_of("device-scorer")
    for cluster in (cluster_of(4, seed=seed), cluster_of(3, "nic")):
        problem = job(14, cluster, seed=seed, model=model)
        before = greedy(network, problem)
        order = levels_last_first(problem)
        other = rewritten(problem, order, prefix="x")
        assert other.graph.names != problem.graph.names
        assert greedy(network, other).tolist() == before[order].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_embeddings_are_equivariant(seed: int) -> None:
    """However the operators are listed."""
    network: Any = network_of("device-scorer")
    problem = job(14, cluster_of(4, seed=seed), seed=seed)
    order = np.random.default_rng(seed).permutation(14).astype(np.int32)
    with torch.no_grad():
        before, after = (
            torch.cat(network.encode(batch_of(p)), dim=1)
            for p in (problem, rewritten(problem, order))
        )
    assert_close(after, before[torch.from_numpy(order).long()])


def test_devices_that_are_not_alike_may_be_listed_in_any_order() -> None:
    """A scorer sees devices by what they are, not by their number."""
    network = network_of("device-scorer")
    for seed in range(3):
        problem = job(12, cluster_of(4, seed=seed), seed=seed)
        order = np.random.default_rng(seed).permutation(4)
        turned = Cluster([problem.cluster.devices[d] for d in order], problem.cluster.network)
        other = Problem(problem.graph, turned, source_rate=problem.source_rate)
        assert order[greedy(network, other)].tolist() == greedy(network, problem).tolist()


@of_scorers
def test_one_set_of_weights_places_on_any_number_of_devices(name: str) -> None:
    network = network_of(name)
    for devices in (1, 2, 3, 7, 20):
        problem = job(20, cluster_of(devices, seed=devices), seed=1)
        rows = network.sample(batch_of(problem), 3, Sampler(chance()))[0]
        assert 0 <= rows.min() <= rows.max() < devices
        assert len(np.unique(rows)) >= min(devices, 2)


@of_published
@pytest.mark.parametrize("devices", [1, 2, 4])
def test_published_networks_refuse_other_numbers_of_devices(name: str, devices: int) -> None:
    network = network_of(name)
    wrong = job(9, cluster_of(devices))
    with pytest.raises(UsageError, match="places on 3 devices only"):
        greedy(network, wrong)
    with pytest.raises(UsageError, match="places on 3 devices only"):
        network.rollout(batch_of(job(12, cluster_of(3)), wrong), 2, Sampler())


@of_scorers
def test_a_beam_of_one_is_greedy(name: str) -> None:
    network = network_of(name)
    for problem in mixed(name):
        found = network.beam(batch_of(problem), 1)
        assert found.tolist() == [greedy(network, problem).tolist()]


@pytest.mark.parametrize("cluster", PLACES)
def test_a_beam_that_is_wide_enough_finds_all_in_order(cluster: str) -> None:
    """Likeliest first: of equal devices 15 placements of four operators, else 81."""
    network, problem = network_of("device-scorer"), tiny(PLACES[cluster], 4)
    rows = offered(network, problem)
    found = network.beam(batch_of(problem), len(rows))
    assert np.unique(found, axis=0).tolist() == rows.tolist()
    likelihood = told(network, problem, found).log_probability[0].tolist()
    assert all(one >= other - 1e-4 for one, other in pairwise(likelihood))
    alone = told(network, problem, greedy(network, problem)[None]).log_probability
    assert likelihood[0] >= alone.item() - 1e-4


@pytest.mark.parametrize("width", [2, 5, 16])
def test_beams_hold_different_placements_that_can_be_chosen(width: int) -> None:
    network = network_of("device-scorer")
    for problem in mixed("device-scorer")[:3]:
        found = network.beam(batch_of(problem), width)
        assert len(np.unique(found, axis=0)) == width
        likelihood = told(network, problem, found).log_probability[0].tolist()
        assert min(likelihood) > -1e4
        assert all(one >= other - 1e-3 for one, other in pairwise(likelihood))


def test_a_beam_of_a_network_of_two_orders() -> None:
    network = network_of("device-scorer, two orders")
    for problem in mixed("device-scorer"):
        found = network.beam(batch_of(problem), 6)
        assert (found >= 0).all(), "an operator was not placed"


@of_published
def test_published_networks_have_no_beam(name: str) -> None:
    with pytest.raises(UsageError, match="device-scorer"):
        network_of(name).beam(batch_of(job(9, cluster_of(3))), 2)


def test_a_decoder_is_told_where_upstream_operators_are() -> None:
    """a -> b, a -> c, b -> d, c -> d twice: a mean over operators, not over streams."""
    ends = ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "d")
    rows = [Operator(name, 1e5, 10.0) for name in "abcd"]
    graph = StreamGraph(rows, [Stream(*pair) for pair in ends])
    lone = StreamGraph([Operator("e", 1e5, 10.0)], [])
    batch = batch_of(*(Problem(g, cluster_of(3), source_rate=100.0) for g in (graph, lone)))
    trail = Ni2020State(batch, 2, 3, None)
    seen = []
    for t, devices in enumerate(([2, 0, 1, 1], [1, 0], [0, 0], [0, 0])):
        seen.append(trail.upstream(t).tolist())
        trail.take(t, torch.tensor(devices))
    nothing, on_0, on_2 = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    assert seen[0] == [nothing] * 4
    assert seen[1] == seen[2] == [on_2, on_0]
    assert seen[3] == [[0.5, 0.5, 0.0], on_0]
    assert trail.placements.tolist() == [
        [[2, 1, 0, 0], [0, 0, 0, 0]],
        [[1, -1, -1, -1], [1, -1, -1, -1]],
    ]


def test_problems_come_largest_first() -> None:
    small, large = (encode(job(n, cluster_of(2))) for n in (6, 9))
    with pytest.raises(ValueError, match="largest first"):
        Batch.of([small, large])
    batch = Batch.of([large, small, small])
    assert batch.active(np.arange(9, dtype=np.int32)).tolist() == [3] * 6 + [1] * 3


def test_padding_is_not_learned_from() -> None:
    """Whatever padding holds, a device that is not there changes no logit."""
    network: Any = network_of("device-scorer")
    problem = job(6, cluster_of(2))
    batch = batch_of(problem, tiny(cluster_of(5)))
    logits: list[Tensor] = []
    for filler in (0.0, 1e3):
        with torch.no_grad():
            growth = DecodingState(network, batch, 1, network.encode(batch))
            growth._resident[0, 2:] = filler
            logits.append(growth.ask(0, *growth.room(0))[0, :2])
    assert logits[0].tolist() == logits[1].tolist()
