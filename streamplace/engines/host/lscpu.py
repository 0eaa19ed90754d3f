"""Reader of what lscpu says of the processors of a machine."""

import re
from collections.abc import Iterator

from streamplace.engines.devices import Devices
from streamplace.errors import FormatError
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster

NAME = "host"
MOST_CPUS = 1_000_000
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?", re.ASCII)


class _Row(ForeignForm):
    field: Title
    data: Title | None = None
    children: "list[_Row] | None" = None


class _Lscpu(ForeignForm):
    lscpu: list[_Row]


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read what ``lscpu -J`` prints: one device, called host, with the cores that are online.

    Raises
    ------
    FormatError
        If the text is not valid, or states no number of CPUs. The message names `where`, the place
        in it and the fault.
    """
    rows = dict(_flat(check(_Lscpu, parse(text, where), where).lscpu))
    cpus = _online(rows.get("On-line CPU(s) list", "")) or _count(rows.get("CPU(s)"))
    if not cpus:
        raise FormatError(f"{where}: has no field 'CPU(s)'; run LC_ALL=C lscpu -J")
    threads = max(1, _count(rows.get("Thread(s) per core")))
    devices = Devices(where, "machine")
    architecture = rows.get("Architecture")
    devices.add(NAME, max(1.0, cpus / threads), labels=[architecture] if architecture else [])
    if threads > 1:
        devices.note(f"{cpus} CPUs are threads of {cpus / threads:g} cores, which count")
    return devices.cluster()


def _flat(rows: list[_Row]) -> Iterator[tuple[str, str]]:
    """Yield (field, data) of rows and those inside of them, which newer versions have."""
    for row in rows:
        yield row.field.rstrip(":"), row.data or ""
        yield from _flat(row.children or [])


def _count(text: str | None) -> int:
    """Return a number of CPUs; 0 if it is not stated."""
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else 0  # noqa: PLR2004
    return min(number, MOST_CPUS)


def _online(text: str) -> int:
    """Return how many CPUs a list such as ``0-3,6`` has; 0 if it is no such list."""
    total = 0
    for part in text.split(","):
        if (found := _RANGE.fullmatch(part.strip())) is None:
            return 0
        first, last = int(found[1]), int(found[2] or found[1])
        total += max(0, last - first + 1)
    return min(total, MOST_CPUS)


FORMAT = Format(
    "lscpu",
    about="Linux: a cluster of one machine, of lscpu -J",
    read_cluster=read,
    signs=Signs(fields=(frozenset({"lscpu[].field"}),)),
)
