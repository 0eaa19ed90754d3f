"""Reader and writer of DOT, the language of Graphviz."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from streamplace.errors import FormatError
from streamplace.formats import picture
from streamplace.formats.attributes import (
    EDGE,
    GRAPH,
    NODE,
    AttributedGraph,
    Attributes,
    from_attributed_graph,
    to_attributed_graph,
)
from streamplace.formats.format import Format, Signs
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement

KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
MAX_DEPTH = 50
MAX_EDGES = 1_000_000
KNOWN = {
    "graph": frozenset(GRAPH) - {"name"},
    "node": frozenset((*NODE, *picture.NODE)),
    "edge": frozenset((*EDGE, *picture.EDGE)),
    "cluster": frozenset({"label"}),
}
CLUSTER = "cluster"
"""The ids of subgraphs that are drawn begin with it."""
IDS = ("id", "quoted", "html")

_TOKEN = re.compile(
    r"""
    (?P<nothing>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<mark>->|--|[{}\[\];,=:+])
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)
    |(?P<number>-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?))
    |(?P<quoted>"(?:[^"\\]++|\\.)*+")
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(\"|\\|\r?\n)")
_ANGLE = re.compile("[<>]")


class Token(NamedTuple):
    """A token of kind ``mark``, ``keyword``, ``end`` or, for ids, ``id``, ``quoted``, ``html``."""

    kind: str
    text: str
    line: int


def tokens_of(text: str, where: str) -> Iterator[Token]:
    """Yield the tokens of a text without comments; the last one is an ``end``.

    Raises
    ------
    FormatError
        If a character does not begin a token.
    """
    at, line = 0, 1
    while at < len(text):
        token: Token | None
        if text[at] == "<":
            end, token = _html(text, at, line, where)
        else:
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                rest = text[at : at + 20].partition("\n")[0]
                raise FormatError(f"{where}: line {line}: not DOT: {rest!r}")
            end, token = match.end(), _token(match.lastgroup, match.group(), line)
        if token is not None:
            yield token
        line += text.count("\n", at, end)
        at = end
    yield Token("end", "", line)


def _token(kind: str, text: str, line: int) -> Token | None:
    if kind == "nothing":
        return None
    if kind == "mark":
        return Token(kind, text, line)
    if kind == "quoted":
        return Token("quoted", _ESCAPED.sub(_unescaped, text[1:-1]), line)
    if kind == "word" and text.lower() in KEYWORDS:
        return Token("keyword", text.lower(), line)
    return Token("id", text, line)


def _unescaped(escaped: re.Match[str]) -> str:
    return "" if escaped[1].endswith("\n") else escaped[1]


def _html(text: str, start: int, line: int, where: str) -> tuple[int, Token]:
    """Return the end of a text in angle brackets, and its token."""
    depth = 0
    for angle in _ANGLE.finditer(text, start):
        depth += 1 if angle.group() == "<" else -1
        if depth == 0:
            return angle.end(), Token("html", text[start + 1 : angle.start()], line)
    raise FormatError(f"{where}: line {line}: not DOT: a '<' is never closed")


def parse_dot(text: str, where: str) -> AttributedGraph:
    """Parse one digraph; subgraphs and default attributes mean what they mean to Graphviz.

    Raises
    ------
    FormatError
        If the text is not DOT, is undirected, or has several graphs.
    """
    return _Parser(text, where).digraph()


class _Parser:
    """A recursive-descent parser with one token of lookahead.

    Attributes
    ----------
    strict
        Edge -> its attributes in a ``strict`` graph, where repeated edges are merged; else None.
    inside
        The clusters around the next statement, from the outermost one.
    """

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens = tokens_of(text, where)
        self.next = next(self.tokens)
        self.attributed = AttributedGraph()
        self.strict: dict[tuple[str, str], Attributes] | None = None
        self.inside: tuple[str, ...] = ()

    def digraph(self) -> AttributedGraph:
        if self.accept("keyword", "strict"):
            self.strict = {}
        if self.accept("keyword", "graph"):
            raise self.error("the graph is undirected; use 'digraph'")
        self.expect("keyword", "digraph")
        if self.next.kind in IDS:
            self.attributed.attributes["name"] = self.name()
        self.body(({}, {}), 0)
        if self.next.kind != "end":
            raise self.error(f"expected the end of the text (got {self.shown()})")
        return self.attributed

    def body(self, defaults: tuple[Attributes, Attributes], depth: int) -> dict[str, None]:
        """Read ``{ statements }``; return the nodes in it.

        Parameters
        ----------
        defaults
            Default attributes of the nodes and of the edges inside.
        """
        if depth > MAX_DEPTH:
            raise self.error(f"subgraphs nested more than {MAX_DEPTH} deep")
        self.expect("mark", "{")
        inside: dict[str, None] = {}
        while not self.accept("mark", "}"):
            self.statement(defaults, depth, inside)
            while self.accept("mark", ";"):
                pass
        return inside

    def statement(
        self, defaults: tuple[Attributes, Attributes], depth: int, inside: dict[str, None]
    ) -> None:
        for kind, into in (("node", defaults[0]), ("edge", defaults[1]), ("graph", None)):
            if self.accept("keyword", kind):
                found = self.attributes("cluster" if kind == "graph" and depth else kind)
                if into is not None:
                    into.update(found)
                elif depth == 0:
                    self.attributed.attributes.update(found)
                elif self.inside:
                    self.attributed.labels[self.inside[-1]] = found.get("label", "")
                return
        first = self.next
        ends = [self.list_of_nodes(defaults, depth)]
        if first.kind in IDS and self.accept("mark", "="):
            is_html = self.next.kind == "html"
            value = self.name()
            self.assign(
                next(iter(ends[0])), picture.text_of_html(value) if is_html else value, depth
            )
            return
        while self.accept("mark", "->"):
            ends.append(self.list_of_nodes(defaults, depth))
        if len(ends) > 1:
            self.connect(ends, defaults, inside)
        else:
            self.declare(ends[0], first, defaults[0], inside)

    def declare(
        self,
        end: dict[str, None],
        first: Token,
        defaults: Attributes,
        inside: dict[str, None],
    ) -> None:
        """Add the node of a node statement; a subgraph has already added its nodes."""
        inside.update(end)
        if first.kind in IDS:
            self.add_nodes(end, defaults)
            found = self.attributes("node")
            for name in end:
                self.attributed.nodes[name].update(found)

    def connect(
        self,
        ends: list[dict[str, None]],
        defaults: tuple[Attributes, Attributes],
        inside: dict[str, None],
    ) -> None:
        """Add the edges of ``a -> {b c} -> d [attributes]``."""
        edge_attributes = self.attributes("edge")
        for end in ends:
            self.add_nodes(end, defaults[0])
            inside.update(end)
        count = len(self.attributed.edges) + sum(len(a) * len(b) for a, b in pairwise(ends))
        if count > MAX_EDGES:
            raise self.error(f"more than {MAX_EDGES:,} edges")
        for sources, targets in pairwise(ends):
            for source in sources:
                for target in targets:
                    self.edge(source, target, edge_attributes, defaults[1])

    def edge(
        self, source: str, target: str, edge_attributes: Attributes, defaults: Attributes
    ) -> None:
        if self.strict is not None and (source, target) in self.strict:
            self.strict[source, target].update(edge_attributes)
            return
        found = defaults | edge_attributes
        self.attributed.edges.append((source, target, found))
        if self.strict is not None:
            self.strict[source, target] = found

    def add_nodes(self, names: dict[str, None], defaults: Attributes) -> None:
        for name in names:
            if name not in self.attributed.nodes:
                self.attributed.nodes[name] = dict(defaults)
                self.attributed.clusters[name] = self.inside

    def assign(self, name: str, value: str, depth: int) -> None:
        """Set ``name = value`` as an attribute of the graph, or the label of a cluster."""
        if self.inside and name == "label":
            self.attributed.labels[self.inside[-1]] = value
        elif depth == 0 and name in KNOWN["graph"]:
            self.attributed.attributes[name] = value

    def list_of_nodes(self, defaults: tuple[Attributes, Attributes], depth: int) -> dict[str, None]:
        """Read a subgraph, or nodes that commas separate, which Graphviz reads as ``{a b}``."""
        is_node = self.next.kind in IDS
        found = self.end(defaults, depth)
        while is_node and self.accept("mark", ","):
            found = found | self.end(defaults, depth)
        return found

    def end(self, defaults: tuple[Attributes, Attributes], depth: int) -> dict[str, None]:
        """Read a node with its port, or a subgraph; return the nodes."""
        around = self.inside
        if self.accept("keyword", "subgraph"):
            if self.next.kind in IDS and (name := self.name()).startswith(CLUSTER):
                self.inside = (*around, name)
        elif self.next[:2] != ("mark", "{"):
            name = self.name()
            while self.accept("mark", ":"):
                self.name()
            return {name: None}
        nodes = self.body((dict(defaults[0]), dict(defaults[1])), depth + 1)
        self.inside = around
        return nodes

    def attributes(self, kind: str) -> Attributes:
        """Parse ``[a=b, c=d] […]``; return the known attributes."""
        found: Attributes = {}
        while self.accept("mark", "["):
            while not self.accept("mark", "]"):
                name = self.name()
                self.expect("mark", "=")
                is_html = self.next.kind == "html"
                value = self.name()
                if name in KNOWN[kind]:
                    found[name] = picture.text_of_html(value) if is_html else value
                if not self.accept("mark", ","):
                    self.accept("mark", ";")
        return found

    def name(self) -> str:
        """Read an id; quoted ones may be joined by ``+``."""
        if self.next.kind not in IDS:
            remedy = "; write '->' in a digraph" if self.next.text == "--" else ""
            raise self.error(f"expected a name (got {self.shown()}){remedy}")
        parts, quoted = [self.next.text], self.next.kind == "quoted"
        self.next = next(self.tokens)
        while quoted and self.accept("mark", "+"):
            if self.next.kind != "quoted":
                raise self.error("expected a quoted name after '+'")
            parts.append(self.next.text)
            self.next = next(self.tokens)
        return "".join(parts)

    def accept(self, kind: str, text: str) -> bool:
        """Consume the next token if it is this one; return whether it was."""
        if self.next[:2] != (kind, text):
            return False
        self.next = next(self.tokens)
        return True

    def expect(self, kind: str, text: str) -> None:
        if not self.accept(kind, text):
            raise self.error(f"expected {text!r} (got {self.shown()})")

    def shown(self) -> str:
        """Return the next token, for messages."""
        return "the end of the text" if self.next.kind == "end" else f"{self.next.text!r:.40}"

    def error(self, fault: str) -> FormatError:
        return FormatError(f"{self.where}: line {self.next.line}: {fault}")


def read(text: str, where: str) -> LogicalGraph:
    """Read a digraph; ids are the operators' names, or names and labels where ids are numbers.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a stream graph.
    """
    attributed = parse_dot(text, where)
    notes = picture.understood(attributed, where)
    return from_attributed_graph(attributed, where, notes)


def write(placement: Placement) -> str:
    """Return a placement's graph as DOT; every operator has its ``device``."""
    return to_text(to_attributed_graph(placement.problem.graph, placement.assignment))


def to_text(attributed: AttributedGraph) -> str:
    """Return a graph with attributes as DOT."""
    attributes_left = dict(attributed.attributes)
    name = attributes_left.pop("name", "")
    lines = [f"digraph {_quoted(name)} {{" if name else "digraph {"]
    if attributes_left:
        lines.append(f"  graph{_bracketed(attributes_left)};")
    for node, attributes in attributed.nodes.items():
        lines.append(f"  {_quoted(node)}{_bracketed(attributes)};")
    for source, target, attributes in attributed.edges:
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{_bracketed(attributes)};")
    return "\n".join([*lines, "}", ""])


def _bracketed(attributes: Attributes) -> str:
    pairs = ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())
    return f" [{pairs}]" if pairs else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


FORMAT = Format(
    "dot",
    about="a graph for Graphviz; export adds the device of each operator",
    read=read,
    write=write,
    signs=Signs(
        endings=(".dot", ".gv"),
        text=re.compile(
            r"\A(?:\s|//[^\n]*|/\*.*?\*/|\#[^\n]*)*+"
            r'(?:strict\s+)?(?:di)?graph\b\s*+(?:[\w.-]++|"(?:[^"\\]|\\.)*+"|<[^{]*>)?\s*+\{',
            re.DOTALL | re.IGNORECASE,
        ),
    ),
)
