"""The registry of graph families: built-in, from installed packages, or ``module:function``."""

from functools import cache
from typing import Protocol, runtime_checkable

from streamplace.generate.draw import Draw
from streamplace.generate.family import NOUN, Family, SizedGraphs
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util import plugins
from streamplace.util.plugin_calls import made

GROUP = "streamplace.families"
FAMILIES = {
    "dream": "streamplace.generate.dream:Dream",
    "series-parallel": "streamplace.generate.series_parallel:series_parallel",
    "layered": "streamplace.generate.layered:layered",
    "giph-paper": "streamplace.generate.giph:GiphPaper",
    "giph-code": "streamplace.generate.giph:GiphCode",
    "sensor-fusion": "streamplace.generate.sensor_fusion:SensorFusion",
    "enas-cifar": "streamplace.generate.networks.enas_cifar:EnasCifar",
    "enas-ptb": "streamplace.generate.networks.enas_ptb:EnasPtb",
    "nmt": "streamplace.generate.networks.nmt:Nmt",
    "chain-mm": "streamplace.generate.sharded.chain_mm:ChainMM",
    "ffnn": "streamplace.generate.sharded.ffnn:FFNN",
    "transformer-block": "streamplace.generate.sharded.transformer:TransformerBlock",
    "contended": "streamplace.generate.contended:Contended",
    "transformer-layer": "streamplace.generate.sharded.transformer:TransformerLayer",
}
"""The built-in families, by name; they are imported on first use."""


class GraphSource(Protocol):
    """A source of the graphs of a dataset."""

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse a dataset that cannot be generated."""
        ...

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one graph."""
        ...


@runtime_checkable
class ClusterSource(Protocol):
    """A source of graphs that come with clusters."""

    def cluster(self, draw: Draw) -> Cluster:
        """Return the cluster of one graph."""
        ...


def family_names() -> list[str]:
    """Return the names of the built-in families, then those of installed packages."""
    return plugins.names_of(GROUP, FAMILIES)


def name_of(family: str | Family) -> str:
    """Return the name of a family with its options, or the name of its function or class."""
    if isinstance(family, str):
        return family
    return str(getattr(family, "__name__", type(family).__name__))


def graph_source(family: str | Family) -> GraphSource:
    """Return the source of a family's graphs.

    Raises
    ------
    UsageError
        On an unknown name or option, or a custom family that cannot be loaded.
    """
    return _named(family) if isinstance(family, str) else SizedGraphs(name_of(family), family)


@cache
def _named(text: str) -> GraphSource:
    if not plugins.is_ours(text, FAMILIES):
        custom = plugins.find(text, NOUN, GROUP, FAMILIES, form="module:function")
        return SizedGraphs(text, made(text, *custom, NOUN))
    name, *options = text.split(":")
    loaded = made(text, plugins.load_ours(FAMILIES[name]), options, NOUN)
    source: GraphSource = loaded if hasattr(loaded, "graph") else SizedGraphs(text, loaded)
    return source
