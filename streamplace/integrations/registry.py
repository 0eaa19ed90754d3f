"""Formats of other programs by name, imported on first use, and what an export loses."""

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import cast

from streamplace.errors import FormatError, UsageError, located
from streamplace.files.foreign import kind_of_text
from streamplace.files.reading import decode, name_of, read_bytes
from streamplace.integrations.flink.groups import groups_of
from streamplace.integrations.kubernetes import assumed_nodes
from streamplace.integrations.kubernetes_parts import lost_numbers, shared_requests
from streamplace.integrations.kubernetes_resources import assumed_names, rounded_up
from streamplace.integrations.pes import devices_of_instances, shown
from streamplace.integrations.storm.ras import assumed_capacities, assumed_room
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import interchangeable
from streamplace.util.extras import check_learn
from streamplace.util.suggest import valid_choices
from streamplace.util.text import counted

ACCELERATOR = re.compile(r"gpu|tpu|npu|fpga|cuda|accelerator", re.IGNORECASE)
COMMENTS = {
    "flink": "# ",
    "flink-config": "# ",
    "storm-ras": "# ",
    "kubernetes": "# ",
    "ibm-spl": "// ",
}
"""Format -> how its comments begin; other formats have none."""


def losses(placement: Placement, kind: str) -> list[str]:
    """Return the facts that are lost in a format, one sentence each."""
    return [sentence for find in FINDERS.get(kind, ()) if (sentence := find(placement))]


def assumptions(placement: Placement, kind: str) -> list[str]:
    """Return what a format assumes about a placement, one sentence each."""
    return [sentence for find in ASSUMED.get(kind, ()) if (sentence := find(placement))]


def with_notes(text: str, placement: Placement, kind: str) -> str:
    """Return an export with what it loses and assumes as comments, if the format has comments."""
    if kind not in COMMENTS:
        return text
    notes = [f"Lost: {each}" for each in losses(placement, kind)]
    notes += [f"Assumed: {each}" for each in assumptions(placement, kind)]
    return "".join(f"{COMMENTS[kind]}{note}\n" for note in notes) + text


def _accelerators(placement: Placement) -> str:
    graph = placement.problem.graph
    names = [
        graph.names[v]
        for v, labels in graph.requires.items()
        if any(ACCELERATOR.search(label) for label in labels) and v not in graph.resources
    ]
    if not names:
        return ""
    who, require, need = (
        ("it", "requires", "needs") if len(names) == 1 else ("they", "require", "need")
    )
    return (
        f"the work of {shown(names)}, which {require} an accelerator, is counted as CPU; "
        f"set what {who} {need} by hand"
    )


def _resources(placement: Placement) -> str:
    names = placement.problem.graph.resource_names
    if not names:
        return ""
    return (
        f"the file does not reserve {shown(names)}, which the placement counts; "
        "reserve what is needed by hand"
    )


def _memory(placement: Placement) -> str:
    if not placement.problem.graph.memory_bytes.any():
        return ""
    return (
        "memory is not carried over; give each TaskManager what the placement counts on its device"
    )


def _hosts(placement: Placement) -> str:
    if len(set(interchangeable(placement.problem).tolist())) == 1:
        return ""
    return (
        "devices differ, but Storm chooses the host of each component; addResource in the "
        "topology's code and supervisor.resources.map tie a component to a host"
    )


def _executors(placement: Placement) -> str:
    split = [name for name, on in devices_of_instances(placement).items() if len({*on}) > 1]
    if not split:
        return ""
    return (
        f"Storm chooses which executors of {shown(split)} run on which host, and how many, up to "
        "the most that the placement has on one device"
    )


def _operators(placement: Placement) -> str:
    return "only the number of PEs is kept; use ibm-spl for which operator runs where"


def _instances(placement: Placement) -> str:
    split = [g for g in groups_of(placement).groups if len(g.slots) > 1]
    names = [name for group in split for name in group.operators]
    if not names:
        return ""
    return f"Flink chooses which instances of {shown(names)} run on which device; counts are kept"


def _slots(placement: Placement) -> str:
    groups = groups_of(placement)
    several = [g.name for g in groups.groups if g.slot is None and max(g.slots.values()) > 1]
    if not several:
        return ""
    return f"Flink chooses the TaskManagers of the slots of {shown(several)}"


FINDERS: dict[str, tuple[Callable[[Placement], str], ...]] = {
    "flink": (_instances, _slots, _resources, _memory),
    "flink-config": (_instances, _resources, _memory),
    "capsys": (_resources,),
    "storm-ras": (_hosts, _executors, _accelerators, _resources),
    "kubernetes": (_accelerators, rounded_up, lost_numbers),
    "ray": (_resources,),
    "gnuradio": (_resources,),
    "ibm-spl": (_resources,),
    "ibm-overlay": (_operators,),
}
"""Format -> what finds its losses."""

ASSUMED: dict[str, tuple[Callable[[Placement], str], ...]] = {
    "kubernetes": (assumed_names, shared_requests, assumed_nodes),
    "storm-ras": (assumed_capacities, assumed_room),
}
"""Format -> what finds its assumptions."""


def unknown_work(types: Iterable[str]) -> list[str]:
    """Return a note that names types of operators without a rule, if there are any."""
    found = sorted(set(types))
    if not found:
        return []
    return [
        f"no rule gives the work of {counted(len(found), 'type')} of operators, {listed(found)}; "
        "their instructions are unknown unless --costs states them"
    ]


_HERE = "streamplace.integrations"
READERS: dict[str, str] = {
    "flink-plan": f"{_HERE}.flink.plan:read",
    "storm-flux": f"{_HERE}.storm.flux:read",
    "storm-ui": f"{_HERE}.storm.profile:read",
    "ibm-adl": f"{_HERE}.ibm.adl:read",
    "ibm-streamsx": f"{_HERE}.ibm.streamsx:read",
    "kafka-streams": f"{_HERE}.kafka_streams:read",
    "gnuradio": f"{_HERE}.gnuradio.grc:read",
    "dream": "streamplace.files.dream:read_dream",
    "cepsim": "streamplace.files.dream:read_cepsim",
    "graphml": f"{_HERE}.formats.graphml:read",
    "dot": f"{_HERE}.formats.dot:read",
    "wfformat": f"{_HERE}.formats.wfformat:read",
    "doppler": f"{_HERE}.neural.doppler:read",
    "dnn-partitioning": f"{_HERE}.neural.dnn_partitioning:read",
    "dnn-latency": f"{_HERE}.neural.dnn_partitioning:read_latency",
    "pipedream": f"{_HERE}.neural.pipedream:read",
    "openvino": f"{_HERE}.neural.openvino:read",
    "onnx": f"{_HERE}.neural.onnx_model:read",
}
"""Name -> ``module:function`` that returns a `LogicalGraph` for a text and its file's name."""
MODULES: dict[str, str] = {"torch": f"{_HERE}.torch.loading:read"}
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
    "flink": f"{_HERE}.flink.slot_groups:write",
    "flink-config": f"{_HERE}.flink.slot_groups:write_configuration",
    "flink-helper": f"{_HERE}.flink.slot_groups:write_helper",
    "capsys": f"{_HERE}.flink.slot_groups:write_capsys",
    "storm-ras": f"{_HERE}.storm.ras:write",
    "ibm-spl": f"{_HERE}.ibm.spl:write",
    "ibm-overlay": f"{_HERE}.ibm.spl:write_overlay",
    "kubernetes": f"{_HERE}.kubernetes:write",
    "ray": f"{_HERE}.ray.options:write",
    "gnuradio-counters": f"{_HERE}.gnuradio.pinning:write_counters",
    "dot": f"{_HERE}.formats.dot:write",
    "graphml": f"{_HERE}.formats.graphml:write",
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
        other = kind_of_text(where, document) if isinstance(document, str) else None
        if other in (None, kind):
            raise
        raise FormatError(f"{where}: is a file of the format {other}, not {kind}") from None


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
