"""Operators of neural networks: what the cost of one run depends on, and unknown types."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.util.text import counted

Shape = tuple[int, ...] | None
"""Sizes of the axes of a tensor; None: unknown."""
ABSENT: Shape = (0,)
"""The shape of an optional input that is left out."""


@dataclass(frozen=True)
class Operation:
    """What the cost of an operator depends on.

    Parameters
    ----------
    inputs, outputs
        Shapes of the tensors that it reads, constants included, and of those that it emits.
    kernel
        Sizes of the window of a pooling operator.
    transposed
        Whether the first factor of a product is transposed.
    equation
        The equation of an Einstein sum, such as ``ij,jk->ik``.
    mode
        How an operator that resamples interpolates, such as ``nearest``.
    numbers
        Other whole numbers among its attributes, such as ``num_heads``.
    """

    inputs: Sequence[Shape]
    outputs: Sequence[Shape]
    kernel: Sequence[int] = ()
    transposed: bool = False
    equation: str = ""
    mode: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)

    def input(self, i: int) -> Shape:
        """Return the shape of an input; None if it is missing or unknown."""
        return self.inputs[i] if i < len(self.inputs) else None

    def output(self, i: int) -> Shape:
        """Return the shape of an output; None if it is missing or unknown."""
        return self.outputs[i] if i < len(self.outputs) else None

    @property
    def read(self) -> float:
        """Number of elements of the first input; NaN if unknown."""
        return elements(self.input(0))

    @property
    def emitted(self) -> float:
        """Number of elements of all outputs; NaN if unknown."""
        return sum((elements(shape) for shape in self.outputs), 0.0)


def elements(shape: Shape) -> float:
    """Return the number of elements of a tensor; NaN if unknown."""
    if shape is None:
        return UNKNOWN
    count = 1.0
    for size in shape:
        count *= size
    return 0.0 if 0 in shape else count


def unknown_work(types: Iterable[str]) -> list[str]:
    """Return a note that names types of operators without a rule, if there are any."""
    found = sorted(set(types))
    if not found:
        return []
    return [
        f"no rule gives the work of {counted(len(found), 'type')} of operators, {listed(found)}; "
        "their instructions are unknown unless a costs file states them"
    ]
