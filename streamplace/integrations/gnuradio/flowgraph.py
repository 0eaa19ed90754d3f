"""Flowgraphs in ``.grc`` files: the blocks that run, their connections, and arithmetic."""

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.integrations.logical_builder import check_links
from streamplace.util.text import DECIMAL

MAX_LENGTH = 200  # characters; longer ones are no plain arithmetic
BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
CALLS: dict[str, Callable[[float], float]] = {"int": int, "float": float, "round": round}
HIERARCHICAL = ("hb", "hb_qt_gui")
BYPASSED, DISABLED = ("bypassed", "bypass"), ("disabled", False)
SINK, SOURCE = "virtual_sink", "virtual_source"
OLD = "is not a flowgraph of GNU Radio 3.8 or later: open and save it in GNU Radio Companion"
KEYS = ("src_blk_id", "src_port_id", "snk_blk_id", "snk_port_id")
Port = tuple[str, str]  # block, and key of the port


class Variables:
    """The variables of a flowgraph.

    Parameters
    ----------
    texts
        Variable -> its expression.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        trees = {name: _parsed(text) for name, text in texts.items()}
        order = TopologicalSorter({name: _names(tree) for name, tree in trees.items()})
        self._known: dict[str, float] = {}
        with suppress(CycleError):  # variables outside cycles, and not behind one, still follow
            order.prepare()
        while ready := order.get_ready():
            for name in ready:
                if (value := self._computed(trees.get(name))) is not None:
                    self._known[name] = value
            order.done(*ready)

    def number(self, text: str) -> float | None:
        """Return the value of an expression; None if it is not plain arithmetic of known numbers.

        Nothing is executed: numbers, variables, ``+ - * / // % **``, ``int``, ``float`` and
        ``round`` are computed, and all else is unknown.
        """
        return self._computed(_parsed(text))

    def _computed(self, tree: ast.expr | None) -> float | None:
        try:
            value = self._value(tree)
            return value if isfinite(value) else None
        except (KeyError, ValueError, ArithmeticError, TypeError, MemoryError, RecursionError):
            return None

    def _value(self, node: ast.expr | None) -> float:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.Name(id=name):
                return self._known[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._value(inner)
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in BINARY:
                return BINARY[type(kind)](self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in CALLS:
                return float(CALLS[name](self._value(inner)))
        raise ValueError("not plain arithmetic")


def _parsed(text: str) -> ast.expr | None:
    """Return the tree of an expression; None if there is none, or it is too long."""
    plain = text.strip()
    if DECIMAL.fullmatch(plain):
        return ast.Constant(float(plain))
    if not plain or len(plain) > MAX_LENGTH:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _names(tree: ast.expr | None) -> set[str]:
    """Return the variables in an expression."""
    nodes = ast.walk(tree) if tree else ()
    return {each.id for each in nodes if isinstance(each, ast.Name)}


def _text(value: Any) -> Any:
    """Convert a value that is written without quotation marks, and leave out lists and objects."""
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, (list, dict)) else str(value)


Text = Annotated[Title, BeforeValidator(_text)]

Texts = dict[Name, Text]


class _States(ForeignForm):
    state: str | bool = "enabled"


class _Block(ForeignForm):
    name: Name
    id: Name
    parameters: Texts = Field(default_factory=dict)
    states: _States = Field(default_factory=_States)


class _Options(ForeignForm):
    parameters: Texts = Field(default_factory=dict)


class _Connection(ForeignForm):
    source: Name
    source_port: Text
    target: Name
    target_port: Text


class _Flowgraph(ForeignForm):
    options: _Options
    blocks: list[_Block]
    connections: list[Any] | None = None


@dataclass(frozen=True)
class Block:
    """A block that runs.

    Parameters
    ----------
    type
        Such as ``blocks_throttle``.
    parameters
        Name -> expression.
    """

    name: str
    type: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Flowgraph:
    """A flowgraph without disabled blocks; bypassed and virtual ones are replaced by connections.

    Parameters
    ----------
    blocks
        Name -> block, for those that are connected, in the order of the file.
    streams
        Ends of each stream of items, by the keys of ports, which are numbers.
    messages
        Ends of each other connection.
    """

    title: str
    blocks: Mapping[str, Block]
    streams: tuple[tuple[Port, Port], ...]
    messages: tuple[tuple[str, str], ...]
    variables: Variables


def flowgraph_from(value: Any, where: str) -> Flowgraph:
    """Return the flowgraph of a document.

    Raises
    ------
    FormatError
        If it is not a flowgraph that runs. The message names `where`, the place in it and the
        fault.
    """
    if not isinstance(value, dict) or "blocks" not in value:
        raise FormatError(f"{where}: {OLD}")
    form = check(_Flowgraph, value, where)
    if form.options.parameters.get("generate_options") in HIERARCHICAL:
        raise FormatError(
            f"{where}: is a hierarchical block, not a flowgraph that runs: import one that uses it"
        )
    running: dict[str, _Block] = {}
    for i, block in enumerate(form.blocks):
        if block.states.state in DISABLED:
            continue
        if block.name in running:
            fault = f"blocks[{i}].name: duplicate name {block.name!r:.40}; rename one"
            raise FormatError(f"{where}: {fault}")
        running[block.name] = block
    known = {block.name for block in form.blocks}
    streams: list[tuple[Port, Port]] = []
    messages: list[tuple[str, str]] = []
    for source, target in _connections(form, known, where):
        if source[0] in running and target[0] in running:
            if source[1].isdecimal() and target[1].isdecimal():
                streams.append((source, target))
            else:
                messages.append((source[0], target[0]))
    kept = tuple(_resolved(running, streams, where))
    connected = {end[0] for ends in kept for end in ends} | {n for ends in messages for n in ends}
    parameters = form.options.parameters
    return Flowgraph(
        parameters.get("title") or parameters.get("id", ""),
        {
            name: Block(name, each.id, each.parameters)
            for name, each in running.items()
            if name in connected
        },
        kept,
        tuple(messages),
        Variables({name: each.parameters.get("value", "") for name, each in running.items()}),
    )


def _connections(form: _Flowgraph, known: set[str], where: str) -> Iterator[tuple[Port, Port]]:
    """Yield the ends of each connection; format 1 has lists of four texts, format 2 objects."""
    for i, value in enumerate(form.connections or ()):
        place = f"{where}: connections[{i}]"
        ends = [value.get(key) for key in KEYS] if isinstance(value, dict) else value
        if not isinstance(ends, list) or len(ends) != len(KEYS):
            raise FormatError(f"{place}: must be [block, port, block, port]")
        found = check(_Connection, dict(zip(_Connection.model_fields, ends, strict=True)), place)
        for end in (found.source, found.target):
            if end not in known:
                raise FormatError(f"{place}: unknown block {end!r:.40}")
        yield (found.source, found.source_port), (found.target, found.target_port)


def _resolved(
    blocks: Mapping[str, _Block], streams: list[tuple[Port, Port]], where: str
) -> Iterator[tuple[Port, Port]]:
    """Yield the streams between blocks that run, through virtual and bypassed ones."""
    through = {name for name, each in blocks.items() if _passes_on(each)}
    feeding = _feeding(blocks, streams, where)
    count = 0
    for source, target in streams:
        if target[0] in through:
            continue
        begin = source
        passed: set[str] = set()
        while (name := begin[0]) in through:
            if name in passed:
                raise FormatError(f"{where}: {name!r:.40} feeds itself through virtual blocks")
            if name not in feeding:
                raise FormatError(f"{where}: nothing feeds {name!r:.40}, which passes a stream on")
            passed.add(name)
            begin = feeding[name]
        count += 1
        check_links(count, where)
        yield begin, target


def _passes_on(block: _Block) -> bool:
    return block.id in (SINK, SOURCE) or block.states.state in BYPASSED


def _feeding(
    blocks: Mapping[str, _Block], streams: list[tuple[Port, Port]], where: str
) -> dict[str, Port]:
    """Return virtual or bypassed block -> what feeds it; of a virtual source, that is its sink."""
    feeding: dict[str, Port] = {}
    for source, (name, _) in streams:
        if _passes_on(blocks[name]) and feeding.setdefault(name, source) != source:
            raise FormatError(f"{where}: several streams feed {name!r:.40}, which passes one on")
    sinks: dict[str, str] = {}
    for name, block in blocks.items():
        stream = block.parameters.get("stream_id", "")
        if block.id == SINK and (other := sinks.setdefault(stream, name)) != name:
            raise FormatError(
                f"{where}: virtual sinks {other!r:.40} and {name!r:.40} have the same stream_id "
                f"{stream!r:.40}"
            )
    for name, block in blocks.items():
        stream = block.parameters.get("stream_id", "")
        if block.id == SOURCE:
            if stream not in sinks:
                raise FormatError(
                    f"{where}: virtual source {name!r:.40}: no virtual sink has its stream_id "
                    f"{stream!r:.40}"
                )
            feeding[name] = sinks[stream], ""
    return feeding
