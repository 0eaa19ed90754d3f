"""Tensors that are divided into blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

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
