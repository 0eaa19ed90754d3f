"""Reader of the nodes of a Slurm cluster, less what running jobs hold."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streamplace.engines.devices import Devices
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster
from streamplace.util.text import counted

MIB = 2**20
UNSTATED_MB = 1  # RealMemory of a node whose memory slurm.conf does not state
NOT_RESPONDING = "NOT_RESPONDING"
UNUSABLE = ("DOWN", "DRAIN", "FAIL", "ERROR", "MAINT", "INVAL", "UNKNOWN", "FUTURE", NOT_RESPONDING)
"""How the states begin of nodes on which no job starts."""
NOTHING = ("", "(null)", "N/A", "n/a")
TEXT_NAMES = {
    "NodeName": "name",
    "Arch": "architecture",
    "CPUTot": "cpus",
    "CPUEfctv": "effective_cpus",
    "CPUAlloc": "alloc_cpus",
    "Sockets": "sockets",
    "CoresPerSocket": "cores",
    "RealMemory": "real_memory",
    "AllocMem": "alloc_memory",
    "MemSpecLimit": "specialized_memory",
    "ActiveFeatures": "active_features",
    "Partitions": "partitions",
    "Gres": "gres",
    "GresUsed": "gres_used",
    "AllocTRES": "tres_used",
    "State": "state",
}
"""Key of the text that scontrol prints -> its name in JSON."""
_NODE = re.compile(r"^NodeName=", re.MULTILINE)
_KEY = re.compile(r"(?:^|(?<=\s))([A-Za-z][A-Za-z_]*)=", re.MULTILINE)
_NUMBER = re.compile(r"(\d{1,15})([KMGT]?)", re.ASCII)
_SUFFIXES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _whole(value: Any) -> Any:
    """Return a number that is text, or one of the objects in which Slurm marks what is not set."""
    if isinstance(value, dict):
        return value.get("number") if value.get("set", True) else None
    if isinstance(value, str) and (found := _NUMBER.fullmatch(value)) and not found[2]:
        return int(value)
    return value


def _words(value: Any) -> Any:
    """Return the names in a text that commas separate."""
    if isinstance(value, str):
        return [] if value in NOTHING else [part for part in value.split(",") if part]
    return value


Whole = Annotated[
    Annotated[int, Field(ge=0, lt=2**53)] | None, BeforeValidator(_whole), Field(default=None)
]
Words = Annotated[list[Title] | None, BeforeValidator(_words)]


class _Node(ForeignForm):
    name: Name
    architecture: Title | None = None
    cpus: Whole
    effective_cpus: Whole
    alloc_cpus: Whole
    sockets: Whole
    cores: Whole
    real_memory: Whole
    alloc_memory: Whole
    specialized_memory: Whole
    features: Words = None
    active_features: Words = None
    partitions: Words = None
    gres: Title | None = None
    gres_used: Title | None = None
    tres_used: Title | None = None
    state: Words
    state_flags: Words = None

    @property
    def states(self) -> list[str]:
        """Its states in upper case; the text form ends in marks, of which * is not responding."""
        stated = [each.upper() for each in (*(self.state or ()), *(self.state_flags or ()))]
        found = [part.rstrip("~#!%$@^-+*") for each in stated for part in each.split("+")]
        return [*found, *(NOT_RESPONDING for each in stated if "*" in each)]


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read what ``scontrol show nodes`` prints, as JSON or as text.

    A core with two threads counts as one core, although Slurm may count it as two CPUs.

    Raises
    ------
    FormatError
        If the text is not valid, or no node is left. The message names `where`, the place in it and
        the fault.
    """
    devices, used, doubled = Devices(where, "node"), 0, 0
    for place, value in _nodes(text, where):
        node = check(_Node, value, f"{where}: {place}")
        if state := next((s for s in node.states if s.startswith(UNUSABLE)), ""):
            devices.leave_out(node.name, f"in state {state!r:.40}")
            continue
        cpus, per_core = node.effective_cpus or node.cpus, _cpus_per_core(node)
        if not cpus:
            raise FormatError(f"{where}: {place}: cpus: must be at least 1 (got {cpus})")
        used += node.alloc_cpus or 0
        doubled += per_core > 1
        _add(devices, node, (cpus - (node.alloc_cpus or 0)) / per_core, place)
    if used:
        devices.note(f"what running jobs hold is deducted: {counted(used, 'CPU')}")
    if doubled:
        devices.note(f"threads of a core count as one core, on {counted(doubled, 'node')}")
    return devices.cluster()


def _nodes(text: str, where: str) -> Iterator[tuple[str, Any]]:
    """Yield (place in the file, node) from JSON or text."""
    if text.lstrip().startswith("{"):
        value = parse(text, where)
        nodes = value.get("nodes")
        if not isinstance(nodes, list):
            raise FormatError(f"{where}: nodes: must be a list")
        yield from ((f"nodes[{i}]", each) for i, each in enumerate(nodes))
        return
    starts = [found.start() for found in _NODE.finditer(text)]
    if not starts:
        raise FormatError(f"{where}: has no node; 'scontrol show nodes' prints them")
    for i, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        _, *parts = _KEY.split(text[start:end])
        row: dict[str, str] = {}
        for key, stated in zip(parts[::2], parts[1::2], strict=True):
            if key in TEXT_NAMES and (value := stated.strip()) not in NOTHING:
                row.setdefault(TEXT_NAMES[key], value)
        yield f"node {i + 1}", row


def _cpus_per_core(node: _Node) -> float:
    cores = (node.sockets or 0) * (node.cores or 0)
    return max(1.0, (node.cpus or 0) / cores) if cores else 1.0


def _add(devices: Devices, node: _Node, cores: float, place: str) -> None:
    memory = None
    if node.real_memory is not None and node.real_memory > UNSTATED_MB:
        reserved = (node.alloc_memory or 0) + (node.specialized_memory or 0)
        memory = float(node.real_memory - reserved) * MIB
    offered, types = _gres(node.gres or "")
    taken, _ = _gres(node.gres_used or _used_in_tres(node.tres_used or ""))
    features = node.active_features if node.active_features is not None else node.features
    devices.add(
        node.name,
        cores,
        memory,
        labels=[
            *([node.architecture] if node.architecture else []),
            *(each for each in features or () if each),
            *(f"partition={each}" for each in node.partitions or ()),
            *types,
        ],
        resources={name: float(n - taken[name]) for name, n in offered.items()},
        place=f"{place}: name",
    )


def _gres(text: str) -> tuple[Counter[str], list[str]]:
    """Return resource -> number, and ``name:type`` of each, of text such as ``gpu:a100:4(S:0)``."""
    found, types = Counter[str](), list[str]()
    for part in re.sub(r"\([^()]*\)", "", text).split(","):
        name, *more = part.split(":")
        if name in NOTHING:
            continue
        number = _NUMBER.fullmatch(more[-1]) if more else None
        found[name] += int(number[1]) * _SUFFIXES[number[2]] if number else 1
        kind = ":".join(more[:-1] if number else more)
        types += [f"{name}:{kind}"] if kind else []
    return found, types


def _used_in_tres(text: str) -> str:
    """Return the generic resources in text such as ``cpu=2,gres/gpu=1,gres/gpu:a100=1``."""
    parts = (part.partition("=") for part in text.split(",") if part.startswith("gres/"))
    return ",".join(f"{k.removeprefix('gres/')}:{n}" for k, _, n in parts if ":" not in k)


FORMAT = Format(
    "slurm-nodes",
    about="Slurm: a cluster, of scontrol show nodes, as JSON or text",
    read_cluster=read,
    signs=Signs(
        text=re.compile(r"\ANodeName=\S+ +Arch="), fields=(frozenset({"nodes[].real_memory"}),)
    ),
)
