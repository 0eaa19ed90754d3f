"""A block and a layer of a transformer with the sizes of Llama-7B."""

from dataclasses import dataclass

from streamplace.errors import UsageError
from streamplace.generate.draw import MAX_SIZE, check_range
from streamplace.generate.sharded.builder import ShardedGraph, Tensor, rms_norm, softmax
from streamplace.generate.sharded.family import ShardedFamily

ROTARY_FLOPS = 3.0  # per element: of each pair, four products and two sums


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
