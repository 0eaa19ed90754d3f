"""The published networks: their number of devices and the state of their decoder."""

import pytest

from streamplace.errors import UsageError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import BeamSearching
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
