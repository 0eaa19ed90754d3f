"""Graphs of sharded tensor operations, with one operator per shard."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from streamplace.problem.graph import StreamGraph

BYTES_PER_NUMBER = 4  # single precision

Block = tuple[int, ...]
"""The index of a block along each axis."""
Interval = tuple[int, int]
Region = tuple[Interval, ...]
"""The interval of indices along each axis, without its end."""


def interval(size: int, parts: int, number: int) -> Interval:
    """Return one part of an axis whose parts differ by at most 1 in size."""
    return size * number // parts, size * (number + 1) // parts


def part_at(size: int, parts: int, position: int) -> int:
    """Return the number of the part of an axis that contains a position."""
    return ((position + 1) * parts - 1) // size


def elements(region: Region) -> int:
    """Return the number of elements of a region."""
    return prod(end - start for start, end in region)


def overlap(a: Region, b: Region) -> Region:
    """Return the common part of two regions that have one."""
    return tuple((max(p, r), min(q, s)) for (p, q), (r, s) in zip(a, b, strict=True))


@dataclass(frozen=True)
class Tensor:
    """A tensor in blocks.

    Parameters
    ----------
    name
        Name of the operation that computes it, or of the input.
    shape
        Sizes of its axes.
    parts
        Number of blocks along each axis.
    operators
        Block -> index of the operator that computes it; empty for an input, which is on every
        device from the start.
    """

    name: str
    shape: tuple[int, ...]
    parts: tuple[int, ...]
    operators: Mapping[Block, int] = field(default_factory=dict)

    @classmethod
    def input(cls, name: str, *shape: int) -> "Tensor":
        """Return an input."""
        return cls(name, shape, (1,) * len(shape))

    def region(self, block: Block) -> Region:
        """Return the region of a block."""
        return region_of(self.shape, self.parts, block)

    def pieces(self, region: Region) -> Iterator[tuple[int, Region]]:
        """Yield the operators that compute a region, and the part of it that each computes."""
        along = [
            range(part_at(size, parts, start), part_at(size, parts, end - 1) + 1)
            for size, parts, (start, end) in zip(self.shape, self.parts, region, strict=True)
        ]
        for block in product(*along):
            yield self.operators[block], overlap(self.region(block), region)


def region_of(shape: Sequence[int], parts: Sequence[int], block: Block) -> Region:
    """Return the region of a block of a tensor of this shape and these parts."""
    return tuple(
        interval(size, count, i) for size, count, i in zip(shape, parts, block, strict=True)
    )


def blocks(parts: Sequence[int]) -> Iterator[Block]:
    """Yield all blocks in order."""
    yield from product(*map(range, parts))


class ShardedGraph:
    """A graph under construction, in which every operation is divided into shards.

    An operator's instructions are its floating-point operations, and its payload is the block that
    it computes. A stream carries the part of the block that its target needs. Where a target needs
    parts of several blocks, an operator of the type ``formation`` joins them first. All shards of
    an operation have its name as their `meta_op`; its sums of partial results and joins of its
    blocks have their own.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._flops: list[float] = []
        self._shapes: list[tuple[int, ...]] = []
        self._types: list[str] = []
        self._meta_ops: list[str] = []
        self._streams: dict[tuple[int, int, Region], float] = {}
        self._formations: dict[tuple[str, Region], int] = {}
        self._shards: Counter[str] = Counter()

    def einsum(
        self, name: str, spec: str, inputs: Sequence[Tensor], parts: Mapping[str, int]
    ) -> Tensor:
        """Add a sum of products of tensors, such as ``ij,jk->ik``, and return the result.

        A shard with n multiplications takes 2 n FLOPs. If a summed index is divided, operators of
        the type ``sum`` add the partial results.

        Parameters
        ----------
        parts
            Index -> number of parts into which it is divided; 1 by default.
        """
        before, after = spec.split("->")
        operands = list(zip(before.split(","), inputs, strict=True))
        sizes: dict[str, int] = {}
        for letters, tensor in operands:
            for index, size in zip(letters, tensor.shape, strict=True):
                if sizes.setdefault(index, size) != size:
                    raise ValueError(f"{name}: {index!r} has the sizes {sizes[index]} and {size}")
        partial: dict[Block, list[int]] = {}
        for block, region in _parts_of_indices(sizes, parts):
            needed = [(x, tuple(region[i] for i in letters)) for letters, x in operands]
            flops = 2.0 * elements(tuple(region.values()))
            shard = self._shard(name, "product", flops, [region[i] for i in after], needed)
            partial.setdefault(tuple(block[i] for i in after), []).append(shard)
        shape = tuple(sizes[index] for index in after)
        return self._combined(name, shape, [parts.get(index, 1) for index in after], partial)

    def map(
        self,
        name: str,
        kind: str,
        inputs: Sequence[Tensor],
        parts: Sequence[int],
        flops: float = 1.0,
    ) -> Tensor:
        """Add an operation on each element, and return the result.

        Parameters
        ----------
        kind
            The type of its operators.
        inputs
            The first one has the shape of the result. An axis of size 1 of the others counts for
            all indices of that axis.
        parts
            Number of parts of each axis.
        flops
            FLOPs per element.
        """
        shape = inputs[0].shape
        operators = {}
        for block in blocks(parts):
            region = region_of(shape, parts, block)
            needed = [(tensor, _broadcast(tensor, region)) for tensor in inputs]
            work = flops * elements(region)
            operators[block] = self._shard(name, kind, work, region, needed)
        return Tensor(name, shape, tuple(parts), operators)

    def reduce(self, name: str, kind: str, source: Tensor, parts: Sequence[int]) -> Tensor:
        """Add a reduction of the last axis, such as a sum, to size 1, and return the result.

        If the last axis is divided, operators of the same type combine the partial results.

        Parameters
        ----------
        parts
            Number of parts of each axis of `source`.
        """
        partial: dict[Block, list[int]] = {}
        for block in blocks(parts):
            region = region_of(source.shape, parts, block)
            work = float(elements(region))
            result = (*region[:-1], (0, 1))
            shard = self._shard(name, kind, work, result, [(source, region)])
            partial.setdefault((*block[:-1], 0), []).append(shard)
        shape = (*source.shape[:-1], 1)
        return self._combined(name, shape, [*parts[:-1], 1], partial, kind)

    def last_row(self, name: str, source: Tensor, columns: int) -> Tensor:
        """Add a copy of the last row of a matrix, in parts of the columns, and return it."""
        shape, (rows, _) = (1, source.shape[1]), source.shape
        operators = {}
        for block in blocks((1, columns)):
            region = region_of(shape, (1, columns), block)
            needed = [(source, ((rows - 1, rows), region[1]))]
            operators[block] = self._shard(name, "slice", elements(region), region, needed)
        return Tensor(name, shape, (1, columns), operators)

    def graph(self, name: str) -> StreamGraph:
        """Return the graph."""
        return StreamGraph.from_columns(
            self._names,
            self._flops,
            [BYTES_PER_NUMBER * prod(shape) for shape in self._shapes],
            [(source, target) for source, target, _ in self._streams],
            stream_payload_bytes=list(self._streams.values()),
            type=dict(enumerate(self._types)),
            output_shape=dict(enumerate(self._shapes)),
            meta_op=dict(enumerate(self._meta_ops)),
            name=name,
            firing="all",
        )

    def _combined(
        self,
        name: str,
        shape: tuple[int, ...],
        parts: Sequence[int],
        partial: Mapping[Block, list[int]],
        kind: str = "sum",
    ) -> Tensor:
        """Combine the partial results of each block, if there are several."""
        operators = {}
        for block, shards in partial.items():
            region = region_of(shape, parts, block)
            if len(shards) == 1:
                operators[block] = shards[0]
                continue
            work = (len(shards) - 1.0) * elements(region)
            operators[block] = self._operator(f"{name}.{kind}", kind, work, region)
            for shard in shards:
                self._connect(shard, operators[block], region)
        return Tensor(name, shape, tuple(parts), operators)

    def _shard(
        self,
        meta_op: str,
        kind: str,
        flops: float,
        region: Sequence[Interval],
        needed: Sequence[tuple[Tensor, Region]],
    ) -> int:
        """Add one shard of an operation, which needs regions of tensors."""
        sources = [(self._source(x, part), part) for x, part in needed if x.operators]
        operator = self._operator(meta_op, kind, flops, region)
        for source, part in sources:
            self._connect(source, operator, part)
        return operator

    def _source(self, tensor: Tensor, region: Region) -> int:
        """Return the operator that has a region of a tensor: one of its blocks, or a join."""
        pieces = list(tensor.pieces(region))
        if len(pieces) == 1:
            return pieces[0][0]
        key = tensor.name, region
        if key not in self._formations:
            # a join copies every element once
            work = float(elements(region))
            joined = self._operator(f"{tensor.name}.formation", "formation", work, region)
            for operator, piece in pieces:
                self._connect(operator, joined, piece)
            self._formations[key] = joined
        return self._formations[key]

    def _operator(self, meta_op: str, kind: str, flops: float, region: Sequence[Interval]) -> int:
        number = len(self._names)
        self._names.append(f"{meta_op}_{self._shards[meta_op]}")
        self._shards[meta_op] += 1
        self._flops.append(flops)
        self._types.append(kind)
        self._shapes.append(tuple(end - start for start, end in region))
        self._meta_ops.append(meta_op)
        return number

    def _connect(self, source: int, target: int, region: Region) -> None:
        """Add a stream of a region; an operator that needs it twice receives it once."""
        self._streams[source, target, region] = float(BYTES_PER_NUMBER * elements(region))


def _parts_of_indices(
    sizes: Mapping[str, int], parts: Mapping[str, int]
) -> Iterator[tuple[dict[str, int], dict[str, Interval]]]:
    """Yield the number and the interval of each index, for all combinations of parts."""
    for numbers in blocks([parts.get(index, 1) for index in sizes]):
        block = dict(zip(sizes, numbers, strict=True))
        yield block, {i: interval(size, parts.get(i, 1), block[i]) for i, size in sizes.items()}


def _broadcast(tensor: Tensor, region: Region) -> Region:
    """Return the region of a tensor that a region of the result needs."""
    return tuple(
        part if size > 1 else (0, 1) for part, size in zip(region, tensor.shape, strict=True)
    )


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
