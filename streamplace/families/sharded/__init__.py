"""Families of sharded products, as in DOPPLER (Yao et al., ICLR 2026), by number of shards."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt

from streamplace.errors import UsageError
from streamplace.families.family import MAX_SIZE, Draw, check_range
from streamplace.families.sharded.builder import ShardedGraph, Tensor, rms_norm, softmax
from streamplace.problem.graph import StreamGraph

MAX_SHARDS = 256
MOST_SQUARED = 64  # each product has the square of this number of shards
ROTARY_FLOPS = 3.0  # per element: of each pair, four products and two sums


@dataclass(frozen=True)
class ShardedFamily(ABC):
    """A family that draws nothing: its options determine the graph.

    Parameters
    ----------
    shards
        Number of shards of an operation, such as the number of devices.

    Raises
    ------
    UsageError
        On an option that is out of range.
    """

    shards: int = 4

    def __post_init__(self) -> None:
        check_range("shards", self.shards, MAX_SHARDS)

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators, and several graphs."""
        if sizes is not None:
            raise UsageError("the number of shards determines the operators; use shards=N")
        if count > 1:
            raise UsageError(f"a sharded family has one graph: count must be 1 (got {count})")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return the graph."""
        builder = ShardedGraph()
        self.build(builder)
        return builder.graph(draw.name)

    @abstractmethod
    def build(self, graph: ShardedGraph) -> None:
        """Add the operations to a graph."""

    def grid(self, most_columns: int) -> tuple[int, int]:
        """Return numbers of rows and columns whose product is the number of shards.

        They are as close to each other as possible; rows are not more than columns, unless there
        would be more than `most_columns` columns.
        """
        for rows in range(isqrt(self.shards), 0, -1):
            if self.shards % rows == 0 and self.shards // rows <= most_columns:
                return rows, self.shards // rows
        return self.shards, 1


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
        check_range("shards", self.shards, MOST_SQUARED)
        check_range("size", self.size, MAX_SIZE, self.shards)

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations; the blocks of D E are those that the product with C needs."""
        n, (rows, columns) = self.shards, self.grid(self.shards)
        a, b, c, d, e = (Tensor.input(name, self.size, self.size) for name in "ABCDE")
        ab = graph.einsum("AB", "ij,jk->ik", (a, b), {"i": n, "j": rows, "k": columns})
        de = graph.einsum("DE", "ij,jk->ik", (d, e), {"i": rows, "j": n, "k": columns})
        cde = graph.einsum("CDE", "ij,jk->ik", (c, de), {"i": n, "j": rows, "k": columns})
        graph.map("add", "add", (ab, cde), (n, columns))


@dataclass(frozen=True)
class FFNN(ShardedFamily):
    """DOPPLER's FFNN, softmax(ReLU(X U) W); products have shards² shards, as in the released graph.

    Parameters
    ----------
    batch, width, hidden
        Rows of X, its columns (also those of the result), and hidden units. `batch` is at least
        shards², `hidden` at least the number of shards.
    biases
        Whether each layer adds a bias, as in the paper: softmax(ReLU(X U + b) W + c). The released
        graph has no operators for them.
    """

    batch: int = 2**15
    width: int = 2**5
    hidden: int = 2**16
    biases: bool = False

    def __post_init__(self) -> None:
        check_range("shards", self.shards, MOST_SQUARED)
        check_range("batch", self.batch, MAX_SIZE, self.shards**2)
        check_range("width", self.width, MAX_SIZE)
        check_range("hidden", self.hidden, MAX_SIZE, self.shards)

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations; the softmax is divided by rows only, into shards² parts."""
        n = self.shards
        x, u = Tensor.input("X", self.batch, self.width), Tensor.input("U", self.width, self.hidden)
        w = Tensor.input("W", self.hidden, self.width)
        xu = graph.einsum("XU", "bi,ih->bh", (x, u), {"b": n, "h": n})
        if self.biases:
            xu = graph.map("b", "add", (xu, Tensor.input("b", 1, self.hidden)), (n, n))
        relu = graph.map("relu", "relu", (xu,), (n, n))
        result = graph.einsum("HW", "bh,ho->bo", (relu, w), {"b": n, "h": n})
        if self.biases:
            bias = Tensor.input("c", 1, self.width)
            result = graph.map("c", "add", (result, bias), (n * n, 1))
        softmax(graph, "softmax", result, (n * n, 1))


@dataclass(frozen=True)
class TransformerBlock(ShardedFamily):
    """Attention and a gated feed-forward network, each with a norm and a residual sum (Llama).

    Operations are divided into a grid of parts of the sequence and parts of heads or columns.

    Parameters
    ----------
    sequence, width, heads, hidden
        Tokens, numbers per token, attention heads (which divide the width), and units of the
        feed-forward network.
    """

    sequence: int = 4096
    width: int = 4096
    heads: int = 32
    hidden: int = 11_008

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("sequence", "width", "hidden"):
            check_range(what, getattr(self, what), MAX_SIZE, self.shards)
        check_range("heads", self.heads, self.width)
        if self.width % self.heads:
            raise UsageError(f"heads must divide the width {self.width} (got {self.heads})")

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations."""
        self.block(graph, Tensor.input("x", self.sequence, self.width))

    def block(self, graph: ShardedGraph, x: Tensor) -> Tensor:
        """Add the block, and return its result, (sequence, width)."""
        attended = self._attention(graph, rms_norm(graph, "attention_norm", x, self._grid))
        h = graph.map("attention_residual", "add", (attended, x), self._grid)
        fed = self._feed_forward(graph, rms_norm(graph, "feed_forward_norm", h, self._grid))
        return graph.map("feed_forward_residual", "add", (fed, h), self._grid)

    @property
    def _grid(self) -> tuple[int, int]:
        """Parts of the sequence, and parts of heads or columns."""
        return self.grid(self.heads)

    def _attention(self, graph: ShardedGraph, x: Tensor) -> Tensor:
        rows, columns = self._grid
        size = self.width // self.heads
        parts = {"s": rows, "h": columns}
        weights = {
            name: Tensor.input(name, self.width, self.heads, size) for name in ("Wq", "Wk", "Wv")
        }
        query, key, value = (
            graph.einsum(name[1:], "sd,dhe->she", (x, weight), parts)
            for name, weight in weights.items()
        )
        query, key = (
            graph.map(f"{each.name}.rotary", "rotary", (each,), each.parts, ROTARY_FLOPS)
            for each in (query, key)
        )
        scores = graph.einsum("scores", "she,the->hst", (query, key), parts)
        by_head = (columns, rows, 1)
        masked = graph.map("scores.mask", "mask", (scores,), by_head, 2.0)  # scaled and masked
        shares = softmax(graph, "scores.softmax", masked, by_head)
        context = graph.einsum("context", "hst,the->she", (shares, value), parts)
        output = Tensor.input("Wo", self.heads, size, self.width)
        return graph.einsum("attention_output", "she,hed->sd", (context, output), parts)

    def _feed_forward(self, graph: ShardedGraph, x: Tensor) -> Tensor:
        rows, columns = self._grid
        parts = {"s": rows, "f": columns}
        gate, up = (
            graph.einsum(
                name, "sd,df->sf", (x, Tensor.input(f"W{name}", self.width, self.hidden)), parts
            )
            for name in ("gate", "up")
        )
        # x / (1 + exp(-x)): a change of sign, exp, a sum and a division
        opened = graph.map("gate.silu", "silu", (gate,), self._grid, 4.0)
        gated = graph.map("gated", "multiply", (opened, up), self._grid)
        down = Tensor.input("Wdown", self.hidden, self.width)
        return graph.einsum("down", "sf,fd->sd", (gated, down), parts)


@dataclass(frozen=True)
class TransformerLayer(TransformerBlock):
    """A transformer block, a last norm, and the scores of the next token over the vocabulary.

    Parameters
    ----------
    vocabulary
        Number of tokens of the vocabulary.
    """

    vocabulary: int = 32_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("vocabulary", self.vocabulary, MAX_SIZE, self.shards)

    def build(self, graph: ShardedGraph) -> None:
        """Add the operations; only the last token's scores are computed, as in the released one."""
        h = self.block(graph, Tensor.input("x", self.sequence, self.width))
        last = graph.last_row("last_token", h, self.shards)
        normed = rms_norm(graph, "output_norm", last, (1, self.shards))
        weights = Tensor.input("Wvocabulary", self.width, self.vocabulary)
        graph.einsum("vocabulary", "sd,dv->sv", (normed, weights), {"v": self.shards})
