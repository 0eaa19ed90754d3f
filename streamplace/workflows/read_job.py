"""Jobs, workflows and neural networks from files of other programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.errors import UsageError, located
from streamplace.files.reading import name_of
from streamplace.formats.costs import Costs
from streamplace.formats.documents import read_document, read_module
from streamplace.formats.logical_builder import resized
from streamplace.formats.registry import format_named, formats
from streamplace.formats.sizes import Sizes
from streamplace.formats.typical_costs import fill
from streamplace.problem.assumptions import GuessedCosts, typical_values, without_tuples
from streamplace.problem.cluster import Cluster
from streamplace.problem.counts import FORMS, FormName, in_form
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.util.checks import check_int
from streamplace.util.suggest import valid_choices

OPEN = "place --confidence P says what they leave open, and which one to measure better"


@dataclass(frozen=True)
class ReadJob:
    """A job from a file of another program, and what was assumed or left out.

    Parameters
    ----------
    graph
        The job; numbers that nothing states are unknown.
    notes
        What was assumed, and what of the file is not in the graph, a sentence each.
    guessed
        Streams, by the names of their ends, that the file does not state.
    cluster
        The cluster in the file; None if it has none.
    assignment
        Operator -> the device on which the file says that it ran; None if it does not.
    devices_assumed
        Whether the number of devices in `cluster` is neither in the file nor set.
    """

    graph: StreamGraph
    notes: tuple[str, ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()
    cluster: Cluster | None = None
    assignment: Mapping[str, str] | None = None
    devices_assumed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return what `import --json` prints about the job."""
        return {
            "operators": len(self.graph.names),
            "streams": len(self.graph.streams),
            "guessed": [list(ends) for ends in self.guessed],
            "source_rate": self.graph.source_rate,
            "unknown": self.graph.unknown,
            "notes": list(self.notes),
        }


def read_job(
    file: str | Path,
    kind: str,
    *,
    costs: str | Path | None = None,
    form: FormName = "instances",
    device_count: int | None = None,
    inputs: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    typical_costs: bool = False,
) -> ReadJob:
    """Read a job, a workflow or a neural network from a file of another program.

    Parameters
    ----------
    file
        The file; with ``torch``, the name ``module:Class`` or ``module:function`` of code, which is
        imported.
    kind
        Name of the format, such as ``flink-plan`` or ``onnx``; `import --help` lists all.
    costs
        File of numbers by operator and stream, which replace those in `file`; TOML, or CSV if its
        name ends in .csv.
    form
        How parallel operators become operators of the graph: ``instances``, one for each instance;
        ``folded``, one with the total memory of its instances; or ``logical``, one that states its
        number of instances.
    device_count
        Number of devices, for formats whose files have a cluster of equal ones and do not state how
        many: ``dax``, ``doppler`` and ``pipedream``.
    inputs
        With neural networks: the shape of each input, such as ``1x3x224x224``.
    dims
        Dimension that the file of a neural network leaves open -> its size. Those without a name
        are named after their input and axis, such as ``x[0]``.
    seed
        With ``torch``: seed of random weights and inputs.
    typical_costs
        Whether costs that neither the file nor `costs` states become typical values, with standard
        errors; see `formats.typical_costs`.

    Raises
    ------
    UsageError
        On an unknown format or form, or an argument that is not for the format.
    FormatError
        If the file is not valid.
    GraphError
        If the job is not a stream graph.
    """
    sizes = Sizes(tuple(inputs), dict(dims or {}))
    _check(kind, form, device_count, sizes)
    found = (
        read_module(str(file), kind, inputs, seed)
        if format_named(kind).read_code is not None
        else read_document(str(file), kind, sizes)
    )
    if costs is not None:
        with located(name_of(costs)):
            found = Costs.read(costs).of(found)
    typical = []
    if typical_costs:
        with located(name_of(file)):
            whole = fill(found.graph)
        found, count = found.with_graph(*whole), GuessedCosts.of(whole.graph)
        filled = f"{typical_values(count.typical, count.costs)}, which are guesses; {OPEN}"
        typical = [filled if count.typical else "no typical value is used: the graph lacks no cost"]
    with located(name_of(file)):
        graph, left_out = in_form(found, form)
    cluster = found.cluster
    if cluster is not None and device_count is not None:
        cluster = resized(cluster, device_count)
    return ReadJob(
        graph,
        (*left_out, *found.notes, *_assumptions(found.graph), *typical),
        tuple(found.guessed),
        cluster,
        found.assignment,
        not format_named(kind).states_count and device_count is None,
    )


def _check(kind: str, form: str, device_count: int | None, sizes: Sizes) -> None:
    """Refuse arguments that are not valid, or that the format has no use for."""
    if form not in FORMS:
        raise UsageError(f"read_job: unknown form {form!r}{valid_choices(form, FORMS)}")
    found = format_named(kind)
    if sizes.dims and found.read_sized is None:
        raise UsageError(f"read_job: dims is for {_having_sizes()}, not {kind}")
    if sizes.shapes and found.read_code is None and found.read_sized is None:
        codes = [each.name for each in formats() if each.read_code is not None]
        raise UsageError(
            f"read_job: inputs is for {' or '.join(codes)} or {_having_sizes()}, not {kind}"
        )
    for name, size in sizes.dims.items():
        check_int(f"read_job: dims[{name!r}]", size, UsageError)
        if size < 1:
            raise UsageError(f"read_job: dims[{name!r}] must be at least 1 (got {size})")
    if device_count is not None:
        check_int("read_job: device_count", device_count, UsageError)
        if format_named(kind).states_count:
            known = " or ".join(each.name for each in formats() if not each.states_count)
            raise UsageError(f"read_job: device_count is for {known}, not {kind}")


def _having_sizes() -> str:
    return " or ".join(each.name for each in formats() if each.read_sized is not None)


def _assumptions(graph: StreamGraph) -> list[str]:
    """Return the assumptions of an import about facts that job files rarely state."""
    found = [without_tuples(graph)]
    shares = graph.source_share[graph.sources]
    each_whole = graph.firing == "all"  # every source emits a tuple per tuple of the job
    if not each_whole and len(shares) > 1 and shares.max() == shares.min():
        sources = listed(graph.names[v] for v in graph.sources)
        stated = "unless a costs file has [source_shares] or [source_rates]"
        found += [f"{sources} share the source rate equally, {stated}"]
    return [sentence for sentence in found if sentence]
