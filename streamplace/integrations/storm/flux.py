"""Reader of Storm topologies in Flux YAML; it does not load the classes that they name."""

from typing import Any, Literal

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.integrations.logical_builder import Link, Parallelism, build_logical_graph
from streamplace.integrations.parsing.yaml import parse_yaml
from streamplace.integrations.storm.groupings import distribution_of
from streamplace.problem.logical import LogicalGraph


class _Component(ForeignForm):
    id: Name
    parallelism: Parallelism = 1


class _Grouping(ForeignForm):
    type: Literal[
        "ALL", "CUSTOM", "DIRECT", "SHUFFLE", "LOCAL_OR_SHUFFLE", "FIELDS", "GLOBAL", "NONE"
    ]


class _Stream(ForeignForm):
    source: Name = Field(alias="from")
    target: Name = Field(alias="to")
    grouping: _Grouping


class _Topology(ForeignForm):
    name: Title = ""
    spouts: list[_Component] | None = None
    bolts: list[_Component] | None = None
    streams: list[_Stream] | None = None
    topology_source: Any = Field(None, alias="topologySource")


def read(text: str, where: str) -> LogicalGraph:
    """Read a Flux file.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the topology is not a stream graph.
    """
    form = check(_Topology, parse_yaml(text, where), where)
    if form.topology_source is not None:
        place = f"{where}: topologySource"
        raise FormatError(
            f"{place}: not supported, since a class builds the topology; "
            "import the running topology with --from storm-ui instead"
        )
    spouts, bolts = form.spouts or [], form.bolts or []
    kinds = {bolt.id: "bolt" for bolt in bolts} | {spout.id: "spout" for spout in spouts}
    links = []
    for i, stream in enumerate(form.streams or []):
        place = f"{where}: streams[{i}]"
        for end in (stream.source, stream.target):
            if end not in kinds:
                raise FormatError(f"{place}: unknown spout or bolt {end!r:.40}")
        if kinds[stream.target] == "spout":
            raise FormatError(f"{place}.to: {stream.target!r:.40} is a spout, not a bolt")
        distribution = distribution_of(stream.grouping.type.lower())
        links.append(Link(stream.source, stream.target, distribution))
    components = [*spouts, *bolts]
    return build_logical_graph(
        [component.id for component in components],
        links,
        name=form.name,
        parallelism={component.id: component.parallelism for component in components},
    )
