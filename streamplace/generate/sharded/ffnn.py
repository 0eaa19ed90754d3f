"""A feed-forward network of two layers: products, ReLU and softmax."""

from dataclasses import dataclass

from streamplace.generate.draw import MAX_SIZE, check_range
from streamplace.generate.sharded.builder import ShardedGraph, Tensor, softmax
from streamplace.generate.sharded.family import ShardedFamily

MAX_SHARDS = 64  # each product has the square of this number of shards


@dataclass(frozen=True)
class FFNN(ShardedFamily):
    """DOPPLER's FFNN, softmax(ReLU(X U) W); products have shards² shards, as in the released graph.

    Parameters
    ----------
    batch, width, hidden
        Rows of X, its columns (also those of the result), and hidden units. `batch` is at least
        shards², `hidden` at least the number of shards.
    """

    batch: int = 2**15
    width: int = 2**5
    hidden: int = 2**16

    def __post_init__(self) -> None:
        check_range("shards", self.shards, MAX_SHARDS)
        check_range("batch", self.batch, MAX_SIZE, self.shards**2)
        check_range("width", self.width, MAX_SIZE)
        check_range("hidden", self.hidden, MAX_SIZE, self.shards)

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations; the softmax is divided by rows only, into shards² parts."""
        n = self.shards
        x, u = Tensor.input("X", self.batch, self.width), Tensor.input("U", self.width, self.hidden)
        w = Tensor.input("W", self.hidden, self.width)
        xu = graph.einsum("XU", "bi,ih->bh", (x, u), {"b": n, "h": n})
        relu = graph.map("relu", "relu", (xu,), (n, n))
        result = graph.einsum("HW", "bh,ho->bo", (relu, w), {"b": n, "h": n})
        softmax(graph, "softmax", result, (n * n, 1))
