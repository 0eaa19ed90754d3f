"""The writer of affinities."""

import json
import os
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.hardening.corpus.engine_documents.gnuradio import GRC
from streamplace.errors import FormatError, ProblemError
from streamplace.integrations.gnuradio.grc import cores_of, helper_source, write
from streamplace.integrations.gnuradio.profile import fit
from streamplace.integrations.yaml import parse_yaml
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


def placement(names: list[str], devices: list[str]) -> Placement:
    graph = StreamGraph(
        [Operator(name, 1.0, 8.0) for name in names],
        [Stream(a, b) for a, b in pairwise(names)],
        source_rate=1.0,
    )
    cluster = Cluster([Device(name, 1.0) for name in dict.fromkeys(devices)])
    return Placement.of(Problem(graph, cluster), dict(zip(names, devices, strict=True)))


def test_only_affinities_of_placed_blocks_change() -> None:
    placed = placement(["recorded", "filter"], ["core3", "core0-1"])
    before, after = parse_yaml(GRC, "before"), parse_yaml(write(placed, GRC, "flow.grc"), "after")
    cores = {
        each["name"]: each["parameters"].get("affinity")
        for each in after["blocks"]
        if "parameters" in each
    }
    assert cores["recorded"] == "[3]"
    assert cores["filter"] == "[0, 1]"
    assert cores["paced"] == "1"
    for each in (*before["blocks"], *after["blocks"]):
        if each["name"] in ("recorded", "filter"):
            del each["parameters"]["affinity"]
    assert after == before


@pytest.mark.parametrize("name", ["d0", "core", "core-1", "core01", "core3-1", "core1,2", "core٣"])
def test_names_of_devices_that_do_not_say_a_core(name: str) -> None:
    with pytest.raises(ProblemError, match="name each device after its core, as in core0"):
        cores_of(name)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"has no blocks that run named 'nobody'"):
        write(placement(["nobody"], ["core0"]), GRC, "flow.grc")
    with pytest.raises(ProblemError, match=r"named 'unused'"):
        write(placement(["unused"], ["core0"]), GRC, "flow.grc")
    with pytest.raises(FormatError, match=r"flow.grc: nested too deeply"):
        write(placement(["filter"], ["core0"]), "- " * 2000, "flow.grc")
    with pytest.raises(FormatError, match=r"flow.grc: is not a flowgraph"):
        write(placement(["filter"], ["core0"]), "x: 1", "flow.grc")


def test_a_core_of_two_devices_is_refused() -> None:
    placed = placement(["recorded", "filter"], ["core0", "core0-1"])
    with pytest.raises(ProblemError, match="'core0' and 'core0-1' both have core 0"):
        write(placed, GRC, "flow.grc")


PYTHON = "/usr/bin/python3"  # Debian's, which has GNU Radio if any has
FLOWGRAPH = """\
import json, os, sys, time
import pmt
from gnuradio import analog, blocks, gr

top = gr.top_block("top")
top.source = blocks.null_source(gr.sizeof_gr_complex)
top.paced = blocks.throttle(gr.sizeof_gr_complex, 1e5)
top.pinned = blocks.copy(gr.sizeof_gr_complex)
top.receiver = analog.wfm_rcv(quad_rate=1e5, audio_decimation=2)
top.deemphasis = analog.fm_deemph(5e4)
top.sink = blocks.null_sink(gr.sizeof_float)
top.ticks = blocks.message_strobe(pmt.intern("tick"), 100)
top.printed = blocks.message_debug()
top.connect(top.source, top.paced, (top.pinned, 0), top.receiver, top.deemphasis, top.sink)
top.msg_connect(top.ticks, "strobe", top.printed, "store")
top.pinned.set_processor_affinity([int(sys.argv[1])])
top.start()
time.sleep(6)
masks = {task: sorted(os.sched_getaffinity(int(task))) for task in os.listdir("/proc/self/task")}
print(json.dumps(masks))
top.stop()
top.wait()
"""


SMALL = """\
import time
from gnuradio import blocks, gr

top = gr.top_block("top")
top.source = blocks.null_source(8)
top.head = blocks.head(8, LENGTH)
top.sink = blocks.null_sink(8)
top.connect(top.source, top.head, top.sink)
"""
ENDLESS = SMALL.replace("LENGTH", str(2**60))
EARLY = SMALL.replace("LENGTH", "1000") + "top.run()\ntime.sleep(0.5)\n"
START = "top.start()\ntime.sleep(1.5)\n"
STOP = "top.stop()\ntop.wait()\n"
Counted = Callable[..., tuple[subprocess.CompletedProcess[str], str]]


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """Return a function that runs a program with counters, and returns what it wrote of them."""
    command = [PYTHON, "-c", "import gnuradio.gr"]
    if len(os.sched_getaffinity(0)) < 2 or not Path(PYTHON).exists():
        pytest.skip("needs two cores and Debian's Python")
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs GNU Radio")

    def run(
        program: str, *arguments: str, file: str = "counters.jsonl"
    ) -> tuple[subprocess.CompletedProcess[str], str]:
        (tmp_path / "helper.py").write_text(helper_source())
        (tmp_path / "flow.py").write_text(program)
        command = [PYTHON, "helper.py", file, "flow.py", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        written = tmp_path / file
        return done, written.read_text() if written.is_file() else ""

    return run


@pytest.mark.long
def test_a_flowgraph_that_ends_early_has_no_counters(counted: Counted) -> None:
    done, text = counted(EARLY)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "streamplace_counters.py: counters end, since a thread of the flowgraph has ended"
    ]
    assert "at_s" not in text


@pytest.mark.long
def test_a_program_that_fails_keeps_its_counters(counted: Counted) -> None:
    done, text = counted(ENDLESS + START + "raise ValueError('of the program')\n")
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: of the program\n")
    assert done.stderr.count("Traceback") == 1
    assert fit(text, "counters.jsonl", 1000.0).intervals == 1


@pytest.mark.long
def test_only_the_first_start_is_counted(counted: Counted) -> None:
    done, text = counted(ENDLESS + 2 * (START + STOP))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0].endswith("starts after the first one, and is not counted")
    assert fit(text, "counters.jsonl", 1000.0).intervals == 1
    assert len(text.splitlines()) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "code", "fault"),
    [
        (
            "missing/counters.jsonl",
            1,
            "streamplace_counters.py: [Errno 2] No such file",
        ),
        ("/dev/full", 0, "streamplace_counters.py: counters end: [Errno 28] No space left"),
    ],
)
def test_counters_that_cannot_be_written(
    counted: Counted, file: str, code: int, fault: str
) -> None:
    """A folder that is missing ends the program before it starts, and a full disk the counters."""
    done, _ = counted(ENDLESS + START + STOP + "print('whole')\n", file=file)
    assert done.returncode == code
    assert ("whole" in done.stdout) == (code == 0)
    assert fault in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_a_real_flowgraph_is_measured_and_left_as_it_was(counted: Counted) -> None:
    cores = sorted(os.sched_getaffinity(0))
    done, text = counted(FLOWGRAPH, str(cores[1]))
    assert done.returncode == 0, done.stderr
    masks, threads = json.loads(done.stdout), json.loads(text.splitlines()[0])["threads"]
    counts = {name: len(ids) for name, ids in threads.items()}
    assert counts.pop("receiver") == 3  # one of them in a hierarchical block of its own
    assert set(counts) == {"source", "paced", "pinned", "deemphasis", "sink", "ticks", "printed"}
    assert set(counts.values()) == {1}
    assert len({number for ids in threads.values() for number in ids}) == 10
    for name, ids in threads.items():
        expected = [cores[1]] if name == "pinned" else cores
        assert all(masks[str(number)] == expected for number in ids), name
    graph = fit(text, "counters.jsonl", 1000.0).logical.graph
    ratios = {(each.source, each.target): each.selectivity for each in graph.streams}
    assert ratios["receiver", "deemphasis"] == pytest.approx(0.5, rel=0.1)
    assert ratios["paced", "pinned"] == pytest.approx(1.0, rel=0.1)
    assert (graph.instructions > 0.0).all()
