"""Documents of other programs: files and code as graphs, placements as texts."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from streamplace.errors import FormatError, UsageError, located
from streamplace.files.foreign import what_is
from streamplace.files.reading import decode, name_of, read_bytes, refuse_empty
from streamplace.formats.format import Format
from streamplace.formats.logical_builder import resized
from streamplace.formats.recognition import kind_of_document
from streamplace.formats.registry import FORMATS, format_named
from streamplace.formats.sizes import NO_SIZES, Sizes
from streamplace.problem.cluster import Cluster
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

Found = TypeVar("Found")


def read_document(path: str, kind: str, sizes: Sizes = NO_SIZES) -> LogicalGraph:
    """Read a file of another program; ``-`` is stdin.

    Parameters
    ----------
    sizes
        Sizes of tensors that the file leaves open, for formats that read them.

    Raises
    ------
    UsageError
        If there is no reader for that format, a package that it needs is not installed, or the
        sizes do not fit the file.
    FormatError
        If the file is not valid. The message names the file, the place in it and the fault.
    """
    found = format_named(kind)
    where, data = name_of(path), read_bytes(path)
    refuse_empty(data, where)
    read: Callable[[], LogicalGraph]
    if sizes and found.read_sized is not None:
        content = data if found.read_bytes is not None else decode(data, where)
        read = partial(found.read_sized, content, where, sizes)
    elif found.read_bytes is not None:
        read = partial(found.read_bytes, data, where)
    else:
        read = partial(_text_reader(found), decode(data, where), where)
    return _read_as(kind, read, path, data)


def read_cluster_document(path: str, kind: str) -> tuple[Cluster, list[str]]:
    """Read the cluster that a file of another program describes; ``-`` is stdin.

    Returns the cluster and what was assumed or left out; see `Format.read_cluster`.

    Raises
    ------
    UsageError
        If files of that format describe no cluster.
    FormatError
        If the file is not valid. The message names the file, the place in it and the fault.
    """
    reader = format_named(kind).read_cluster
    if reader is None:
        raise UsageError(f"format {kind!r} describes no cluster")
    where, data = name_of(path), read_bytes(path)
    refuse_empty(data, where)
    return _read_as(kind, partial(reader, decode(data, where), where), path, data)


def _read_as(kind: str, read: Callable[[], Found], path: str, data: bytes) -> Found:
    """Return what `read` does; if it fails, say of which other format the file is."""
    where = name_of(path)
    try:
        return _read(read, where)
    except FormatError:
        other = kind_of_file(path, data)
        if other is None or _form_of(other) == _form_of(kind):
            raise
        also = "" if other not in FORMATS else f", not {kind}"
        raise FormatError(f"{where}: {what_is(other)}{also}") from None


def _form_of(kind: str) -> str:
    """Return what formats have in common whose files look alike: the module that declares them."""
    return FORMATS.get(kind, kind).partition(":")[0]


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
    return _read(partial(_text_reader(format_named(kind)), text, where), where)


def _text_reader(found: Format) -> Callable[[str, str], LogicalGraph]:
    if found.read_cluster is not None:
        raise UsageError(f"format {found.name!r} describes a cluster, not a job")
    if found.read is None:
        others = [name for name in FORMATS if name.startswith(f"{found.name}-")]
        readers = [repr(name) for name in others if format_named(name).read is not None]
        meant = f"; did you mean {' or '.join(readers)}?" if readers else ""
        raise UsageError(f"format {found.name!r} has no reader of texts{meant}")
    return found.read


def _read(read: Callable[[], Found], where: str) -> Found:
    try:
        with located(where, FormatError):
            return read()
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None


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
    found = format_named(kind)
    if found.read_code is None:
        raise UsageError(f"format {kind!r} has no reader of code")
    return found.read_code(name, inputs, seed)


def export_text(placement: Placement, kind: str) -> str:
    """Return a placement as text in the format `kind`, with what is lost as comments.

    Raises
    ------
    UsageError
        If there is no writer for that format.
    ProblemError
        If the format cannot express the placement.
    """
    return format_named(kind).text_of(placement)
