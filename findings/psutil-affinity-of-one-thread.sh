#!/bin/sh
# psutil 7.2.2, Linux: Process(pid).cpu_affinity(cores) pins the main thread of a process, and no
# thread that it has already started. Afterwards the process states the new cores.
#
# Linux keeps an affinity for each thread, and the number of a process names its main thread. The
# workers of a running JVM or of a thread pool therefore stay on all cores, while a measurement
# "pinned to one core" reads back as pinned. Threads started later by the main thread are pinned.
# Each thread of Process.threads() has an id that psutil.Process takes, too.
#
# Output seen (Python 3.11, two cores):
#   cpu_affinity() of the process: one core
#   main thread: one core
#   worker started before: all cores
#   worker started after: one core
#   worker started before, pinned by its own id: one core
set -eu
if [ "$(uname -s)" != Linux ] || [ "$(nproc)" -lt 2 ]; then
    echo "skipped: this is about Linux with two cores or more" >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q psutil==7.2.2
"$folder/venv/bin/python" - <<'PYTHON'
import os
import threading

import psutil

process = psutil.Process()
cores = process.cpu_affinity()
finish = threading.Event()


def worker():
    """Return a thread that waits, and its id."""
    thread = threading.Thread(target=finish.wait)
    thread.start()
    return thread.native_id


def words(found):
    """Return how many of the cores a thread may use, in words."""
    return {1: "one core", len(cores): "all cores"}[len(found)]


before = worker()
process.cpu_affinity(cores[:1])
after = worker()
seen = {
    "cpu_affinity() of the process": words(process.cpu_affinity()),
    "main thread": words(os.sched_getaffinity(process.pid)),
    "worker started before": words(os.sched_getaffinity(before)),
    "worker started after": words(os.sched_getaffinity(after)),
}
psutil.Process(before).cpu_affinity(cores[:1])
seen["worker started before, pinned by its own id"] = words(os.sched_getaffinity(before))
finish.set()
for what, found in seen.items():
    print(f"{what}: {found}")
expected = ["one core", "one core", "all cores", "one core", "one core"]
assert [*seen.values()] == expected, "this has changed"
PYTHON
