"""Lower bounds on devices of which any one may be lost."""

from itertools import combinations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import streamplace as sp
from streamplace.placers.subset.conditions import Conditions
from streamplace.placers.subset.kinds import Kinds
from streamplace.workflows.size import size
from streamplace.workflows.sizing.fluid import fluid_bound

DEVICE = st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0.0, 0.5, 1.0, 2.5]))


@settings(max_examples=80, deadline=None)
@given(
    devices=st.lists(DEVICE, min_size=2, max_size=7), needs=st.tuples(*[st.floats(0.2, 0.8)] * 2)
)
def test_no_set_that_survives_a_loss_is_cheaper(
    devices: list[tuple[int, int, float]], needs: tuple[float, float]
) -> None:
    """Devices have two amounts, such as speed and memory, and prices."""
    amounts = np.array([each[:2] for each in devices], dtype=np.float64)
    need = amounts.sum(axis=0) * np.array(needs)

    def carries(chosen: tuple[int, ...]) -> bool:
        return bool((amounts[list(chosen)].sum(axis=0) >= need * (1 + 1e-9)).all())

    sets = [
        each
        for count in range(1, len(devices) + 1)
        for each in combinations(range(len(devices)), count)
        if all(carries(tuple(d for d in each if d != lost)) for lost in each)
    ]
    assume(sets)
    prices = np.array([price for _, _, price in devices])
    graph = sp.StreamGraph([sp.Operator("a", 1e3, 0.0)], source_rate=1.0)
    own = [sp.Device(f"d{i}", 10.0 * a + b) for i, (a, b, _) in enumerate(devices)]
    kinds = Kinds(sp.Problem(graph, sp.Cluster(own)), prices)
    first = [members[0] for members in kinds.members]
    found = fluid_bound(Conditions(np.minimum(amounts[first] / need, 1.0).T), kinds, 1)
    assert found <= min(prices[list(each)].sum() for each in sets) + 1e-9


def test_a_strong_device_may_be_the_one_that_is_lost() -> None:
    """Without the large device, three small ones are needed, and so are four devices in all."""
    graph = sp.StreamGraph([sp.Operator("count", 1e6, 0.0)], source_rate=5.5e3)
    devices = [sp.Device("big", 1000.0, cores=8)]
    devices += [sp.Device(f"m{i}", 1000.0, cores=2) for i in range(4)]
    found = size(graph, sp.Cluster(devices), survive=1, evaluations=2_000)
    assert (found.machines, found.bound) == (4, 4.0)
