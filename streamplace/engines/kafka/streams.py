"""Reader of Kafka Streams topologies as printed by old and new ``Topology.describe()``.

The operators of one sub-topology and partition are one task, which runs in one thread of one
instance of the application. They are therefore colocated. Global stores have no tasks.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import Link, build_logical_graph, check_links
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import BY_KEY, AnyDistribution, Distribution, LogicalGraph
from streamplace.util.text import counted

OUT, BACK, NONE = "-->", "<--", "none"
KINDS = ("Source", "Processor", "Sink")
SUB_TOPOLOGY, GLOBAL = "Sub-topology", "for global store"
STORES, STORE = "Global Stores:", "GlobalStore:"
"""The heading and the lines of global stores in Kafka 1.0; later versions add `GLOBAL`."""
BEGINNINGS = ("Topologies", "Topology", "Sub-topologies", SUB_TOPOLOGY, STORES)
HEADING = re.compile(r"(?:^|\s)(?:Topologies|Topology: (?P<name>[^:]+)):$")
"""The first line of a description, perhaps behind what a log writes; a topology may have a name."""
HEADING_AGAIN = re.compile(rf"{HEADING.pattern}|^Sub-topolog(?:ies|y):")
"""How another description begins below the end of one."""
REPARTITION = "-repartition"
"""The end of the names of topics that Kafka Streams creates to divide tuples by another key."""
TOPIC = re.compile(r"[\w.-]+", re.ASCII)
"""The names that Kafka allows; what has other characters is a pattern of names."""


@dataclass
class _Node:
    """A node of the topology.

    Attributes
    ----------
    topics
        Topics that a source reads or a sink writes.
    after, before
        Names of its successors and its predecessors.
    task
        Number of the sub-topology whose tasks run it; 0 if it is in none.
    """

    kind: str
    name: str
    place: str
    topics: tuple[str, ...] = ()
    after: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    task: int = 0


def read(text: str, where: str) -> LogicalGraph:
    """Read a description; lines before and after it are skipped.

    Global stores are left out with a note: each instance of the application reads their whole
    topics in a thread of its own, and they generate no tasks that could be placed.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line and the fault.
    GraphError
        If the nodes do not form a stream graph.
    """
    nodes, stores = _nodes(text, where)
    links: dict[tuple[str, str], None] = {}
    for node in nodes.values():
        for name in (*node.after, *node.before):
            if name not in nodes:
                raise FormatError(f"{node.place}: unknown node {name!r:.40}")
        links.update(((node.name, name), None) for name in node.after)
        links.update(((name, node.name), None) for name in node.before)
    for ends in _through_topics(nodes):
        links[ends] = None
        check_links(len(links), where)
    tasks = _tasks(nodes)
    logical = build_logical_graph(
        [*nodes],
        [
            Link(source, target, _distribution(nodes[source], nodes[target]))
            for source, target in links
        ],
        constraints=Constraints(colocate=tasks),
        by_channel=tasks,
    )
    notes = [*_notes(stores), *_open_topics(nodes.values())]
    return replace(
        logical,
        notes=notes,
        per_partition=True,
        open_counts=[*nodes],
        repartitioned=_sinks_before(nodes.values()),
    )


def _notes(stores: Sequence[str]) -> list[str]:
    if not stores:
        return []
    return [
        f"{counted(len(stores), 'global store')} left out ({listed(stores)}): no tasks run them, "
        "and every instance of the application reads their whole topics"
    ]


def _open_topics(nodes: Collection[_Node]) -> list[str]:
    """Return a note on nodes whose topics the description does not name, if they may be linked."""
    if len({node.task for node in nodes}) <= 1:
        return []
    found = [
        node.name
        for node in nodes
        if (node.kind == "Sink" and not node.topics)
        or (node.kind == "Source" and not _names_topics(node))
    ]
    if not found:
        return []
    return [
        f"a class or a pattern chooses the topics of {listed(found)}, so streams through these "
        "topics are missing; add those that other sub-topologies have to the graph"
    ]


def _names_topics(source: _Node) -> bool:
    return bool(source.topics) and all(map(TOPIC.fullmatch, source.topics))


def _sinks_before(nodes: Collection[_Node]) -> dict[str, list[str]]:
    """Return first node of a sub-topology -> the sinks before it, if it reads from them only.

    Kafka Streams creates repartition topics with as many partitions as the largest number of those
    that the sub-topologies before them read (``RepartitionTopics``).
    """
    sinks: dict[str, list[str]] = {}
    for node in nodes:
        for topic in node.topics if node.kind == "Sink" else ():
            sinks.setdefault(topic, []).append(node.name)
    first: dict[int, str] = {}
    topics: dict[int, list[str]] = {}
    for node in nodes:
        if node.task:
            first.setdefault(node.task, node.name)
            topics.setdefault(node.task, []).extend(
                (node.topics or ("",)) if node.kind == "Source" else ()
            )
    return {
        first[task]: [sink for topic in read for sink in sinks[topic]]
        for task, read in topics.items()
        if read and all(topic.endswith(REPARTITION) and topic in sinks for topic in read)
    }


def _tasks(nodes: dict[str, _Node]) -> list[list[str]]:
    """Return the operators of each sub-topology with several operators."""
    of_task: dict[int, list[str]] = {}
    for node in nodes.values():
        if node.task:
            of_task.setdefault(node.task, []).append(node.name)
    return [names for names in of_task.values() if len(names) > 1]


def _distribution(source: _Node, target: _Node) -> AnyDistribution:
    """Return the distribution of a stream, which stays in its task within a sub-topology."""
    within = 0 < source.task == target.task
    return Distribution.POINTWISE if within else BY_KEY


def _nodes(text: str, where: str) -> tuple[dict[str, _Node], list[str]]:
    """Return the nodes that tasks run, and the sources of the global stores.

    Nodes of equal names in different named topologies have the names of these in front.
    """
    found: dict[tuple[str, str], _Node] = {}
    stores: list[str] = []
    for place, topology, task, is_store, content in _lines_of(text, where):
        if content.startswith((OUT, BACK)):
            last = next(reversed(found.values()), None)
            if last is None and not is_store:
                raise FormatError(f"{place}: must begin with {', '.join(KINDS)}")
            if last is not None and not is_store:
                _add_arrows(last, content, place)
            continue
        node = _node(content.replace(STORE, "Source:") if is_store else content, place)
        if is_store:
            stores += [node.name] if node.kind == "Source" else []
            continue
        if (topology, node.name) in found:
            remedy = "; keep one description" if task != found[topology, node.name].task else ""
            raise FormatError(f"{place}: {node.name!r:.40} is described twice{remedy}")
        node.task = task
        found[topology, node.name] = node
    if not found:
        what = "no Kafka Streams topology" + (" besides global stores" if stores else "")
        raise FormatError(f"{where}: contains {what}")
    return _named_apart(found), stores


def _lines_of(text: str, where: str) -> Iterator[tuple[str, str, int, bool, str]]:
    """Yield the lines of nodes and arrows: place, topology, task, whether of a store, and text.

    All lines of a description are indented more than its first one, except headings; so any other
    line ends it.
    """
    started, is_store, task, topology, indentation = False, False, 0, "", 0
    any_began = False
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.strip()
        heading = HEADING.search(content)
        is_heading = heading is not None or content.startswith(BEGINNINGS)
        if not started:
            started = is_heading if not any_began else HEADING_AGAIN.search(content) is not None
            any_began = any_began or started
            indentation = len(line) - len(line.lstrip()) if started else 0
            topology = (heading["name"] or "") if heading else topology
        elif heading is not None:
            topology = heading["name"] or ""
        if not started or not content:
            continue
        if content.startswith((SUB_TOPOLOGY, STORES)):
            is_store = content.startswith(STORES) or GLOBAL in content
            task += 1
        elif is_heading or content == NONE:
            continue
        elif content.startswith((OUT, BACK, *(f"{kind}:" for kind in KINDS), STORE)) or (
            len(line) - len(line.lstrip()) > indentation
        ):
            yield f"{where}: line {number}", topology, task, is_store, content
        else:
            started = False


def _named_apart(found: Mapping[tuple[str, str], _Node]) -> dict[str, _Node]:
    """Return name -> node; a name that several topologies have has its topology in front."""
    count = Counter(name for _, name in found)
    nodes: dict[str, _Node] = {}
    for (topology, _), node in found.items():

        def full(name: str, topology: str = topology) -> str:
            return f"{topology}/{name}" if topology and count[name] > 1 else name

        node.name = full(node.name)
        node.after, node.before = [*map(full, node.after)], [*map(full, node.before)]
        nodes[node.name] = node
    return nodes


def _node(content: str, place: str) -> _Node:
    """Parse ``Kind: name (what: it uses)`` and any arrows after it."""
    kind, colon, rest = content.partition(":")
    if kind not in KINDS or not colon:
        raise FormatError(f"{place}: must begin with {', '.join(KINDS)} or an arrow")
    cuts = [at for at in (rest.find(OUT), rest.find(BACK)) if at >= 0]
    head, arrows = (rest[: min(cuts)], rest[min(cuts) :]) if cuts else (rest, "")
    name, _, used = head.partition("(")
    if not name.strip():
        raise FormatError(f"{place}: the {kind.lower()} has no name")
    node = _Node(kind, name.strip(), place, _topics(used.strip().removesuffix(")")))
    _add_arrows(node, arrows, place)
    return node


def _topics(used: str) -> tuple[str, ...]:
    """Return the topics in ``topics: [a, b]`` or ``topic: a``; stores and patterns have none."""
    what, _, names = used.partition(":")
    if what not in ("topic", "topics"):
        return ()
    return _names(names.strip().removeprefix("[").removesuffix("]"))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _add_arrows(node: _Node, content: str, place: str) -> None:
    """Parse ``--> a, b <-- c`` or one of the two arrows; ``none`` means no node."""
    for part in content.replace(OUT, "\n>").replace(BACK, "\n<").split("\n")[1:]:
        names = _names(part[1:])
        if not names:
            raise FormatError(f"{place}: expected a node after the arrow")
        into = node.after if part[0] == ">" else node.before
        into.extend(name for name in names if name != NONE)


def _through_topics(nodes: dict[str, _Node]) -> Iterator[tuple[str, str]]:
    """Yield the (sink, source) pairs that share a topic, which connects sub-topologies."""
    readers: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.kind == "Source":
            for topic in node.topics:
                readers.setdefault(topic, []).append(node.name)
    for node in nodes.values():
        if node.kind == "Sink":
            for topic in node.topics:
                yield from ((node.name, source) for source in readers.get(topic, ()))


FORMAT = Format(
    "kafka-streams",
    about="Kafka Streams: Topology.describe(), text",
    read=read,
    signs=Signs(text=re.compile(r"^ *(?:Topologies|Sub-topolog(?:y|ies)):", re.MULTILINE)),
)
