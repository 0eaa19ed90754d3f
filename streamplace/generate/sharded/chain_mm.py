"""A chain of matrix products, (A B) + C (D E), of square matrices."""

from dataclasses import dataclass

from streamplace.generate.draw import MAX_SIZE, check_range
from streamplace.generate.sharded.builder import ShardedGraph, Tensor
from streamplace.generate.sharded.family import ShardedFamily

MAX_SHARDS = 64  # each product has the square of this number of shards


@dataclass(frozen=True)
class ChainMM(ShardedFamily):
    """DOPPLER's ChainMM; each product has shards² shards, as in the released graph.

    Parameters
    ----------
    size
        Rows and columns of the matrices; at least the number of shards.
    """

    size: int = 10_000

    def __post_init__(self) -> None:
        check_range("shards", self.shards, MAX_SHARDS)
        check_range("size", self.size, MAX_SIZE, self.shards)

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations; the blocks of D E are those that the product with C needs."""
        n, (rows, columns) = self.shards, self.grid(self.shards)
        a, b, c, d, e = (Tensor.input(name, self.size, self.size) for name in "ABCDE")
        ab = graph.einsum("AB", "ij,jk->ik", (a, b), {"i": n, "j": rows, "k": columns})
        de = graph.einsum("DE", "ij,jk->ik", (d, e), {"i": rows, "j": n, "k": columns})
        cde = graph.einsum("CDE", "ij,jk->ik", (c, de), {"i": n, "j": rows, "k": columns})
        graph.map("add", "add", (ab, cde), (n, columns))
