"""Input and output of the testbed's Flink job; `make testbed-flink` runs Flink itself."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.testbed.flink.documents import arrived, lines
from benchmarks.testbed.scaling import Machine, scale
from streamplace import Cluster, Problem
from tests.support.graphs import preset_graph


def test_a_job_lists_operators_in_topological_order(tmp_path: Path) -> None:
    graph = preset_graph("layered", 20, 5)
    small = scale(Problem(graph, Cluster.equal(4), source_rate=1e4), Machine())
    sinks = {int(v): tmp_path / f"{v}" for v in graph.sinks}
    devices = (np.arange(20) % 4).astype(np.int32)
    known: set[str] = set()
    streams = set()
    rate = 0.0
    for line in lines(small, devices, sinks):
        kind, number, *words = line.split()
        if kind == "operator":
            known.add(number)
            rate += float(words[2])
            assert words[0] == str(devices[int(number)])
            assert (words[3] == "-") == (int(number) not in sinks)
        else:
            streams.add(number)
            assert words[0] in known
            assert words[1] not in known
            assert int(words[4]) == small.tuple_bytes[int(number)]
    assert (len(known), len(streams)) == (20, len(graph.streams))
    assert rate == pytest.approx(small.problem.source_rate)


def test_the_arrival_rate_between_two_times_is_interpolated(tmp_path: Path) -> None:
    file = tmp_path / "sink"
    assert arrived(file, 1.0, 2.0) == 0.0
    file.write_text("1000000000 10\n2000000000 30\n3000000000 40\n40000")
    assert arrived(file, 1.5, 2.5) == pytest.approx(15.0)
