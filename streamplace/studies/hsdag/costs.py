"""Times of operators on an accelerator, from their measured CPU time; fixed before any training."""

from collections.abc import Mapping
from math import inf

from streamplace.errors import GraphError
from streamplace.problem.graph import StreamGraph
from streamplace.problem.seconds import NO_SECONDS

CPU, ACCELERATOR = "cpu", "accelerator"
"""Kinds of device."""
LAUNCH_S = 10e-6
"""Seconds to launch an operator on the accelerator."""

_PRODUCTS = ("convolution", "addmm", "bmm", "mm", "scaled_dot_product_attention")
_NORMALISATION = ("_native_batch_norm_legit_no_training", "native_layer_norm", "_softmax")
_POOLING = ("max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d", "mean")
_ELEMENTWISE = ("add", "mul", "relu", "gelu", "tanh", "ge", "where")
_DATA = ("arange", "cat", "clone", "embedding", "full", "gather", "scalar_tensor")
RATIOS: Mapping[str, float] = {
    **dict.fromkeys(_PRODUCTS, 12.0),
    **dict.fromkeys((*_NORMALISATION, *_POOLING), 4.0),
    **dict.fromkeys(_ELEMENTWISE, 3.0),
    **dict.fromkeys(_DATA, 1.0),
}
"""ATen operator -> its speed on the accelerator relative to the CPU, without the launch.

The mean of an image's positions is its pooling.
"""


def with_accelerator(graph: StreamGraph, ratio_scale: float = 1.0) -> StreamGraph:
    """Return a graph whose `seconds_on` also has the times on an accelerator.

    An operator takes its CPU time divided by the ratio of its type and by `ratio_scale`, and
    `LAUNCH_S` more.

    Parameters
    ----------
    graph
        A graph with a type and a measured time on kind ``cpu`` for every operator.
    ratio_scale
        Factor of all ratios, for a test of how sensitive results are to them.

    Raises
    ------
    GraphError
        If an operator has no CPU time, or a type without a ratio, or the factor is not a positive
        number.
    """
    if not 0 < ratio_scale < inf:
        raise GraphError(f"ratio_scale: must be a positive number (got {ratio_scale})")
    seconds: dict[int, dict[str, float]] = {}
    for v, name in enumerate(graph.names):
        on_cpu = graph.seconds_on.get(v, NO_SECONDS).get(CPU)
        if on_cpu is None:
            raise GraphError(f"operator {name!r:.40} has no time on kind {CPU!r}; measure it first")
        kind = graph.type.get(v, "")
        if kind not in RATIOS:
            raise GraphError(
                f"operator {name!r:.40}: no ratio for the type {kind!r:.40}; add it to "
                "streamplace.studies.hsdag.costs"
            )
        on_accelerator = on_cpu / (RATIOS[kind] * ratio_scale) + LAUNCH_S
        seconds[v] = {CPU: on_cpu, ACCELERATOR: on_accelerator}
    return graph.with_numbers(seconds_on=seconds)[0]
