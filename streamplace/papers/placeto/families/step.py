"""A training step of a neural network: its operations, and the tensors between them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

BYTES_PER_NUMBER = 4  # single precision
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """One operation of a training step.

    Parameters
    ----------
    kind
        What it does, such as ``matmul`` or ``matmul-grad``.
    flops
        Floating-point operations.
    shape
        Sizes of the axes of its result; of a gradient, those of the tensor that it belongs to.
    memory_bytes
        Bytes of its weights and its result.
    weights
        Number of its weights.
    shared
        Name of these weights, if other operations share them.
    """

    name: str
    kind: str
    flops: float
    shape: Shape
    memory_bytes: float
    weights: int = 0
    shared: str = ""


@dataclass(frozen=True)
class Edge:
    """A tensor that one operation sends to another; `tensor` is its number."""

    source: int
    target: int
    tensor: int
    shape: Shape

    @property
    def bytes(self) -> float:
        """The size of the tensor."""
        return float(BYTES_PER_NUMBER * prod(self.shape))


@dataclass
class Step:
    """The operations of a training step, and the tensors between them.

    Tensors of the forward pass have the numbers of their operations; those of the backward pass
    follow.
    """

    operations: list[Operation] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    linear: list[bool] = field(default_factory=list)

    def add_named(
        self,
        name: str,
        shape: Sequence[int],
        inputs: Sequence[int],
        flops: float | None = None,
        **options: Any,
    ) -> int:
        """Add an operation whose kind is the last part of its name; see `add`."""
        return self.add(name, name.rpartition(".")[2], shape, inputs, flops, **options)

    def add(
        self,
        name: str,
        kind: str,
        shape: Sequence[int],
        inputs: Sequence[int],
        flops: float | None = None,
        *,
        weights: int = 0,
        shared: str = "",
        linear: bool = False,
    ) -> int:
        """Add an operation of the forward pass, and return its number.

        Parameters
        ----------
        inputs
            Numbers of the operations whose results it uses.
        flops
            FLOPs; default: one per element of the result.
        weights
            Number of its weights.
        shared
            Name of the weights that it shares with other operations.
        linear
            Whether its gradient needs no inputs; those with weights are linear in their inputs.
        """
        shape = tuple(shape)
        memory = float(BYTES_PER_NUMBER * (weights + prod(shape)))
        work = float(prod(shape)) if flops is None else flops
        number = len(self.operations)
        self.operations.append(Operation(name, kind, work, shape, memory, weights, shared))
        self.inputs.append(tuple(dict.fromkeys(inputs)))
        self.linear.append(linear)
        for source in self.inputs[-1]:
            self.edges.append(Edge(source, number, source, self.operations[source].shape))
        return number

    def add_backward(self) -> None:
        """Add the gradients of all operations, in reverse order; the last operation is the loss.

        The gradient of an operation needs the gradients of the operations that use its result and,
        unless the operation is linear in its inputs, these inputs. Weights of a single operation
        are updated by an operation that needs its inputs and takes as much work. Gradients of
        shared weights are computed with those of the inputs, and one operation adds them up.
        """
        forward = len(self.operations)
        users: list[list[int]] = [[] for _ in range(forward)]
        for v, inputs in enumerate(self.inputs):
            for u in inputs:
                users[u].append(v)
        gradient: dict[int, int] = {}
        sums: dict[str, list[int]] = {}
        for v in reversed(range(forward)):
            own = self.operations[v]
            factor = 2.0 if own.shared else 1.0
            gradient[v] = self._add_gradient(v, f"{own.name}_grad", "grad", factor * own.flops)
            for w in users[v]:
                self._send(gradient[w], gradient[v], own.shape)
            if own.shared:
                self._keep_inputs(v, gradient[v])
                sums.setdefault(own.shared, []).append(v)
            elif own.weights:
                update = self._add_gradient(v, f"{own.name}_update", "update", own.flops)
                self._send(gradient[v], update, own.shape)
                self._keep_inputs(v, update)
            elif not self.linear[v]:
                self._keep_inputs(v, gradient[v])
        for name, uses in sums.items():
            weights = self.operations[uses[0]].weights
            work = float(weights * len(uses))
            update = self._add_gradient(uses[0], f"{name}_update", "update", work)
            for v in uses:
                self._send(gradient[v], update, (weights,))

    def _add_gradient(self, v: int, name: str, suffix: str, flops: float) -> int:
        own = self.operations[v]
        kind = f"{own.kind}-{suffix}"
        self.operations.append(Operation(name, kind, flops, own.shape, own.memory_bytes))
        return len(self.operations) - 1

    def _send(self, source: int, target: int, shape: Shape) -> None:
        """Send a tensor of the backward pass, which nothing else receives."""
        self.edges.append(Edge(source, target, len(self.inputs) + len(self.edges), shape))

    def _keep_inputs(self, v: int, target: int) -> None:
        """Send the inputs of an operation to its gradient or update."""
        for u in self.inputs[v]:
            self.edges.append(Edge(u, target, u, self.operations[u].shape))
