"""Graphs of operators that read and emit tensors, some of which are constants."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from streamplace.errors import FormatError
from streamplace.formats.logical_builder import check_links
from streamplace.networks.flops import FlopsByType, estimated_flops
from streamplace.networks.operation import (
    ABSENT,
    Operation,
    Shape,
    elements,
    unknown_work,
)
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted, numbered


@dataclass(frozen=True)
class Tensor:
    """What an operator emits, or a constant.

    Parameters
    ----------
    shape
        Sizes of its axes; None: unknown.
    element_bytes
        Bytes of one element; NaN: unknown.
    """

    shape: Shape
    element_bytes: float

    @property
    def bytes(self) -> float:
        """Its size in bytes; NaN if unknown."""
        return elements(self.shape) * self.element_bytes


@dataclass(frozen=True)
class Layer:
    """An operator of a file, or a constant.

    Parameters
    ----------
    inputs
        Keys of the tensors that it reads, in their order; None: an optional one that is left out.
    outputs
        Key -> tensor that it emits.
    is_constant
        Whether it is a constant, such as weights.
    keeps_state
        Whether it emits other values each time, even if all that it reads is constant.
    variable
        Name of the state that it reads or writes, which stays from one pass to the next; empty if
        it does neither. What it emits is the state.
    bodies
        The layers of each graph that it runs, such as the branches of a condition. They read their
        own tensors and those of the graphs around them; layers that emit nothing are results.
    works_as
        The type whose rule gives its work, if not its own.
    kernel, transposed, equation, mode, numbers
        See `Operation`.
    """

    name: str
    type: str
    inputs: Sequence[Hashable | None] = ()
    outputs: Mapping[Hashable, Tensor] = field(default_factory=dict)
    is_constant: bool = False
    keeps_state: bool = False
    variable: str = ""
    bodies: Sequence[Sequence["Layer"]] = ()
    kernel: Sequence[int] = ()
    transposed: bool = False
    equation: str = ""
    mode: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    works_as: str = ""

    @property
    def read(self) -> list[Hashable]:
        """Keys of the tensors that it reads, each once."""
        return [key for key in dict.fromkeys(self.inputs) if key is not None]

    def operation(self, tensors: Mapping[Hashable, Tensor]) -> Operation:
        """Return what its work depends on."""
        return Operation(
            [ABSENT if key is None else tensors[key].shape for key in self.inputs],
            [tensor.shape for tensor in self.outputs.values()],
            self.kernel,
            self.transposed,
            self.equation,
            self.mode,
            self.numbers,
        )


def dataflow_graph(
    layers: Sequence[Layer], flops: FlopsByType, where: str, name: str = ""
) -> LogicalGraph:
    """Return the graph of the layers that are not constants.

    Instructions are floating-point operations by the rules of the types. Constants, and layers that
    read only constants, are not operators: their bytes are memory of the operators that read them,
    see `_held_bytes`. Those inside of bodies are memory of the operator that has the body.
    An operator that reads a tensor twice has one stream from its producer. Operators of one state
    are colocated, and its bytes are memory of the first of them.

    Raises
    ------
    FormatError
        If two layers emit the same tensor, a layer reads an unknown one, or all are constants. The
        message names `where` and the layer.
    GraphError
        If it is not a graph without cycles.
    """
    producer: dict[Hashable, int] = {}
    for i, layer in enumerate(layers):
        for key in layer.outputs:
            if producer.setdefault(key, i) != i:
                raise FormatError(f"{where}: layer {layer.name!r:.40} emits the tensor of another")
    for layer in layers:
        for key in layer.read:
            if key not in producer:
                raise FormatError(
                    f"{where}: layer {layer.name!r:.40} reads an unknown tensor, {key!r:.40}"
                )
    constants = _constants(layers, producer)
    constant = {*constants}
    kept = [i for i in range(len(layers)) if i not in constant]
    if not kept:
        raise FormatError(f"{where}: contains no operators besides constants")
    names = dict(zip(kept, numbered([layers[i].name or f"layer{i}" for i in kept]), strict=True))
    tensors = {key: t for layer in layers for key, t in layer.outputs.items()}
    held = _held_bytes([layers[i] for i in constants], tensors)
    operators = [_operator(layers[i], names[i], tensors, held, flops) for i in kept]
    links = [(i, key) for i in kept for key in layers[i].read]
    links = [(i, key) for i, key in links if key not in held]
    check_links(len(links), where)
    streams = [
        Stream(names[producer[key]], names[i], 1.0, _known(tensors[key].bytes)) for i, key in links
    ]
    states = _states([layers[i] for i in kept])
    operators, sized = _with_memory_of(states, operators)
    together = [[operators[j].name for j in sizes] for sizes in states.values()]
    same_device = Constraints(colocate=[group for group in together if len(group) > 1])
    graph = StreamGraph(
        operators, streams, name=name, firing="all", multicast="device", constraints=same_device
    )
    return LogicalGraph(graph, notes=[*_notes(layers, kept, flops), *sized])


def _constants(layers: Sequence[Layer], producer: Mapping[Hashable, int]) -> list[int]:
    """Return the layers that depend on constants only, each behind those that it reads."""
    constant = [layer.is_constant for layer in layers]
    readers: dict[int, list[int]] = {}
    variable = [0] * len(layers)  # inputs that are not known to be constant
    for i, layer in enumerate(layers):
        for key in layer.read:
            if key in producer:  # else it is of a graph around a body
                readers.setdefault(producer[key], []).append(i)
            variable[i] += 1
    found = [i for i, layer in enumerate(layers) if layer.is_constant]
    for i in found:  # grows
        for reader in readers.get(i, ()):
            variable[reader] -= 1
            if not (variable[reader] or constant[reader] or layers[reader].keeps_state):
                constant[reader] = True
                found.append(reader)
    return found


def _held_bytes(
    layers: Sequence[Layer], tensors: Mapping[Hashable, Tensor]
) -> dict[Hashable, float]:
    """Return tensor -> the bytes that it takes, for tensors that depend on constants only.

    Weights of at most one byte per element stay as they are stored, with their scales and zero
    points: engines decompress them where they are used. OpenVINO marks such patterns and keeps
    them from constant folding, and so does ONNX Runtime with ``DequantizeLinear``. All others
    count as the layer that reads them gets them, or as they are stored if that size is unknown.

    Parameters
    ----------
    layers
        Layers that depend on constants only, each behind those that it reads.
    """
    found: dict[Hashable, float] = {}
    packed: set[Hashable] = set()
    for layer in layers:
        for key, tensor in layer.outputs.items():
            size = elements(tensor.shape)
            stored = sum(found[own] for own in layer.read)
            if any(own in packed and elements(tensors[own].shape) == size for own in layer.read):
                found[key] = min(tensor.bytes, stored)
                packed.add(key)
            else:
                found[key] = stored if isnan(tensor.bytes) and layer.read else tensor.bytes
                if layer.is_constant and tensor.element_bytes <= 1:
                    packed.add(key)
    return found


def _operator(
    layer: Layer,
    name: str,
    tensors: Mapping[Hashable, Tensor],
    constant: Mapping[Hashable, float],
    flops: FlopsByType,
) -> Operator:
    emitted = [*layer.outputs.values()]
    sizes = [tensor.bytes for tensor in emitted]
    held = [constant[key] for key in layer.read if key in constant]
    return Operator(
        name,
        estimated_flops(layer.works_as or layer.type, layer.operation(tensors), flops),
        UNKNOWN if any(map(isnan, sizes)) else max(sizes, default=0.0),
        memory_bytes=sum(size for size in held if not isnan(size)) + _held_inside(layer),
        type=layer.type,
        output_shape=(emitted[0].shape if emitted else None) or (),
    )


def _held_inside(layer: Layer) -> float:
    """Return the known bytes of the constants that layers and results of its bodies read."""
    found = 0.0
    for body in layer.bodies:
        tensors = {key: tensor for inner in body for key, tensor in inner.outputs.items()}
        constants = _constants(
            body, {key: i for i, inner in enumerate(body) for key in inner.outputs}
        )
        held = _held_bytes([body[i] for i in constants], tensors)
        folded = {i for i in constants if body[i].outputs}
        read = {key for i, inner in enumerate(body) if i not in folded for key in inner.read}
        found += sum(held[key] for key in read & held.keys() if not isnan(held[key]))
        found += sum(_held_inside(inner) for inner in body)
    return found


def _states(layers: Sequence[Layer]) -> dict[str, dict[int, float]]:
    """Return state -> operator that reads or writes it, in itself or a body -> its known bytes."""
    found: dict[str, dict[int, float]] = {}
    for i, layer in enumerate(layers):
        for state, size in _states_accessed(layer):
            sizes = found.setdefault(state, {})
            sizes[i] = max(sizes.get(i, 0.0), size)
    return found


def _states_accessed(layer: Layer) -> Iterator[tuple[str, float]]:
    """Yield each state that a layer or its bodies read or write, and its known bytes."""
    if layer.variable:
        sizes = [tensor.bytes for tensor in layer.outputs.values()]
        yield layer.variable, max((size for size in sizes if not isnan(size)), default=0.0)
    for body in layer.bodies:
        for inner in body:
            yield from _states_accessed(inner)


def _with_memory_of(
    states: Mapping[str, Mapping[int, float]], operators: Sequence[Operator]
) -> tuple[list[Operator], list[str]]:
    """Return the operators with the bytes of states as memory, and a note on unknown ones."""
    found, unknown = [*operators], []
    for state, sizes in states.items():
        size, i = max(sizes.values()), min(sizes)
        found[i] = replace(found[i], memory_bytes=found[i].memory_bytes + size)
        unknown += [] if size else [state]
    if not unknown:
        return found, []
    return found, [
        f"the size of the state {listed(unknown)} is unknown; add it to the memory_bytes of the "
        "operators that read it"
    ]


def _known(number: float) -> float | None:
    return None if isnan(number) else number


def _notes(layers: Sequence[Layer], kept: Sequence[int], flops: FlopsByType) -> list[str]:
    """Return what is assumed about costs, what is left out, and whose work is unknown."""
    notes = ["instructions are floating-point operations, estimated from types and shapes"]
    constants = len(layers) - len(kept)
    if constants:
        notes.append(
            f"{counted(constants, 'constant')} left out; their bytes are memory of the operators "
            "that read them"
        )
    types = {layers[i].type for i in kept if (layers[i].works_as or layers[i].type) not in flops}
    return notes + unknown_work(types)
