#!/bin/sh
# GNU Radio 3.10.5.1 (Debian 12): set_processor_affinity on a hierarchical block pins the blocks
# that are directly inside it, and not the block of a hierarchical block inside it.
#
# The FM receiver `analog.wfm_rcv` contains a demodulator, a filter and a hierarchical block for
# de-emphasis, whose filter then runs on any core. The receiver still states that it is pinned. PyPI
# has no GNU Radio; the script needs Debian's package and two cores, and is skipped elsewhere.
#
# Output seen (Python 3.11, x86-64, two cores):
#   3 threads of wfm_rcv, pinned to core 0: 2 are on core 0, 1 on any: iir_filter_ffd
set -eu
python=/usr/bin/python3
if ! "$python" -c 'from gnuradio import analog' 2>/dev/null; then
    echo "skipped: needs Debian's package gnuradio" >&2
    exit 0
fi
if ! "$python" -c 'import os, sys; sys.exit(len(os.sched_getaffinity(0)) < 2)'; then
    echo "skipped: needs two cores" >&2
    exit 0
fi
"$python" - <<'PYTHON'
import os
import pathlib
import time

from gnuradio import analog, blocks, gr

assert gr.version() == "3.10.5.1", f"this is GNU Radio {gr.version()}"
graph = gr.top_block()
source = analog.sig_source_c(320e3, analog.GR_COS_WAVE, 1e3, 1)
throttle = blocks.throttle(gr.sizeof_gr_complex, 320e3)
receiver = analog.wfm_rcv(320e3, 10)
sink = blocks.null_sink(gr.sizeof_float)
graph.connect(source, throttle, receiver, sink)
receiver.set_processor_affinity([0])
graph.start()
time.sleep(0.5)
cores = {}
for task in pathlib.Path("/proc/self/task").iterdir():
    status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
    cores[status["Name"]] = status["Cpus_allowed_list"]
graph.stop()
graph.wait()
inside = {name: on for name, on in cores.items() if name[:3] in ("qua", "fir", "iir")}
free = [name.rstrip("0123456789") for name, on in inside.items() if on != "0"]
print(f"{len(inside)} threads of wfm_rcv, pinned to core 0: "
      f"{len(inside) - len(free)} are on core 0, {len(free)} on any: {' '.join(free)}")
assert list(receiver.processor_affinity()) == [0]
assert (len(inside), len(free)) == (3, 1) and free[0].startswith("iir"), "this has changed"
PYTHON
