"""The format of PyTorch modules, which is known without loading torch."""

from collections.abc import Sequence

from streamplace.formats.format import Format
from streamplace.problem.logical import LogicalGraph
from streamplace.util.extras import load_learned


def read(name: str, inputs: Sequence[str], seed: int) -> LogicalGraph:
    """Return the graph of a module; see `networks.torch.loading.read`.

    Raises
    ------
    UsageError
        If PyTorch is not installed.
    """
    loaded = load_learned("streamplace.networks.torch.loading:read", "--from torch")
    graph: LogicalGraph = loaded(name, inputs, seed)
    return graph


FORMAT = Format(
    "torch",
    about="PyTorch: FILE is module:Class or module:function, which is imported",
    read_code=read,
)
