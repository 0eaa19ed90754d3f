"""Graphs of operators that read and emit tensors, some of which are constants."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from streamplace.errors import FormatError
from streamplace.formats.logical_builder import check_links
from streamplace.networks.operation import (
    ABSENT,
    Operation,
    Shape,
    elements,
    unknown_work,
)
from streamplace.networks.rules import Rules, estimated_flops
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted


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
    layers: Sequence[Layer], rules: Rules, where: str, name: str = ""
) -> LogicalGraph:
    """Return the graph of the layers that are not constants.

    Instructions are floating-point operations by the rules of the types. Constants, and layers that
    read only constants, are not operators: their bytes are memory of the operators that read them,
    see `_held_bytes`.
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
    names = dict(zip(kept, _unique([layers[i].name or f"layer{i}" for i in kept]), strict=True))
    tensors = {key: t for layer in layers for key, t in layer.outputs.items()}
    held = _held_bytes([layers[i] for i in constants], tensors)
    operators = [_operator(layers[i], names[i], tensors, held, rules) for i in kept]
    links = [(i, key) for i in kept for key in layers[i].read]
    links = [(i, key) for i, key in links if key not in held]
    check_links(len(links), where)
    streams = [
        Stream(names[producer[key]], names[i], 1.0, _known(tensors[key].bytes)) for i, key in links
    ]
    states = _states([layers[i] for i in kept])
    operators, sized = _with_memory_of(states, operators)
    together = [[operators[j].name for j in members] for members in states.values()]
    same_device = Constraints(colocate=[group for group in together if len(group) > 1])
    graph = StreamGraph(
        operators, streams, name=name, firing="all", multicast="device", constraints=same_device
    )
    return LogicalGraph(graph, notes=[*_notes(layers, kept, rules), *sized])


def _constants(layers: Sequence[Layer], producer: Mapping[Hashable, int]) -> list[int]:
    """Return the layers that depend on constants only, each behind those that it reads."""
    constant = [layer.is_constant for layer in layers]
    readers: dict[int, list[int]] = {}
    variable = [0] * len(layers)  # inputs that are not known to be constant
    for i, layer in enumerate(layers):
        for key in layer.read:
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
    count as the layer that reads them gets them.

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
            if any(own in packed and elements(tensors[own].shape) == size for own in layer.read):
                found[key] = min(tensor.bytes, sum(found[own] for own in layer.read))
                packed.add(key)
            else:
                found[key] = tensor.bytes
                if layer.is_constant and tensor.element_bytes <= 1:
                    packed.add(key)
    return found


def _operator(
    layer: Layer,
    name: str,
    tensors: Mapping[Hashable, Tensor],
    constant: Mapping[Hashable, float],
    rules: Rules,
) -> Operator:
    emitted = [*layer.outputs.values()]
    sizes = [tensor.bytes for tensor in emitted]
    held = [constant[key] for key in layer.read if key in constant]
    return Operator(
        name,
        estimated_flops(layer.works_as or layer.type, layer.operation(tensors), rules),
        UNKNOWN if any(map(isnan, sizes)) else max(sizes, default=0.0),
        memory_bytes=sum(size for size in held if not isnan(size)),
        type=layer.type,
        output_shape=(emitted[0].shape if emitted else None) or (),
    )


def _states(layers: Sequence[Layer]) -> dict[str, list[int]]:
    """Return state -> the operators that read or write it."""
    found: dict[str, list[int]] = {}
    for i, layer in enumerate(layers):
        if layer.variable:
            found.setdefault(layer.variable, []).append(i)
    return found


def _with_memory_of(
    states: Mapping[str, Sequence[int]], operators: Sequence[Operator]
) -> tuple[list[Operator], list[str]]:
    """Return the operators with the bytes of states as memory, and a note on unknown ones."""
    found, unknown = [*operators], []
    for state, members in states.items():
        sizes = [found[i].payload_bytes for i in members]
        size = max((size for size in sizes if not isnan(size)), default=0.0)
        first = found[members[0]]
        found[members[0]] = replace(first, memory_bytes=first.memory_bytes + size)
        unknown += [] if size else [state]
    if not unknown:
        return found, []
    return found, [
        f"the size of the state {listed(unknown)} is unknown; add it to the memory_bytes of the "
        "operators that read it"
    ]


def _known(number: float) -> float | None:
    return None if isnan(number) else number


def _unique(names: Sequence[str]) -> list[str]:
    """Return the names with ``#2``, ``#3``, … after those that repeat an earlier one."""
    used: set[str] = set()
    count: dict[str, int] = {}
    found = []
    for name in names:
        unique = name
        while unique in used:
            count[name] = count.get(name, 1) + 1
            unique = f"{name}#{count[name]}"
        used.add(unique)
        found.append(unique)
    return found


def _notes(layers: Sequence[Layer], kept: Sequence[int], rules: Rules) -> list[str]:
    """Return what is assumed about costs, what is left out, and whose work is unknown."""
    notes = ["instructions are floating-point operations, estimated from types and shapes"]
    constants = len(layers) - len(kept)
    if constants:
        notes.append(
            f"{counted(constants, 'constant')} left out; their bytes are memory of the operators "
            "that read them"
        )
    types = {layers[i].type for i in kept if (layers[i].works_as or layers[i].type) not in rules}
    return notes + unknown_work(types)
