"""The program that counts items and CPU times, on a real GNU Radio where there is one."""

import json
import os
import subprocess
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


def has_gnuradio() -> bool:
    """Whether Debian's Python can import GNU Radio."""
    command = [PYTHON, "-c", "import gnuradio.gr"]
    if not Path(PYTHON).exists():
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.long
def test_a_real_flowgraph_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2 or not has_gnuradio():
        pytest.skip("needs GNU Radio and two cores")
    (tmp_path / "helper.py").write_text(helper_source())
    (tmp_path / "flow.py").write_text(FLOWGRAPH)
    command = [PYTHON, "helper.py", "counters.jsonl", "flow.py", str(cores[1])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "counters.jsonl").read_text()
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
