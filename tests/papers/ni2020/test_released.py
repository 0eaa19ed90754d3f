"""The network of the released code, beside a computation of its formulas one by one."""

import numpy as np
import torch

from streamplace import Problem
from streamplace.learning.policy.decoding import Sampler
from streamplace.papers.ni2020.released import Released
from streamplace.util.arrays import Floats
from tests.support.graphs import preset_graph
from tests.support.policies import batch_of, cluster_of, policy_of


def test_logarithms_of_probabilities_by_hand() -> None:
    """Each operator, neighbour and step is visited alone, in 64-bit floats."""
    policy = policy_of("released")
    assert isinstance(policy, Released)
    problem = Problem(preset_graph("series-parallel", 7), cluster_of(3), source_rate=50.0)
    batch = batch_of(policy, problem)
    size = batch.encoded[0].size
    rows = np.random.default_rng(0).integers(3, size=(1, 4, size), dtype=np.int32)
    made = policy.rollout(batch, 4, Sampler(), rows).log_probability[0]
    expected = [by_hand(policy, problem, row) for row in rows[0]]
    np.testing.assert_allclose(made.detach().numpy(), expected, rtol=1e-4)
    assert np.ptp(expected) > 0.01


def by_hand(policy: Released, problem: Problem, devices: Floats) -> float:
    """Return the log-probability of a placement, (V,)."""
    encoded = policy.encode(problem)
    w = {name: value.detach().double().numpy() for name, value in policy.named_parameters()}
    flow, order = encoded.flow, encoded.orders[0]
    pairs = list(zip(flow.source.tolist(), flow.target.tolist(), strict=True))
    mbit = flow.stream_bits / 50.0 / 1e6
    views = []
    for ends in (pairs, [(b, a) for a, b in pairs]):
        h = [*encoded.operators.astype(float), np.zeros(2)]
        for layer in (0, 1):
            new = []
            for v in range(len(h)):
                near = [h[a] for a, b in ends if b == v] or [h[-1]]
                sent = [relu(weigh(w, f"encoder.layers.{layer}.message_of", one)) for one in near]
                parts = (
                    weigh(w, f"encoder.layers.{layer}.own", h[v]),
                    weigh(w, f"encoder.layers.{layer}.received", np.max(sent, axis=0)),
                )
                new.append(np.concatenate(parts))
            h = new if layer else [relu(one) for one in new]
        views.append([one / np.linalg.norm(one) for one in h[:-1]])
    embedded = [np.concatenate(both) for both in zip(*views, strict=True)]
    heard = np.max([relu(weigh(w, "encoder.hidden", one)) for one in embedded], axis=0)
    state, cell, total = weigh(w, "encoder.whole", heard), np.zeros(len(heard)), 0.0
    placed: set[int] = set()
    for v in order.tolist():
        near = [(a, m) for (a, b), m in zip(pairs, mbit, strict=True) if b == v and a in placed]
        read = sum((m * w["device.weight"][devices[a]] for a, m in near), np.zeros(len(state)))
        gates = (
            weigh(w, "from_operator", embedded[v])
            + weigh(w, "from_neighbours", read)
            + weigh(w, "from_state", state)
        )
        into, forget, out, candidate = np.split(gates, 4)
        cell = sigmoid(forget + w["forget"]) * cell + sigmoid(into) * np.tanh(candidate)
        state = sigmoid(out) * np.tanh(cell)
        query = weigh(w, "query", state)
        scores = np.array([weigh(w, "match", np.tanh(query + one))[0] for one in embedded])
        share = np.exp(scores - scores.max())
        context = share @ np.array(embedded) / share.sum()
        logits = weigh(w, "choose", np.concatenate([state, context]))
        total += logits[devices[v]] - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
        placed.add(v)
    return float(total)


def weigh(weights: dict[str, Floats], name: str, values: Floats) -> Floats:
    """Return what a linear layer makes of a vector."""
    return weights[f"{name}.weight"] @ values + weights.get(f"{name}.bias", 0.0)


def relu(values: Floats) -> Floats:
    """Return the larger one of each value and 0."""
    return np.maximum(values, 0.0)


def sigmoid(values: Floats) -> Floats:
    """Return the logistic function of each value."""
    return 1.0 / (1.0 + np.exp(-values))


def test_features_are_standardised() -> None:
    problem = Problem(preset_graph("series-parallel", 7), cluster_of(3), source_rate=50.0)
    plain = policy_of("released")
    assert isinstance(plain, Released)
    sizes = plain.config.model_copy(update={"means": (1.0, 2.0), "scales": (4.0, 5.0)})
    read, moved = plain.encode(problem).operators, Released(sizes).encode(problem).operators
    np.testing.assert_allclose(moved, (read - [1.0, 2.0]) / [4.0, 5.0], rtol=1e-5)
    assert torch.isfinite(torch.from_numpy(moved)).all()
