"""The published networks: their number of devices and the state of their decoder."""

from pathlib import Path

import pytest
import torch

from streamplace import Problem
from streamplace.errors import UsageError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import BeamSearching
from streamplace.learning.policy.registry import make_policy
from streamplace.learning.training import read_config
from streamplace.papers.ni2020.network import View
from streamplace.papers.ni2020.policy import Decoder
from tests.support.graphs import preset_graph
from tests.support.policies import (
    batch_of,
    cluster_of,
    greedy_placement,
    layered_problem,
    of_published,
    policy_of,
)


@of_published
@pytest.mark.parametrize("devices", [1, 2, 4])
def test_published_networks_reject_other_numbers_of_devices(name: str, devices: int) -> None:
    policy = policy_of(name)
    wrong = layered_problem(9, cluster_of(devices))
    with pytest.raises(UsageError, match="requires 3 devices"):
        greedy_placement(policy, wrong)
    with pytest.raises(UsageError, match="requires 3 devices"):
        policy.rollout(batch_of(policy, layered_problem(12, cluster_of(3)), wrong), 2, Sampler())


@of_published
def test_published_networks_do_not_support_beam_search(name: str) -> None:
    assert not isinstance(policy_of(name), BeamSearching)


@pytest.mark.parametrize("name", ["paper", "released"])
def test_embeddings_of_each_direction_have_length_1(name: str) -> None:
    """As in algorithm 1 of GraphSAGE; the networks are those of the shipped configs."""
    policy = make_policy(read_config(name).policy)
    assert isinstance(policy, Decoder)
    problem = Problem(preset_graph("dream", 12), "5x2500", source_rate=1e4)
    batch = batch_of(policy, problem)
    at = torch.from_numpy(batch.encoded[0].orders[:1].astype("int64"))
    embedded, _, _ = policy.encoder(batch, at, torch.ones_like(at, dtype=torch.bool))
    lengths = embedded[0].unflatten(1, (2, -1)).norm(dim=2)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))


def test_a_layer_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Other(View):  # PyG writes a file for each class
        pass

    layer = Other(2, 3)
    assert layer(torch.zeros(2, 2), torch.tensor([[0], [1]])).shape == (2, 3)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
