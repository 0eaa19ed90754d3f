"""Training steps of neural networks, and the merging of their operations to a few groups."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from streamplace.problem.graph import StreamGraph

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


def merged_graph(step: Step, operators: int, name: str) -> StreamGraph:
    """Return a training step with at most `operators` operators, or as few as merging leaves.

    The group with the fewest FLOPs among those with inputs from exactly one group joins that group,
    again and again; ties go to the first. A group takes the sum of the FLOPs and memory of its
    operations, and the name and type of the most expensive one. Its payload is that of all tensors
    that leave it; a tensor that it sends to another group counts once. It has an output shape if
    one tensor leaves it.
    """
    group = _groups([o.flops for o in step.operations], step.edges, operators)
    members: dict[int, list[int]] = {}
    for v, own in enumerate(group):
        members.setdefault(own, []).append(v)
    heads = [max(each, key=lambda v: step.operations[v].flops) for each in members.values()]
    index = {own: i for i, own in enumerate(members)}
    sent: dict[tuple[int, int], dict[int, Edge]] = {}
    leaving: list[dict[int, Edge]] = [{} for _ in members]
    for edge in step.edges:
        source, target = index[group[edge.source]], index[group[edge.target]]
        if source != target:
            sent.setdefault((source, target), {})[edge.tensor] = edge
            leaving[source][edge.tensor] = edge
    payload = [_bytes(tensors) for tensors in sent.values()]
    return StreamGraph.from_columns(
        [step.operations[head].name for head in heads],
        [sum(step.operations[v].flops for v in each) for each in members.values()],
        [_bytes(tensors) for tensors in leaving],
        list(sent),
        memory_bytes=[sum(step.operations[v].memory_bytes for v in m) for m in members.values()],
        stream_payload_bytes=payload,
        type={i: step.operations[head].kind for i, head in enumerate(heads)},
        output_shape={
            i: next(iter(tensors.values())).shape
            for i, tensors in enumerate(leaving)
            if len(tensors) == 1
        },
        name=name,
        firing="all",
    )


def _bytes(tensors: Mapping[int, Edge]) -> float:
    return sum(edge.bytes for edge in tensors.values())


def _groups(flops: Sequence[float], edges: Sequence[Edge], operators: int) -> list[int]:
    """Return the group of each operation, named by the operation that the others joined."""
    before: list[set[int]] = [set() for _ in flops]
    after: list[set[int]] = [set() for _ in flops]
    for edge in edges:
        before[edge.target].add(edge.source)
        after[edge.source].add(edge.target)
    work = list(flops)
    parent = list(range(len(work)))
    left = len(work)
    queue = [(work[v], v) for v in range(len(work)) if len(before[v]) == 1]
    heapq.heapify(queue)
    while queue and left > operators:
        cost, v = heapq.heappop(queue)
        if parent[v] != v or cost != work[v] or len(before[v]) != 1:
            continue  # it has changed since it was queued
        (into,) = before[v]
        parent[v] = into
        left -= 1
        work[into] += work[v]
        after[into].discard(v)
        for w in after[v]:
            before[w].discard(v)
            before[w].add(into)
            after[into].add(w)
            if len(before[w]) == 1:
                heapq.heappush(queue, (work[w], w))
        if len(before[into]) == 1:
            heapq.heappush(queue, (work[into], into))
    return [_root(parent, v) for v in range(len(work))]


def _root(parent: list[int], v: int) -> int:
    """Return the group of an operation, and shorten the way to it."""
    root = v
    while parent[root] != root:
        root = parent[root]
    while parent[v] != root:
        parent[v], v = root, parent[v]
    return root
