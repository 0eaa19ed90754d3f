"""What simulated jobs carry, compared with the closed form of the package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.control.plans import Deployment
from streamplace.scoring.throughput import throughput
from tests.support.simulated import CHAIN, SMALL

HOSTS = st.lists(st.sampled_from(["d0", "d1", "d2", "d3"]), min_size=1, max_size=4)


def test_capacity_by_hand() -> None:
    """Parse and store use a core each at 1,000 tuples/s; d0 has two cores for 1.2."""
    loads = CHAIN.loads(SMALL)
    assert loads.own == pytest.approx([0.0002, 0.001, 0.001])
    assert loads.on_device == pytest.approx([0.0006, 0.0005, 0.0, 0.0])
    assert loads.capacity_s == pytest.approx(1000.0)
    assert CHAIN.loads(SMALL, {"d1": 0.5}).capacity_s == pytest.approx(500.0)


@given(HOSTS, HOSTS, HOSTS)
def test_capacity_is_that_of_the_closed_form(
    read: list[str], parse: list[str], store: list[str]
) -> None:
    deployment = Deployment({"read": tuple(read), "parse": tuple(parse), "store": tuple(store)})
    placed = CHAIN.problem(deployment, 100_000.0)
    found = throughput(placed.problem, placed.devices[None])[0]
    assert CHAIN.loads(deployment).capacity_s == pytest.approx(found, rel=1e-9)


def test_instances_divide_the_tuples() -> None:
    twice = Deployment({"read": ("d0",), "parse": ("d0", "d1"), "store": ("d2", "d3")})
    assert np.allclose(CHAIN.loads(twice).own, [0.0002, 0.0005, 0.0005, 0.0005, 0.0005])
