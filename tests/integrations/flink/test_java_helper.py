"""The Java helper with Flink's classes, which `make flink-loop` installs."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamplace.integrations.flink.helper import helper_source
from streamplace.integrations.flink.plan import read
from streamplace.integrations.flink.slot_groups import write
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
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


def test_operators_with_equal_names_are_distinguished(tmp_path: Path) -> None:
    classes = f"classes:{JARS[0]}/*"
    runs = ["java", *OPENED, "-cp", classes, "Names"]
    helper = tmp_path / "StreamplaceMapping.java"
    helper.write_text(helper_source())
    java(tmp_path, "javac", "-nowarn", "-d", "classes", "-cp", classes, str(NAMES), str(helper))
    names = read(java(tmp_path, *runs), "plan").graph.names
    (tmp_path / "mapping").write_text(write(one_operator_per_device(names)))
    rows = [line.split(",") for line in java(tmp_path, *runs, "mapping").splitlines()]
    pe = {name: f"pe{n}" for n, name in enumerate(names)}
    assert {int(number): group for number, _, group in rows} == {
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


def one_operator_per_device(names: Sequence[str]) -> Placement:
    graph = StreamGraph([Operator(name, 1, 1) for name in names], [], source_rate=1.0)
    return Placement(Problem(graph, Cluster.equal(len(names))), range(len(names)))
