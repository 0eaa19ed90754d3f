"""The program that counts items and CPU times, on a real GNU Radio where there is one."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from streamplace.integrations.gnuradio.helper import helper_source
from streamplace.integrations.gnuradio.profile import fit

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
