"""DOT -> a drawing: nodes and edges with those attributes that are ours."""

from itertools import pairwise

from streamplace.errors import FormatError
from streamplace.integrations.formats.attributes import EDGE, GRAPH, NODE, Attributes, Drawing
from streamplace.integrations.formats.dot_tokens import Token, tokens_of

DEEPEST = 50
MOST_EDGES = 1_000_000
OURS = {"graph": frozenset(GRAPH) - {"name"}, "node": frozenset(NODE), "edge": frozenset(EDGE)}
IDS = ("id", "quoted")


def parse_dot(text: str, where: str) -> Drawing:
    """Read one digraph, subgraphs and default attributes as Graphviz understands them.

    Raises
    ------
    FormatError
        On what is not DOT, on undirected graphs, and on several graphs in one file.
    """
    return _Parser(text, where).digraph()


class _Parser:
    """A reader that looks one word ahead.

    Attributes
    ----------
    strict
        Whether two edges between the same nodes are one.
    """

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens = tokens_of(text, where)
        self.next = next(self.tokens)
        self.drawing = Drawing()
        self.strict: dict[tuple[str, str], Attributes] | None = None

    def digraph(self) -> Drawing:
        if self.takes("keyword", "strict"):
            self.strict = {}
        if self.takes("keyword", "graph"):
            raise self.fault("is undirected, and streams have a direction: it must be a digraph")
        self.needs("keyword", "digraph")
        if self.next.kind in IDS:
            self.drawing.attributes["name"] = self.name()
        self.body(({}, {}), 0)
        self.needs("end", "the end")
        return self.drawing

    def body(self, defaults: tuple[Attributes, Attributes], depth: int) -> dict[str, None]:
        """Read ``{ statements }``; return the nodes in it.

        Parameters
        ----------
        defaults
            Attributes of nodes and of edges that are made in it.
        """
        if depth > DEEPEST:
            raise self.fault("nested too deeply")
        self.needs("mark", "{")
        inside: dict[str, None] = {}
        while not self.takes("mark", "}"):
            self.statement(defaults, depth, inside)
            while self.takes("mark", ";") or self.takes("mark", ","):
                pass
        return inside

    def statement(
        self, defaults: tuple[Attributes, Attributes], depth: int, inside: dict[str, None]
    ) -> None:
        for kind, into in (("node", defaults[0]), ("edge", defaults[1]), ("graph", None)):
            if self.takes("keyword", kind):
                told = self.attributes(kind)
                if into is not None:
                    into.update(told)
                elif depth == 0:
                    self.drawing.attributes.update(told)
                return
        first = self.next
        ends = [self.end(defaults, depth)]
        if first.kind in IDS and self.takes("mark", "="):
            self.assign(next(iter(ends[0])), self.name(), depth)
            return
        while self.takes("mark", "->"):
            ends.append(self.end(defaults, depth))
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
        """Make the node of a statement of its own, or let a subgraph be."""
        inside.update(end)
        if first.kind in IDS:
            self.make(end, defaults)
            self.drawing.nodes[next(iter(end))].update(self.attributes("node"))

    def connect(
        self,
        ends: list[dict[str, None]],
        defaults: tuple[Attributes, Attributes],
        inside: dict[str, None],
    ) -> None:
        """Make the edges of ``a -> {b c} -> d [attributes]``."""
        own = self.attributes("edge")
        for end in ends:
            self.make(end, defaults[0])
            inside.update(end)
        count = len(self.drawing.edges) + sum(len(a) * len(b) for a, b in pairwise(ends))
        if count > MOST_EDGES:
            raise self.fault(f"more than {MOST_EDGES:,} edges")
        for sources, targets in pairwise(ends):
            for source in sources:
                for target in targets:
                    self.edge(source, target, own, defaults[1])

    def edge(self, source: str, target: str, own: Attributes, defaults: Attributes) -> None:
        if self.strict is not None and (source, target) in self.strict:
            self.strict[source, target].update(own)
            return
        told = defaults | own
        self.drawing.edges.append((source, target, told))
        if self.strict is not None:
            self.strict[source, target] = told

    def make(self, names: dict[str, None], defaults: Attributes) -> None:
        for name in names:
            if name not in self.drawing.nodes:
                self.drawing.nodes[name] = dict(defaults)

    def assign(self, name: str, value: str, depth: int) -> None:
        """Take ``name = value`` as an attribute of the graph, if it is not a subgraph's."""
        if depth == 0 and name in OURS["graph"]:
            self.drawing.attributes[name] = value

    def end(self, defaults: tuple[Attributes, Attributes], depth: int) -> dict[str, None]:
        """Read a node with its port, or a subgraph; return the nodes."""
        if self.takes("keyword", "subgraph"):
            if self.next.kind in IDS:
                self.name()
        elif self.next[:2] != ("mark", "{"):
            name = self.name()
            while self.takes("mark", ":"):
                self.name()
            return {name: None}
        return self.body((dict(defaults[0]), dict(defaults[1])), depth + 1)

    def attributes(self, kind: str) -> Attributes:
        """Read ``[a=b, c=d] […]``; return those that are ours."""
        told: Attributes = {}
        while self.takes("mark", "["):
            while not self.takes("mark", "]"):
                name = self.name()
                self.needs("mark", "=")
                value = self.name()
                if name in OURS[kind]:
                    told[name] = value
                if not self.takes("mark", ","):
                    self.takes("mark", ";")
        return told

    def name(self) -> str:
        """Read an id; quoted ones may be sums."""
        if self.next.kind not in IDS:
            raise self.fault(f"a name is wanted, not {self.next.text!r:.40}")
        parts, quoted = [self.next.text], self.next.kind == "quoted"
        self.next = next(self.tokens)
        while quoted and self.takes("mark", "+"):
            if self.next.kind != "quoted":
                raise self.fault("a quoted name is wanted behind '+'")
            parts.append(self.next.text)
            self.next = next(self.tokens)
        return "".join(parts)

    def takes(self, kind: str, text: str) -> bool:
        """Pass over a word, if it is the next."""
        if self.next[:2] != (kind, text):
            return False
        if kind != "end":
            self.next = next(self.tokens)
        return True

    def needs(self, kind: str, text: str) -> None:
        if not self.takes(kind, text):
            raise self.fault(f"{text!r} is wanted, not {self.next.text!r:.40}")

    def fault(self, what: str) -> FormatError:
        return FormatError(f"{self.where}: line {self.next.line}: {what}")
