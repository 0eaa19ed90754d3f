"""Operations of neural networks, composed of products, maps and reductions."""

from collections.abc import Sequence

from streamplace.generate.sharded.builder import ShardedGraph
from streamplace.generate.sharded.tensor import Tensor


def softmax(graph: ShardedGraph, name: str, x: Tensor, parts: Sequence[int]) -> Tensor:
    """Add exp(x - max x) / sum exp(x - max x) over the last axis, and return the result."""
    largest = graph.reduce(f"{name}.max", "max", x, parts)
    shifted = graph.map(f"{name}.subtract", "subtract", (x, largest), parts)
    powers = graph.map(f"{name}.exp", "exp", (shifted,), parts)
    total = graph.reduce(f"{name}.total", "sum", powers, parts)
    return graph.map(f"{name}.divide", "divide", (powers, total), parts)


def rms_norm(graph: ShardedGraph, name: str, x: Tensor, parts: Sequence[int]) -> Tensor:
    """Add x / sqrt(mean x²) · weight over the last axis, and return the result."""
    squares = graph.map(f"{name}.square", "square", (x,), parts)
    total = graph.reduce(f"{name}.total", "sum", squares, parts)
    # division by the size, the small constant that is added, and the reciprocal square root
    factor = graph.map(f"{name}.rsqrt", "rsqrt", (total,), total.parts, flops=3.0)
    return graph.map(f"{name}.scale", "scale", (x, factor), parts, flops=2.0)
