"""Training steps of random convolutional networks of ENAS's micro search space, for CIFAR-10."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from streamplace.families.family import MAX_SIZE, check_range
from streamplace.families.networks import Shape, Step, merged_graph
from streamplace.problem.graph import StreamGraph

CELL_INPUTS, BLOCKS = 2, 5  # of a cell
KINDS = ("sep3", "sep5", "average", "max", "identity")
IMAGE, CHANNELS, CLASSES = 32, 36, 10
NORM_FLOPS = 8.0  # per element: mean, variance, scale and shift
CELLS = 5  # normal, reduction, normal, reduction, normal

Block = tuple[tuple[int, str], tuple[int, str]]
"""Input and operation, twice; inputs 0 and 1 are the two cells before, then come blocks."""


@dataclass(frozen=True)
class EnasCifar:
    """Networks like those of ENAS (Pham et al., ICML 2018), the graphs ``cifar10`` of Placeto.

    A normal cell and a reduction cell of five random blocks each are drawn and stacked. Every
    operation becomes its convolutions, norms and activations, the backward pass mirrors them, and
    the cheapest operations are merged until `operators` are left.

    Parameters
    ----------
    batch
        Images that are processed at once.
    """

    sizes: ClassVar[range] = range(273, 335)
    least: ClassVar[int] = 40
    batch: int = 128

    def __post_init__(self) -> None:
        check_range("batch", self.batch, MAX_SIZE)

    def __call__(self, operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
        """Return one network; see `Family`."""
        cells = max(CELLS, round(CELLS * operators / max(self.sizes)))
        network = _Network(Step(), self.batch, _cell(rng), _cell(rng))
        network.build(cells)
        return merged_graph(network.step, operators, name)


def _cell(rng: np.random.Generator) -> list[Block]:
    """Draw the blocks of a cell."""
    blocks: list[Block] = []
    for known in range(CELL_INPUTS, CELL_INPUTS + BLOCKS):
        a, b, first, second = rng.random(4).tolist()
        blocks.append(
            (
                (int(a * known), KINDS[int(first * len(KINDS))]),
                (int(b * known), KINDS[int(second * len(KINDS))]),
            )
        )
    return blocks


@dataclass
class _Network:
    """A network under construction.

    Inputs that a gradient needs are left out except those of convolutions, so that there are as
    many streams as in the published graphs.
    """

    step: Step
    batch: int
    normal: list[Block]
    reduction: list[Block]
    size: int = IMAGE  # of the square images
    channels: int = CHANNELS

    def build(self, cells: int) -> None:
        """Add the forward pass of `cells` cells, every second one a reduction, and the backward."""
        image = self._add("images", (self.batch, IMAGE, IMAGE, 3), ())
        before = last = self._convolution("stem", image, 3)
        for c in range(cells):
            if c % 2:
                self.size, self.channels = max(1, self.size // 2), 2 * self.channels
            cell = self._cell(f"cell{c}", before, last, reduces=bool(c % 2))
            before, last = last, cell
        pooled = self._add("pool", (self.batch, self.channels), (last,), linear=True)
        work = 2.0 * self.batch * self.channels * CLASSES
        weights = self.channels * CLASSES
        scores = self._add("classes", (self.batch, CLASSES), (pooled,), work, weights=weights)
        self._add("loss", (1,), (scores,), 5.0 * self.batch * CLASSES)
        self.step.add_backward()

    def _cell(self, name: str, before: int, last: int, *, reduces: bool) -> int:
        """Add a cell, and return the concatenation of the blocks that nothing in it uses."""
        results = [
            self._convolution(f"{name}.fit0", before, 1),
            self._convolution(f"{name}.fit1", last, 1),
        ]
        blocks = self.reduction if reduces else self.normal
        for b, block in enumerate(blocks):
            parts = [
                self._operation(f"{name}.block{b}.{'ab'[i]}", kind, results[source])
                for i, (source, kind) in enumerate(block)
            ]
            results.append(self._add(f"{name}.block{b}.add", self._shape, parts, linear=True))
        used = {source for block in blocks for source, _ in block}
        loose = [result for i, result in enumerate(results) if i >= CELL_INPUTS and i not in used]
        shape = (*self._shape[:-1], self.channels * len(loose))
        return self._add(f"{name}.concat", shape, loose, linear=True)

    def _operation(self, name: str, kind: str, source: int) -> int:
        """Add one of `KINDS`, and return its result."""
        if kind == "identity":
            return source
        if kind in ("average", "max"):  # over 3 x 3 pixels
            work = 9.0 * prod(self._shape)
            return self._add(name, self._shape, (source,), work, kind=kind, linear=True)
        kernel = int(kind.removeprefix("sep"))
        for half in "12":  # ENAS applies a separable convolution twice
            source = self._separable(f"{name}.{half}", source, kernel)
        return source

    def _separable(self, name: str, source: int, kernel: int) -> int:
        """Add ReLU, a convolution of each channel, one across channels, and a norm."""
        pixels, taps = prod(self._shape), kernel**2
        active = self._relu(name, source)
        work, weights = 2.0 * pixels * taps, self.channels * taps
        deep = self._add(f"{name}.depthwise", self._shape, (active,), work, weights=weights)
        work, weights = 2.0 * pixels * self.channels, self.channels**2
        wide = self._add(f"{name}.pointwise", self._shape, (deep,), work, weights=weights)
        return self._norm(name, wide)

    def _convolution(self, name: str, source: int, kernel: int) -> int:
        """Add ReLU, a convolution to the current size and channels, and a norm."""
        shape = self.step.operations[source].shape
        active = self._relu(name, source)
        weights = kernel**2 * shape[-1] * self.channels
        work = 2.0 * weights * self.batch * self.size**2
        result = self._add(f"{name}.conv", self._shape, (active,), work, weights=weights)
        return self._norm(name, result)

    def _relu(self, name: str, source: int) -> int:
        shape = self.step.operations[source].shape
        return self._add(f"{name}.relu", shape, (source,), linear=True)

    def _norm(self, name: str, source: int) -> int:
        work = NORM_FLOPS * prod(self._shape)
        return self._add(f"{name}.norm", self._shape, (source,), work, linear=True)

    @property
    def _shape(self) -> Shape:
        return self.batch, self.size, self.size, self.channels

    def _add(
        self,
        name: str,
        shape: Shape,
        inputs: Sequence[int],
        flops: float | None = None,
        *,
        kind: str = "",
        weights: int = 0,
        linear: bool = False,
    ) -> int:
        """Add an operation; its kind is the last part of its name unless it is passed."""
        kind = kind or name.rpartition(".")[2]
        return self.step.add(name, kind, shape, inputs, flops, weights=weights, linear=linear)
