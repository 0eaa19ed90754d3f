"""Times on the accelerator: the registered ratios, and graphs without what they need."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import GraphError
from streamplace.papers.hsdag.study.registered import (
    LAUNCH_S,
    NETWORKS,
    RATIOS,
    network_graph,
    with_accelerator,
)
from streamplace.problem.graph import Operator, StreamGraph

REGISTERED: Mapping[float, tuple[str, ...]] = {
    12: ("convolution", "addmm", "bmm"),
    4: (
        "_native_batch_norm_legit_no_training",
        "native_layer_norm",
        "_softmax",
        "max_pool2d_with_indices",
        "avg_pool2d",
        "mean",
    ),
    3: ("add", "mul", "relu", "gelu", "tanh", "ge", "where"),
    1: ("cat", "clone", "embedding", "gather", "arange", "full", "scalar_tensor"),
}
"""Ratio -> the types of the three networks that have it."""
RATIO_OF = {kind: ratio for ratio, kinds in REGISTERED.items() for kind in kinds}


def graph(**fields: object) -> StreamGraph:
    """Return a graph of one operator."""
    values = {"type": "add", "seconds_on": {"cpu": 6e-5}, **fields}
    return StreamGraph([Operator("a", 1.0, 0.0, **values)])  # type: ignore[arg-type]  # of the tests


def test_the_networks_have_exactly_these_types() -> None:
    types = {kind for name in NETWORKS for kind in network_graph(name).type.values()}
    assert types == RATIO_OF.keys()
    assert {kind: RATIOS[kind] for kind in types} == RATIO_OF


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_times_follow_from_cpu_time_and_type(name: str, scale: float) -> None:
    before = network_graph(name)
    after = with_accelerator(before, scale)
    assert after.with_numbers(seconds_on=before.seconds_on)[0] == before
    for v, seconds in after.seconds_on.items():
        on_cpu = before.seconds_on[v]["cpu"]
        assert on_cpu is not None
        ratio = RATIO_OF[before.type[v]] * scale
        assert seconds == {"cpu": on_cpu, "accelerator": pytest.approx(on_cpu / ratio + 10e-6)}


@given(seconds=st.floats(0, 10), scale=st.floats(1e-3, 1e3), kind=st.sampled_from(sorted(RATIOS)))
def test_a_larger_scale_shortens_all_but_the_launch(
    seconds: float, scale: float, kind: str
) -> None:
    measured = graph(type=kind, seconds_on={"cpu": seconds})
    one, scaled = (
        with_accelerator(measured, each).seconds_on[0]["accelerator"] for each in (1.0, scale)
    )
    assert one is not None
    assert scaled is not None
    assert scaled - LAUNCH_S == pytest.approx((one - LAUNCH_S) / scale, abs=1e-15)


@pytest.mark.parametrize(
    ("fields", "scale", "message"),
    [
        ({"seconds_on": {"gpu": 1.0}}, 1.0, "operator 'a' has no time on kind 'cpu'; measure it"),
        ({"seconds_on": {"cpu": None}}, 1.0, "operator 'a' has no time on kind 'cpu'"),
        ({"seconds_on": {}}, 1.0, "operator 'a' has no time on kind 'cpu'"),
        ({"type": "relu6"}, 1.0, "operator 'a': no ratio for the type 'relu6'"),
        ({"type": ""}, 1.0, "operator 'a': no ratio for the type ''"),
        ({}, 0.0, "ratio_scale: must be a positive number"),
        ({}, float("inf"), "ratio_scale: must be a positive number"),
        ({}, float("nan"), "ratio_scale: must be a positive number"),
    ],
)
def test_faults(fields: dict[str, object], scale: float, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        with_accelerator(graph(**fields), scale)
