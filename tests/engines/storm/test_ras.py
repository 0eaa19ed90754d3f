"""Configuration for Storm's Resource Aware Scheduler: executors, constraints and needs."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.formats.registry import format_named
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.engine_documents.storm import FLUX
from tests.support.chain_placement import chain_placement
from tests.support.cli import Capture, succeeds
from tests.support.instance_placements import (
    instance_placements,
    placement_without_streams,
    word_count_placement,
)

COSTS = """\
source_rate = 10_000
[default]
instructions = 130_000
payload_bytes = 100
selectivity = 1
"""


def exported(placement: Placement) -> dict[str, Any]:
    """Return an export as a value."""
    value: dict[str, Any] = yaml.safe_load(export_text(placement, "storm-ras"))
    return value


def components_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the spouts and bolts."""
    return [*value.get("spouts", []), *value.get("bolts", [])]


def devices_of(placement: Placement) -> dict[str, Counter[str]]:
    """Return component -> device -> number of its instances there."""
    found: dict[str, Counter[str]] = {}
    owners = placement.problem.graph.owners
    for owner, device in zip(owners, placement.assignment.values(), strict=True):
        found.setdefault(owner, Counter())[device] += 1
    return found


@given(instance_placements(whole=False))
def test_components_and_constraints(placement: Placement) -> None:
    """Every component appears once; two without a common device do not share a worker."""
    value, on = exported(placement), devices_of(placement)
    assert sorted(component["id"] for component in components_of(value)) == sorted(on)
    rules = value["config"].get("topology.ras.constraints", {})
    apart = {
        frozenset((name, other))
        for name, rule in rules.items()
        for other in rule.get("incompatibleComponents", ())
    }
    assert apart == {
        frozenset(pair) for pair in combinations(on, 2) if not on[pair[0]] & on[pair[1]]
    }
    together = {name: rule.get("maxNodeCoLocationCnt") for name, rule in rules.items()}
    for name, here in on.items():
        assert together.get(name) == (max(here.values()) if len(here) > 1 else None)
    assert value["config"]["topology.scheduler.favored.nodes"] == [*placement.pes]


@given(instance_placements(whole=False))
def test_executors(placement: Placement) -> None:
    """Without instances, as with --fold, the file keeps the numbers that the topology has."""
    found = {each["id"]: each.get("parallelism") for each in components_of(exported(placement))}
    if placement.problem.graph.instance_of:
        assert found == {name: here.total() for name, here in devices_of(placement).items()}
    else:
        assert set(found.values()) == {None}


@given(instance_placements(whole=False))
def test_components_have_only_keys_of_flux(placement: Placement) -> None:
    """Flux's SpoutDef and BoltDef refuse unknown keys, and their loads are integers."""
    for component in components_of(exported(placement)):
        assert set(component) <= {"id", "parallelism", "cpuLoad", "onHeapMemoryLoad"}
        assert all(type(x) is int for key, x in component.items() if key != "id")


def test_what_an_executor_needs() -> None:
    value = exported(word_count_placement())
    needs = {each.pop("id"): each for each in components_of(value)}
    # 1e5 x 1000 of 1e9 instructions/s; 2.5e6 bytes
    assert needs["lines"] == {"parallelism": 1, "cpuLoad": 10, "onHeapMemoryLoad": 3}
    # half the tuples each
    assert needs["count"] == {"parallelism": 2, "cpuLoad": 15, "onHeapMemoryLoad": 1}
    assert needs["sink"] == {"parallelism": 1, "cpuLoad": 1}


def on_devices(operators: list[Operator], devices: Sequence[int], cores: int = 4) -> Placement:
    """Return a chain of operators on some devices."""
    ends = pairwise(operator.name for operator in operators)
    graph = StreamGraph(operators, [Stream(*pair) for pair in ends], source_rate=1.0)
    return Placement(Problem(graph, Cluster.parse(f"2x1000x{cores}")), devices)


def test_a_worker_holds_the_heap_of_a_device() -> None:
    """Nimbus refuses a component above a worker's heap (validateTopologyWorkerMaxHeapSizeConfigs).

    The scheduler keeps the sum over the executors of a worker below it, with an acker. Storm's
    default is 768 MiB, and 128 MiB for an acker and for a component that states no memory.
    """
    key, mib = "topology.worker.max.heap.size.mb", 2**20
    operators = [
        Operator("lines", 1, 1),
        Operator("split", 1, 1, memory_bytes=1900 * mib),
        Operator("count", 1, 1, memory_bytes=400 * mib),
    ]
    assert exported(on_devices(operators, [0, 1, 0]))["config"][key] == 1900 + 128
    assert exported(on_devices(operators, [1, 1, 0]))["config"][key] == 128 + 1900 + 128
    assert exported(on_devices(operators[::2], [0, 0]))["config"][key] == 768
    executors = [Operator(f"a[{i}]", 1, 1, memory_bytes=300 * mib, instance_of="a") for i in (0, 1)]
    several = StreamGraph(executors, [], source_rate=1.0)
    both = Placement(Problem(several, Cluster.equal(1)), [0, 0])
    assert exported(both)["config"][key] == max(768, 2 * 300 + 128)


def test_supervisors_state_what_their_hosts_offer() -> None:
    """Storm takes a supervisor to offer 4 cores and 4096 MiB, whatever the host has."""
    operators = [Operator("a", 1, 1, memory_bytes=3000 * 2**20), Operator("b", 1, 1)]
    text = export_text(on_devices(operators, [0, 1], cores=8), "storm-ras")
    assert "# d0: supervisor.cpu.capacity: 800, supervisor.memory.capacity.mb: 3128 or more" in text
    assert "# d1: supervisor.cpu.capacity: 800, supervisor.memory.capacity.mb: 256 or more" in text
    assert "# Assumed: the storm.yaml of each supervisor" in text
    assert not format_named("storm-ras").assumed(on_devices(operators, [0, 1], cores=4))
    large = [Operator("a", 1, 1, memory_bytes=4000 * 2**20), Operator("b", 1, 1)]
    assert format_named("storm-ras").assumed(on_devices(large, [0, 1], cores=4))


def test_enough_states_are_searched_for_all_executors() -> None:
    """The scheduler gives up if executors are as many as states, by default 10,000.

    A topology may set up to 100,000 (resource.aware.scheduler.constraint.max.state.search).
    """

    def of(count: int) -> Placement:
        a, b = Operator("a", 1, 1), Operator("b", 1, 1)
        job = LogicalGraph(StreamGraph([a, b], [Stream("a", "b")], source_rate=1.0), {"b": count})
        return Placement(Problem(to_instances(job), Cluster.equal(1)), [0] * (count + 1))

    key = "topology.ras.constraint.max.state.search"
    assert key not in exported(of(9_997))["config"]  # with b's source and an acker: 9,999
    assert exported(of(9_998))["config"][key] == 100_000
    with pytest.raises(ProblemError, match=r"fewer than 100,000 executors, .*\(got 100,000\)"):
        export_text(of(99_998), "storm-ras")


def test_names_that_storm_reserves() -> None:
    """Nimbus refuses ids of components that begin with ``__`` (StormCommon.validateIds)."""
    with pytest.raises(ProblemError, match="'__a': Storm reserves names that begin with '__'"):
        export_text(placement_without_streams("__a"), "storm-ras")


def test_heap_survives_import(tmp_path: Path, capsys: Capture) -> None:
    topology, costs = tmp_path / "topology.yaml", tmp_path / "costs.toml"
    topology.write_text(FLUX)
    costs.write_text(COSTS + "memory_bytes = 1.5e8\n")
    graph, placed, again = (tmp_path / name for name in ("g.json", "p.json", "again.json"))
    read = ("import", topology, "--from", "storm-flux", "-o")
    succeeds(capsys, *read, graph, "--costs", costs)
    succeeds(capsys, "place", graph, "--devices", "4x25000x4", "-o", placed)
    topology.write_text(
        merged(FLUX, yaml.safe_load(succeeds(capsys, "export", placed, "--to", "storm-ras")))
    )
    succeeds(capsys, *read, again)
    memory = {each["memory_bytes"] for each in json.loads(again.read_text())["operators"]}
    assert memory == {144 * 2**20}


def test_an_operator_with_a_time_for_its_device_needs_that_time() -> None:
    graph = StreamGraph([Operator("a", 1.0, 0.0, seconds_on={"gpu": 0.5})], [], source_rate=1.0)
    placement = Placement(Problem(graph, Cluster([Device("d", 1000.0, kind="gpu")])), [0])
    assert components_of(exported(placement)) == [{"id": "a", "cpuLoad": 50}]


def test_bolt_with_unfed_instances_is_not_a_spout() -> None:
    """The grouping GLOBAL feeds only the first instance."""
    rows = [Operator("s", 1.0, 1.0), Operator("agg", 1.0, 1.0), Operator("out", 1.0, 0.0)]
    streams = [Stream("s", "agg"), Stream("agg", "out")]
    job = LogicalGraph(
        StreamGraph(rows, streams, source_rate=1.0),
        {"s": 2, "agg": 2},
        {("s", "agg"): [Distribution.FIRST]},
    )
    value = exported(Placement(Problem(to_instances(job), Cluster.equal(1)), [0] * 5))
    assert [component["id"] for component in value["spouts"]] == ["s"]
    assert [component["id"] for component in value["bolts"]] == ["agg", "out"]


def test_too_many_operators() -> None:
    with pytest.raises(ProblemError, match=r"at most 2,000 operators \(got 2,001\)"):
        export_text(placement_without_streams(*(f"op{v}" for v in range(2001))), "storm-ras")


def test_hosts_of_executors_are_lost() -> None:
    split = chain_placement(["s", "a[0]", "a[1]"], [0, 0, 1], {"a[0]": "a", "a[1]": "a"})
    (lost,) = format_named("storm-ras").lost(split)
    assert lost.startswith("Storm chooses which executors of 'a' run on which host")
    whole = chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], {"a[0]": "a", "a[1]": "a"})
    assert not format_named("storm-ras").lost(whole)


def merged(flux: str, fragment: dict[str, Any]) -> str:
    """Return a topology with a fragment merged into its components, as users do."""
    value = yaml.safe_load(flux)
    for kind in ("spouts", "bolts"):
        of = {component["id"]: component for component in fragment[kind]}
        value[kind] = [component | of.pop(component["id"]) for component in value[kind]]
        assert not of
    value["config"] |= fragment["config"]
    return yaml.safe_dump(value)


def parallelism_in(path: Path) -> dict[str, int]:
    """Return operator -> number of instances in a graph file."""
    return {each["name"]: each["parallelism"] for each in json.loads(path.read_text())["operators"]}


@pytest.mark.parametrize("rate", [9_000, 10])
def test_numbers_of_executors_survive_import_size_and_export(
    tmp_path: Path, capsys: Capture, rate: int
) -> None:
    """At a low rate, every component has one executor, and that is written, too.

    `GLOBAL` sends both streams into `log` to one task, which carries 9,615 tuples/s at most.
    """
    topology, costs = tmp_path / "topology.yaml", tmp_path / "costs.toml"
    topology.write_text(FLUX)
    costs.write_text(COSTS + "[operators.split]\ninstructions = 400_000\n")
    graph, placed, again = (tmp_path / name for name in ("g.json", "p.json", "again.json"))
    read = ("import", topology, "--from", "storm-flux", "--costs", costs, "--logical", "-o")
    succeeds(capsys, *read, graph)
    sized = ("size", graph, "--resize", "--devices", "4x2500x2", "--time-limit", "1")
    text = succeeds(capsys, *sized, "--source-rate", rate, "-o", placed, "--json")
    chosen = json.loads(text)["parallelism"]
    assert chosen != parallelism_in(graph)
    assert ({*chosen.values()} == {1}) == (rate == 10)
    fragment = succeeds(capsys, "export", placed, "--to", "storm-ras")
    topology.write_text(merged(FLUX, yaml.safe_load(fragment)))
    succeeds(capsys, *read, again)
    assert parallelism_in(again) == chosen
