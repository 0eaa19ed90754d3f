"""The policy that builds parts of a placement anew, and the placer `rebuild`."""

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.errors import ObjectiveError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.rebuild.policy import Rebuild
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.makespan.rebuilding import (
    COUNTS,
    HEADS,
    NAMES,
    PARTS,
    RELEVANT,
)
from streamplace.placers.registry import make_placer
from streamplace.problem.constraints import Constraints
from streamplace.problem.network import NetworkKind
from streamplace.scoring.registry import evaluator
from streamplace.util.running_search import counting
from tests.support.graphs import preset_graph

STEPS = 40


def contended(seed: int = 1, kind: str = "chain-mm") -> sp.Problem:
    """Return a generated problem of the family."""
    recipe = sp.Recipe(f"contended:kind={kind}:devices=4", seed + 1, seed=5)
    return sp.Problem(recipe.graph(seed), recipe.cluster(seed), objective=sp.Makespan())


def small(network: NetworkKind = "pair") -> sp.Problem:
    """Return a problem of 30 operators on three unequal devices."""
    devices = [sp.Device(f"d{i}", 1000.0 * (1 + i)) for i in range(3)]
    cluster = sp.Cluster(
        devices, sp.Network(network, bandwidth_mbps=1e5, latency_s=0.0, overhead_s=0.0)
    )
    return sp.Problem(preset_graph("layered", 30, 2), cluster, objective=sp.Makespan())


def rolled(problem: sp.Problem, forced: list[int] | None = None) -> Trajectories:
    """Return an episode from all operators on the first device, with one choice in all steps."""
    policy = Rebuild.uniform()
    start = np.zeros((1, 1, len(problem.graph.names)), np.int32)
    actions = None if forced is None else np.tile([-1, *forced], (1, 1, STEPS, 1))
    sampler = Sampler(torch.Generator().manual_seed(2))
    batch = policy.batch([policy.encode(problem)])
    with torch.no_grad():
        return policy.rollout(batch, start, [STEPS], sampler, [evaluator(problem)], actions)


def test_the_loss_never_rises_and_is_that_of_the_placement() -> None:
    problem = contended()
    with counting() as count:
        made = rolled(problem)
    assert made.losses is not None
    losses = made.losses[0, 0]
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < losses[0]
    assert losses[-1] == evaluator(problem).loss(made.placements[0, 0])[0]
    assert (count.evaluations or 0) <= STEPS + 1


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("network", ["free", "pair", "egress", "nic"])
def test_every_part_finds_a_shorter_makespan(part: str, network: NetworkKind) -> None:
    choice = [0] * len(HEADS)
    choice[NAMES.index("part")] = PARTS.index(part)
    choice[NAMES.index("size")], choice[NAMES.index("noise")] = 3, 2
    made = rolled(small(network), choice)
    assert made.losses is not None
    assert made.losses[0, 0, -1] < made.losses[0, 0, 0]


def test_heads_without_effect_have_no_probability() -> None:
    moved = [0] * len(HEADS)
    moved[0] = PARTS.index("moved")
    made = rolled(small(), moved)
    of_rule = [1 + NAMES.index(name) for name in ("received", "sent", "ahead", "noise", "present")]
    assert (made.log_prob[..., of_rule] == 0).all()
    assert (made.log_prob[..., 1] < 0).all()
    assert RELEVANT.shape == (len(PARTS), len(COUNTS))


def test_constraints_hold_in_every_part() -> None:
    problem = small()
    names = problem.graph.names
    problem = problem.with_constraints(
        Constraints(
            pins={names[0]: "d2"},
            colocate=[names[3:6]],
            exlocate=[[names[7], names[8]]],
            allowed={names[10]: ["d0", "d1"]},
        )
    )
    placed = make_placer("rebuild:evaluations=60")(problem, np.random.default_rng(0))
    assert problem.feasibility.violation(placed.devices) is None


def test_the_placer_improves_a_start_and_repeats() -> None:
    problem = contended(2, "transformer")
    start = make_placer("heft:contention")(problem, np.random.default_rng(0))
    placed = [
        make_placer("rebuild:evaluations=80")(problem, np.random.default_rng(1), start)
        for _ in "ab"
    ]
    assert (placed[0].devices == placed[1].devices).all()
    loss = evaluator(problem).loss
    assert loss(placed[0].devices)[0] < loss(start.devices)[0]


def test_other_objectives_are_refused() -> None:
    graph = preset_graph("dream", 10, 1)
    with pytest.raises(ObjectiveError, match="supports only makespan"):
        sp.place(graph, sp.Cluster.equal(2), placer="rebuild")
