"""Formats of other programs by name, imported on first use."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from streamplace.errors import FormatError, UsageError, located
from streamplace.files.foreign import kind_of_document, what_is
from streamplace.files.reading import decode, name_of, read_bytes
from streamplace.formats.logical_builder import resized
from streamplace.formats.notes import with_notes
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.extras import check_learn
from streamplace.util.suggest import valid_choices

READERS: dict[str, str] = {
    "flink-plan": "streamplace.engines.flink.plan:read",
    "storm-flux": "streamplace.engines.storm.flux:read",
    "storm-ui": "streamplace.engines.storm.profile:read",
    "ibm-adl": "streamplace.engines.ibm.adl:read",
    "ibm-streamsx": "streamplace.engines.ibm.streamsx:read",
    "kafka-streams": "streamplace.engines.kafka.streams:read",
    "dream": "streamplace.files.cepsim:read_dream",
    "cepsim": "streamplace.files.cepsim:read_cepsim",
    "graphml": "streamplace.formats.graphml:read",
    "dot": "streamplace.formats.dot:read",
    "wfformat": "streamplace.networks.wfformat.runs:read",
    "doppler": "streamplace.networks.doppler:read",
    "dnn-partitioning": "streamplace.networks.dnn_partitioning:read",
    "dnn-latency": "streamplace.networks.dnn_partitioning:read_latency",
    "pipedream": "streamplace.networks.pipedream:read",
    "openvino": "streamplace.networks.openvino:read",
    "onnx": "streamplace.networks.onnx.model:read",
}
"""Name -> ``module:function`` that returns a `LogicalGraph` for a text and its file's name."""
MODULES: dict[str, str] = {"torch": "streamplace.networks.torch.loading:read"}
"""Name -> ``module:function`` that returns a `LogicalGraph` for code, not a file.

Its arguments are the name ``module:Class`` that the user typed, the shapes of the inputs, and a
seed. Code is imported only because a user typed its name.
"""
BINARY = frozenset({"onnx"})
"""Formats whose readers take bytes instead of text."""
WITH_PLACEMENT = frozenset({"wfformat"})
"""Formats whose files record where operators ran."""
WITH_CLUSTER = WITH_PLACEMENT | {"doppler", "dnn-partitioning", "dnn-latency", "pipedream"}
"""Formats whose files come with a cluster."""
ANY_COUNT = frozenset({"doppler", "pipedream"})
"""Those of them in which the number of devices, all equal, is not stated."""
WRITERS: dict[str, str] = {
    "flink": "streamplace.engines.flink.slot_groups:write",
    "flink-config": "streamplace.engines.flink.slot_groups:write_configuration",
    "flink-helper": "streamplace.engines.flink.slot_groups:write_helper",
    "capsys": "streamplace.engines.flink.slot_groups:write_capsys",
    "storm-ras": "streamplace.engines.storm.ras:write",
    "ibm-spl": "streamplace.engines.ibm.spl:write",
    "ibm-overlay": "streamplace.engines.ibm.spl:write_overlay",
    "kubernetes": "streamplace.engines.kubernetes.deployments:write",
    "ray": "streamplace.engines.ray.options:write",
    "dot": "streamplace.formats.dot:write",
    "graphml": "streamplace.formats.graphml:write",
}
"""Name -> ``module:function`` that returns a text for a placement."""


def read_document(path: str, kind: str) -> LogicalGraph:
    """Read a file of another program; ``-`` is stdin.

    Raises
    ------
    UsageError
        If there is no reader for that format, or a package that it needs is not installed.
    FormatError
        If the file is not valid. The message names the file, the place in it and the fault.
    """
    read = _load(READERS, kind)
    where, data = name_of(path), read_bytes(path)
    document = data if kind in BINARY else decode(data, where)
    try:
        return _read(read, document, where)
    except FormatError:
        other = kind_of_file(path, data)
        if other is None or _form_of(other) == _form_of(kind):
            raise
        also = "" if other not in READERS else f", not {kind}"
        raise FormatError(f"{where}: {what_is(other)}{also}") from None


def _form_of(kind: str) -> str:
    """Return what formats have in common whose files look alike: the module of the reader."""
    return READERS.get(kind, kind).partition(":")[0]


def kind_of_file(path: str, data: bytes | None = None) -> str | None:
    """Return the format of a file, perhaps one of streamplace; None if it is not recognised.

    Parameters
    ----------
    path
        The name of the file; ``-`` is stdin.
    data
        Its content; None: it is read.

    Raises
    ------
    FormatError
        If the file cannot be read.
    """
    text = (read_bytes(path) if data is None else data).decode("utf-8-sig", errors="replace")
    return kind_of_document(name_of(path), text)


def read_text_as(text: str, where: str, kind: str) -> LogicalGraph:
    """Read the text of a file of another program.

    Raises
    ------
    UsageError
        If there is no reader for that format, or it does not read text.
    FormatError
        If the text is not valid. The message is one line and names the file `where`, the place in
        it and the fault.
    """
    if kind in BINARY:
        raise UsageError(f"format {kind!r} is not text; use read_document")
    return _read(_load(READERS, kind), text, where)


def problem_of_file(path: Path, kind: str, devices: int | None = None) -> Problem:
    """Return the problem of one pass through the graph of a file, on the devices of its reader.

    Parameters
    ----------
    kind
        Format of the file, such as ``dnn-latency`` or ``pipedream``.
    devices
        Number of devices, where they are equal; None: that of the reader.

    Raises
    ------
    FormatError
        If the file is not valid, or its format has no devices.
    ClusterError
        If there are no devices, or too many.
    """
    found = read_document(str(path), kind)
    if found.cluster is None:
        raise FormatError(f"{path}: the format {kind} has no devices")
    cluster = found.cluster if devices is None else resized(found.cluster, devices)
    return Problem(found.graph, cluster, objective=Makespan())


def _read(read: object, document: str | bytes, where: str) -> LogicalGraph:
    reader = cast("Callable[[str | bytes, str], LogicalGraph]", read)
    try:
        with located(where, FormatError):
            return reader(document, where)
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None
    except FormatError as error:
        raise FormatError(" ".join(str(error).splitlines())) from None


def read_module(name: str, kind: str, inputs: Sequence[str] = (), seed: int = 0) -> LogicalGraph:
    """Return the graph of code that a user named, such as a module of PyTorch.

    Parameters
    ----------
    name
        ``module:Class`` or ``module:function``; it is imported.
    inputs
        Shapes of the example inputs, such as ``1x3x224x224`` or ``1x128:int64``.
    seed
        Seed of random weights and inputs.

    Raises
    ------
    UsageError
        If there is no such kind or code, or PyTorch is not installed.
    GraphError
        If the code does not run on these inputs, or is not a graph.
    """
    if kind in MODULES:
        check_learn(f"--from {kind}")
    read = cast("Callable[[str, Sequence[str], int], LogicalGraph]", _load(MODULES, kind))
    return read(name, inputs, seed)


def export_text(placement: Placement, kind: str) -> str:
    """Return a placement as text in the format `kind`, with what is lost as comments.

    Raises
    ------
    UsageError
        If there is no writer for that format.
    ProblemError
        If the format cannot express the placement.
    """
    write = cast("Callable[[Placement], str]", _load(WRITERS, kind))
    return with_notes(write(placement), placement, kind)


def _load(table: dict[str, str], kind: str) -> object:
    if kind not in table:
        raise UsageError(f"unknown format {kind!r}{valid_choices(kind, tuple(table))}")
    module, function = table[kind].split(":")
    return getattr(import_module(module), function)
