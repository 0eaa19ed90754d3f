"""The Java helper with Flink's classes, which `make flink-loop` installs."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamplace.engines.flink.plan import read
from streamplace.engines.flink.slot_groups import helper_source, write
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.chain_placement import chain_placement
from tests.support.paths import ROOT

JARS = sorted((ROOT / ".venv-flink").glob("lib/python3*/site-packages/pyflink/lib"))
NAMES = Path(__file__).with_name("Names.java")
OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("util", "lang")]

pytestmark = pytest.mark.skipif(
    not JARS or not shutil.which("javac"),
    reason="needs Flink in .venv-flink (make flink-loop) and javac",
)


def java(folder: Path, *arguments: str) -> str:
    """Run a program with Flink's classes and return its stdout."""
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Compile `Names`; return its folder and the command that runs it."""
    folder = tmp_path_factory.mktemp("names")
    classes = f"classes:{JARS[0]}/*"
    helper = folder / "StreamplaceMapping.java"
    helper.write_text(helper_source())
    java(folder, "javac", "-nowarn", "-d", "classes", "-cp", classes, str(NAMES), str(helper))
    return folder, ["java", *OPENED, "-cp", classes, "Names"]


def test_operators_with_equal_names_are_distinguished(runs: tuple[Path, list[str]]) -> None:
    folder, command = runs
    names = read(java(folder, *command), "plan").graph.names
    (folder / "mapping").write_text(write(one_operator_per_device(names)))
    rows = [line.split(",") for line in java(folder, *command, "mapping").splitlines()]
    pe = {name: f"pe{n}" for n, name in enumerate(names)}
    assert {int(number): group for number, group, _, _ in rows} == {
        1: pe["Source: events"],
        2: pe["Sink: Print to Std. Out"],
        3: "",  # the rebalancing
        4: pe["Partition"],
        5: pe["events: Writer"],
        6: pe["events"],
        7: pe["Map"],
        8: pe["Sink: Print to Std. Out#2"],
        9: pe["Map#2"],
        10: pe["Sink: Print to Std. Out#3"],
    }


def test_labels_and_parallelism_are_set(runs: tuple[Path, list[str]]) -> None:
    folder, command = runs
    names = read(java(folder, *command), "plan").graph.names
    instances = {f"{name}[{i}]": name for name in names for i in range(2)}
    on = [i if owner == "Map" else 0 for owner in names for i in range(2)]
    placement = chain_placement(list(instances), on, instances, Cluster.parse("1x2000,1x1000"))
    (folder / "labels").write_text(write(placement))
    rows = [line.split(",") for line in java(folder, *command, "labels").splitlines()]
    found = {int(number): (group, label, n) for number, group, label, n in rows}
    assert found.pop(3)[0] == ""  # the rebalancing
    amounts = "parts_0_d0=10000000000;parts_0_d1=10000000000"
    assert found.pop(7) == ("split0", amounts, "2")
    assert set(found.values()) == {("pe0", "dev_d0=1", "2")}


def test_with_labels_every_operator_needs_a_group(runs: tuple[Path, list[str]]) -> None:
    folder, command = runs
    unequal = Cluster.parse("1x2000,1x1000")
    (folder / "few").write_text(
        write(chain_placement(["Source: events", "Map"], [0, 1], {}, unequal))
    )
    done = subprocess.run(
        [*command, "few"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode != 0
    assert "with labels, every operator needs a group, but [" in done.stderr


def test_a_forward_stream_of_a_graph_feeds_all_instances_evenly(
    runs: tuple[Path, list[str]],
) -> None:
    """On Flink 2.3.0, 2 sources left 1 of 3 targets idle, 2 of 4, and 6 of 9 with 3 sources."""
    folder, command = runs
    names = read(java(folder, *command), "plan").graph.names
    for sources, targets, is_even in (
        (1, 1, True),
        (1, 3, True),
        (2, 1, True),
        (2, 6, True),
        (2, 3, False),
        (2, 4, False),
        (3, 2, False),
        (3, 9, False),
    ):
        counts = {"Partition": sources, "events: Writer": targets}
        instances = {f"{n}[{i}]": n for n in names for i in range(counts.get(n, 1))}
        fault = "" if is_even else f"Partition has {sources}, events: Writer {targets}; set equal"
        placed = chain_placement(list(instances), [0] * len(instances), instances)
        (folder / "graph").write_text(write(placed))
        done = subprocess.run(
            [*command, "graph", "graph"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == bool(fault), done.stderr
        assert fault in done.stderr


def one_operator_per_device(names: Sequence[str]) -> Placement:
    graph = StreamGraph([Operator(name, 1, 1) for name in names], [], source_rate=1.0)
    return Placement(Problem(graph, Cluster.equal(len(names))), range(len(names)))
