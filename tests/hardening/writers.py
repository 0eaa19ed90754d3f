"""Targets of writers: what is written is read again as the same, and files are never half written.

Formats that no reader of ours has are read with the parser of their language.
"""

import errno
import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from hypothesis import assume
from hypothesis import strategies as st

from benchmarks.reference import oracle
from benchmarks.reference.strategies import cases, clusters
from streamplace import Cluster, Device, Job, Jobs, Placement, Problem, StreamGraph
from streamplace.errors import FormatError, StreamplaceError
from streamplace.files import (
    read_cluster,
    read_clusters,
    read_dataset,
    read_graph,
    read_placement,
    write_cluster,
    write_dataset,
    write_json,
    write_placement,
)
from streamplace.files.clusters import write_clusters
from streamplace.files.placements import as_csv, as_json
from streamplace.files.writing import TEMPORARY, write_text
from streamplace.formats import cepsim
from streamplace.formats.documents import export_text, read_text_as
from streamplace.jobs.files import read_jobs, write_jobs
from streamplace.learning.policy.registry import PolicySection
from streamplace.reports.data import entry
from streamplace.reports.html import report_html
from streamplace.sim.engine import Settings
from streamplace.ticks import runs as engine
from streamplace.ticks.files import trace_to
from tests.corpus.own_files import placement, tiny
from tests.hardening.target import FaultError, Target, message_of, watched
from tests.hardening.targets.consumers import offering
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    word_count_placement,
)
from tests.support.strategies import full_graphs, graphs_with_unknowns

NO_NUMBER = re.compile(r"(?<![\w.])-?(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
SPL = re.compile(r'^// (".*")\nconfig placement : (.*);$', re.MULTILINE)
ROUNDING = 1e-6


@st.composite
def named_placements(draw: st.DrawFn) -> Placement:
    """Return a placement of operators with any names on devices with any names."""
    graph = draw(full_graphs())
    names = draw(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=2, unique=True))
    two = offering(graph).devices
    renamed = [Device(n, d.mips, d.cores, labels=d.labels) for n, d in zip(names, two, strict=True)]
    try:
        problem = Problem(graph, Cluster(renamed), source_rate=None if graph.source_rate else 100.0)
    except StreamplaceError:
        assume(False)
    devices = st.lists(st.integers(0, 1), min_size=len(graph.names), max_size=len(graph.names))
    return Placement(problem, draw(devices))


def placements() -> st.SearchStrategy[Placement]:
    """Return placements of instances, of operators with any names, and of loaded devices."""
    loaded = cases(shared=True).map(lambda case: Placement(*case))
    apart, whole = instance_placements(whole=False), instance_placements(whole=True)
    return st.one_of(apart, whole, named_placements(), loaded)


def owners(placement: Placement) -> dict[str, set[str]]:
    """Return operator of the job -> the devices of its instances."""
    found: dict[str, set[str]] = {}
    pairs = zip(placement.problem.graph.owners, placement.assignment.values(), strict=True)
    for owner, device in pairs:
        found.setdefault(owner, set()).add(device)
    return found


def expect(is_right: bool, what: str) -> None:
    """Raise a fault unless something is right."""
    if not is_right:
        raise FaultError(what)


def _properties(text: str) -> dict[str, str]:
    """Return the properties that Java reads from a text."""
    found = {}
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            key, value = re.split(r"(?<!\\)(?:\\\\)*=", line, maxsplit=1)
            key = re.sub(r"\\u(\w{4})", lambda match: chr(int(match[1], 16)), key)
            key = re.sub(r"\\(.)", r"\1", key)
            found[key.encode("utf-16", "surrogatepass").decode("utf-16")] = value
    return found


def check_flink(text: str, placed: Placement) -> None:
    """Operators share a slot-sharing group if, and only if, they share their devices."""
    found = _properties(text)
    group_of = {key: value.split(",")[0] for key, value in found.items() if key[0] != "@"}
    devices = owners(placed)
    expect({*group_of} == {*devices}, "an operator is lost")
    whole = {name: next(iter(on)) for name, on in devices.items() if len(on) == 1}
    groups = {name: group_of[name] for name in whole}
    expect(pe_partition(groups) == pe_partition(whole), "groups that do not follow the devices")


def check_flink_config(text: str, placed: Placement) -> None:
    """Each device has a document, whose labels have amounts."""
    documents = [each for each in yaml.safe_load_all(text) if each]
    expect(len(documents) == len(placed.problem.cluster.devices), "a device is lost")
    for each in documents:
        for name in each["external-resources"].split(";"):
            expect(each[f"external-resource.{name}.amount"] > 0, "a label without an amount")


def check_helper(text: str, placed: Placement) -> None:
    """The class is the same for every placement."""
    expect(text == export_text(word_count_placement(), "flink-helper"), "another class")
    expect("public final class StreamplaceMapping" in text, "no class")


def check_capsys(text: str, placed: Placement) -> None:
    """Each subtask has a line with its device, and its name is in no other subtask's name."""
    rows = [line.split("; ") for line in text.splitlines()]
    expect([row[1] for row in rows] == [*placed.assignment.values()], "a subtask is lost")
    names = [row[0] for row in rows]
    expect(not any(a in b for a in names for b in names if a != b), "ambiguous names")


def check_storm(text: str, placed: Placement) -> None:
    """Each component requests, in percent of a core, what its busiest instance needs."""
    document = yaml.safe_load(text)
    rows = {row["id"]: row for kind in ("spouts", "bolts") for row in document.get(kind, ())}
    problem, devices = placed.problem, placed.devices.tolist()
    expect({*rows} == {*owners(placed)}, "a component is lost")
    rates, most = oracle.operator_rates(problem), dict[str, float]()
    for owner, operator, d in zip(
        problem.graph.owners, problem.graph.operators, devices, strict=True
    ):
        device = problem.cluster.devices[d]
        if operator.seconds_on or operator.cores > 1:
            return
        percent = rates[operator.name] * oracle.seconds_of(operator, device) * 100
        most[owner] = max(most.get(owner, 0.0), float(percent))
    for name, busiest in most.items():
        load = rows[name]["cpuLoad"]
        expect(busiest - ROUNDING * (1 + busiest) <= load, "a component requests too little")
        expect(load <= max(1, busiest * (1 + ROUNDING) + 1), "a component requests too much")
    names = document["config"].get("topology.ras.constraints") or {}
    expect({*names} <= {*rows}, "a constraint on no component")


def check_spl(text: str, placed: Placement) -> None:
    """Operators share a partition if, and only if, they share a device."""
    rules = {json.loads(name): rules.split(", ") for name, rules in SPL.findall(text)}
    devices = {name: next(iter(on)) for name, on in owners(placed).items()}
    expect([*rules] == [*devices], "an operator is lost")
    partition = pe_partition({name: some[0] for name, some in rules.items()})
    expect(partition == pe_partition(devices), "partitions that do not follow the devices")
    pools = dict(re.findall(r"^  (pe\d+) = \[(.*)\][,;]$", text, re.MULTILINE))
    for name, some in rules.items():
        expect(json.loads(pools[some[-1][5:-1]]) == devices[name], "another host")


def check_overlay(text: str, placed: Placement) -> None:
    """The number of PEs is that of the devices in use."""
    (overlay,) = json.loads(text)["jobConfigOverlays"]
    expect(overlay["deploymentConfig"]["fusionTargetPeCount"] == len(placed.pes), "a lost PE")


def check_kubernetes(text: str, placed: Placement) -> None:
    """The pods of a device hold its operators, and request its load in millicores."""
    requested: dict[str, tuple[float, int]] = {}
    operators, names = set(), list[str]()
    for each in yaml.safe_load_all(text):
        pod, replicas = each["spec"]["template"], each["spec"]["replicas"]
        (container,), notes = pod["spec"]["containers"], pod["metadata"]["annotations"]
        operators |= {*json.loads(notes["streamplace/operators"])}
        device = notes["streamplace/device"]
        total, count = requested.get(device, (0.0, 0))
        millicores = int(container["resources"]["requests"]["cpu"].removesuffix("m"))
        requested[device] = (total + replicas * millicores, count + replicas)
        names.append(each["metadata"]["name"])
    problem, graph = placed.problem, placed.problem.graph
    instances = {graph.names[v]: owner for v, owner in graph.instance_of.items()}
    found = {instances.get(name, name) for name in operators}
    expect(found == {*graph.owners}, "an operator is lost")
    expect(len({*names}) == len(names), "two Deployments of one name")
    used, _ = oracle.utilisations(problem, placed.devices.tolist())
    cores = {device.name: device.cores for device in problem.cluster.devices}
    for name in placed.pes:
        (total, count), least = requested[name], 1000 * float(used[name]) * cores[name]
        expect(total >= least * (1 - ROUNDING) - ROUNDING, "pods that request too little")
        expect(total <= (least + 1) * count * (1 + ROUNDING), "pods that request too much")


def check_ray(text: str, placed: Placement) -> None:
    """Each actor takes the resource of its device, which the device's node offers."""
    found = json.loads(text)
    offers = {name: f"--resources={json.dumps({name: 1})}" for name in placed.pes}
    starts = {name: shlex.split(command) for name, command in found["nodes"].items()}
    expected = {name: ["ray", "start", offer] for name, offer in offers.items()}
    expect(starts == expected, "a resource is lost")
    rows = [each for row in found["actors"].values() for each in row]
    actors = {each["name"]: [*each["resources"]] for each in rows}
    expect(
        actors == {name: [device] for name, device in placed.assignment.items()}, "an actor is lost"
    )


def check_again(kind: str, text: str, placed: Placement) -> None:
    """Our reader of the format returns the same graph, and each operator has its device."""
    again = read_text_as(text, "written", kind).graph
    expect(again == placed.problem.graph, "another graph is read")
    expect(text.count("device") >= len(placed.devices), "a device is lost")


EXPORTS: dict[str, Callable[[str, Placement], None]] = {
    "flink": check_flink,
    "flink-config": check_flink_config,
    "flink-helper": check_helper,
    "capsys": check_capsys,
    "storm-ras": check_storm,
    "ibm-spl": check_spl,
    "ibm-overlay": check_overlay,
    "kubernetes": check_kubernetes,
    "ray": check_ray,
    "dot": partial(check_again, "dot"),
    "graphml": partial(check_again, "graphml"),
}
"""Format of `export` -> the check of a text in it."""


def check_export(kind: str, placed: Placement) -> None:
    """Write a placement and check the text; the format may be unable to express it."""
    with watched():
        try:
            text = export_text(placed, kind)
        except StreamplaceError as error:
            if placed is SEED:
                raise FaultError(f"a placement is refused: {message_of(error)}") from error
            message_of(error)
            return
    if NO_NUMBER.search(text) and not any(map(NO_NUMBER.search, _all_names(placed))):
        raise FaultError("a number that is none")
    try:
        EXPORTS[kind](text, placed)
    except (ValueError, KeyError, IndexError, TypeError, StreamplaceError, yaml.YAMLError) as error:
        raise FaultError(f"cannot be read again: {type(error).__name__}: {error}") from error


def _all_names(placed: Placement) -> Iterable[str]:
    graph = placed.problem.graph
    return (graph.name, *graph.names, *graph.owners, *placed.problem.cluster.names)


@dataclass(frozen=True)
class FileWriter:
    """A writer of one of our own files.

    Parameters
    ----------
    name
        The name of the file.
    values
        Returns a strategy of what is written.
    write, read
        Write a value to a path, and return what the file there holds, in a form that can be
        compared with what `shown` returns for the value.
    """

    name: str
    values: Callable[[], st.SearchStrategy[Any]]
    write: Callable[[Path, Any], object]
    read: Callable[[Path, Any], Any]
    shown: Callable[[Any], Any] = lambda value: value
    is_slow: bool = False


def check_file(writer: FileWriter, value: Any) -> None:
    """Write a file twice, the second time on a disk that fails; the old file must stay."""
    with tempfile.TemporaryDirectory(prefix="streamplace-write-") as folder:
        path, kept = Path(folder, writer.name), Path(folder, "kept")
        try:
            with watched(effects=False):
                writer.write(path, value)
        except StreamplaceError as error:
            message_of(error)
            expect(os.listdir(folder) == [], "a file is left although it is refused")
            return
        try:
            again = writer.read(path, value)
        except StreamplaceError as error:
            raise FaultError(f"cannot be read again: {message_of(error)}") from error
        expect(again == writer.shown(value), "another value is read")
        written = path.read_bytes()
        os.link(path, kept)
        kept_as = kept.stat().st_ino
        writer.write(path, value)
        expect(path.stat().st_ino != kept_as, "the file is written in place")
        expect(path.read_bytes() == written, "other bytes the second time")
        with patch("os.fsync", side_effect=OSError(errno.ENOSPC, "no space")):
            try:
                writer.write(path, value)
                raise FaultError("a failing disk is not reported")
            except FormatError as error:
                expect(str(path) in message_of(error), "the message does not name the file")
        expect(path.read_bytes() == written, "the old file is lost")
        expect({*os.listdir(folder)} == {writer.name, "kept"}, f"{TEMPORARY} is left")


def _facts(graph: StreamGraph) -> tuple[Any, ...]:
    """Return what a file keeps of a graph; a graph without a name gets that of its file."""
    return graph.sha256, graph.source_rate, graph.constraints


def _graphs() -> st.SearchStrategy[StreamGraph]:
    return full_graphs() | graphs_with_unknowns()


def _graph_writer(name: str) -> FileWriter:
    return FileWriter(
        name,
        _graphs,
        lambda path, graph: write_dataset(path, [graph]),
        lambda path, _: _facts(read_graph(path)),
        _facts,
    )


def _list_writer(name: str) -> FileWriter:
    return FileWriter(
        name,
        lambda: st.lists(_graphs(), min_size=1, max_size=3),
        write_dataset,
        lambda path, _: [*map(_facts, read_dataset(path))],
        lambda graphs: [*map(_facts, graphs)],
    )


def _write_beside_its_graph(path: Path, placed: Placement) -> None:
    """Write a placement with the path of its graph, which is written into another folder."""
    file = Path(_graphs_folder().name, "graph.npz")
    with patch("os.fsync"):
        write_dataset(file, [placed.problem.graph])
    placed.problem.graph.file = str(file)
    with patch("streamplace.files.placements.EMBEDDED", 0):
        write_placement(path, placed)


@cache
def _graphs_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="streamplace-graphs-")


def _whole(path: Path, _: Placement) -> Any:
    found = read_placement(path)
    return found.assignment, found.problem.graph, found.problem.cluster


def _placement_writer(
    name: str,
    text_of: Callable[[Placement], str] = as_json,
    write: Callable[[Path, Placement], None] | None = None,
) -> FileWriter:
    def read(path: Path, placed: Placement) -> Any:
        problem = placed.problem
        found = read_placement(
            path, graph=problem.graph, cluster=problem.cluster, source_rate=problem.source_rate
        )
        return found.assignment, problem.graph, problem.cluster

    return FileWriter(
        name,
        placements,
        write or (lambda path, placed: write_text(path, text_of(placed))),
        _whole if text_of is as_json else read,
        lambda placed: (placed.assignment, placed.problem.graph, placed.problem.cluster),
    )


@st.composite
def _jobs(draw: st.DrawFn) -> Jobs:
    names = draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=2, unique=True))
    numbers = st.sampled_from([1.0, 0.1 + 0.2, 1e9])
    jobs = []
    for name in names:
        graph = draw(full_graphs())
        if graph.source_rate is None:
            graph = draw(st.just(placement().problem.graph))
        try:
            jobs.append(Job(name, graph, priority=draw(numbers), weight=draw(numbers)))
        except StreamplaceError:
            assume(False)
    try:
        return Jobs(jobs)
    except StreamplaceError:
        assume(False)
    raise AssertionError("unreachable")


def _rows(jobs: Jobs) -> list[tuple[Any, ...]]:
    return [(job.name, _facts(job.graph), job.offered, job.priority, job.weight) for job in jobs]


def _page(placed: Placement) -> str:
    return report_html([entry("</script><script>", placed)])


def _scripts(path: Path, placed: Placement) -> tuple[int, int]:
    text = path.read_text()
    return text.count("<script"), text.count("</script")


def _write_trace(path: Path, placed: Placement) -> None:
    write_json(path, trace_to(*engine.worst_run(placed, Settings(duration_s=2.0), None, 1.0)))


def _read_trace(path: Path, placed: Placement) -> dict[str, str]:
    found = json.loads(path.read_text(), parse_constant=_refuse)
    return {row["name"]: row["device"] for row in found["operators"]}


def _refuse(text: str) -> None:
    raise FaultError(f"a number that is none: {text}")


@st.composite
def _policies(draw: st.DrawFn) -> tuple[PolicySection, int]:
    return tiny(), draw(st.integers(0, 100))


def _write_policy(path: Path, case: tuple[PolicySection, int]) -> None:
    from streamplace.files.writing import atomic  # noqa: PLC0415
    from streamplace.learning.policy.weights import new_policy, pack_policy  # noqa: PLC0415 - torch is heavy

    with atomic(path) as file:
        file.write(pack_policy(new_policy(*case), case[0], {"seed": case[1]}))


def _read_policy(path: Path, case: tuple[PolicySection, int]) -> tuple[str, Any]:
    from streamplace.learning.policy.weights import parameter_hash, read_policy  # noqa: PLC0415

    policy, card = read_policy(path)
    return parameter_hash(policy), card["seed"]


def _shown_policy(case: tuple[PolicySection, int]) -> tuple[str, Any]:
    from streamplace.learning.policy.weights import new_policy, parameter_hash  # noqa: PLC0415

    return parameter_hash(new_policy(*case)), case[1]


SCRIPTS: int = _page(placement()).count("</script")
FILES = {
    "graph": _graph_writer("written.json"),
    "columns": _graph_writer("written.npz"),
    "dataset": _list_writer("written.jsonl"),
    "compressed dataset": _list_writer("written.jsonl.gz"),
    "cluster": FileWriter("c.json", clusters, write_cluster, lambda path, _: read_cluster(path)),
    "clusters": FileWriter(
        "written.jsonl",
        lambda: st.lists(clusters(), min_size=1, max_size=3),
        write_clusters,
        lambda path, _: read_clusters(path),
    ),
    "placement": _placement_writer("written.json"),
    "placement-columns": _placement_writer("written.npz", write=write_placement),
    "placement-beside": _placement_writer("written.json", write=_write_beside_its_graph),
    "csv": _placement_writer("written.csv", as_csv),
    "cepsim": _placement_writer("written.json", cepsim.write),
    "jobs": FileWriter(
        "written.json", _jobs, write_jobs, lambda path, _: _rows(read_jobs(path)), _rows
    ),
    "report": FileWriter(
        "written.html",
        lambda: cases().map(lambda case: Placement(*case)) | named_placements(),
        lambda path, placed: write_text(path, _page(placed)),
        _scripts,
        lambda placed: (SCRIPTS, SCRIPTS),
    ),
    "trace": FileWriter(
        "written.json",
        lambda: cases().map(lambda case: Placement(*case)),
        _write_trace,
        _read_trace,
        lambda placed: placed.assignment,
    ),
    "weights": FileWriter(
        "w.safetensors", _policies, _write_policy, _read_policy, _shown_policy, is_slow=True
    ),
}
"""Our own files -> their writers."""

SEED = word_count_placement()
"""A placement that every format can express."""
TARGETS = {
    **{
        f"export {k}": Target(placements, partial(check_export, k), lambda: [SEED]) for k in EXPORTS
    },
    **{
        f"file {name}": Target(writer.values, partial(check_file, writer), is_slow=writer.is_slow)
        for name, writer in FILES.items()
    },
}
"""Name of a writer -> its target."""
