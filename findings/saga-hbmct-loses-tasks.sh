#!/bin/sh
# anrg-saga 2.1.0: HbmctScheduler returns schedules that lack tasks, on networks of three or more
# nodes, and state the makespan of the tasks that are left.
#
# When it moves a task of a group from one node to another, `schedule_groups` removes the tasks of
# the group from all nodes, and adds again only those of the two nodes. With two nodes nothing is
# lost. Nothing reports the loss, as the method returns its schedule unchecked.
#
# Ten tasks of cost 4 between a source and a sink of cost 1, on equal nodes, with messages that take
# next to no time. No schedule is shorter than 2 + 4 ceil(10 / nodes).
#
# Output seen (Python 3.13, x86-64; installing takes 690 MB):
#   2 nodes: HEFT has 12 of 12 tasks, HBMCT 12, with makespan 22.0 (no schedule is below 22)
#   3 nodes: HEFT has 12 of 12 tasks, HBMCT 9, with makespan 18.0 (no schedule is below 18)
#   4 nodes: HEFT has 12 of 12 tasks, HBMCT 8, with makespan 14.0 (no schedule is below 14)
#   5 nodes: HEFT has 12 of 12 tasks, HBMCT 6, with makespan 10.0 (no schedule is below 10)
set -eu
is_new='import sys; sys.exit(sys.version_info < (3, 12))'
for python in python3 python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9].*/bin/python3 none; do
    "$python" -c "$is_new" 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "skipped: anrg-saga 2.1.0 needs Python 3.12 or later, and there is none here" >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q anrg-saga==2.1.0
"$folder/venv/bin/python" - <<'PYTHON'
import logging
from itertools import combinations
from math import ceil

from saga import Network, TaskGraph
from saga.schedulers import HbmctScheduler, HeftScheduler

logging.disable(logging.WARNING)
MIDDLE = 10
tasks = [("source", 1.0), *((f"t{i}", 4.0) for i in range(MIDDLE)), ("sink", 1.0)]
messages = [(a, b, 1e-3) for i in range(MIDDLE) for a, b in (("source", f"t{i}"), (f"t{i}", "sink"))]
graph = TaskGraph.create(tasks, messages)
for count in (2, 3, 4, 5):
    nodes = [f"n{i}" for i in range(count)]
    links = [(a, b, 1.0) for a, b in combinations(nodes, 2)]
    network = Network.create([(node, 1.0) for node in nodes], links)
    found = {}
    for scheduler in (HeftScheduler(), HbmctScheduler()):
        made = scheduler.schedule(network, graph)
        found[type(scheduler).__name__] = sum(map(len, made.mapping.values())), made.makespan
    (whole, _), (kept, makespan) = found["HeftScheduler"], found["HbmctScheduler"]
    lowest = 2 + 4 * ceil(MIDDLE / count)
    print(f"{count} nodes: HEFT has {whole} of {len(tasks)} tasks, HBMCT {kept}, "
          f"with makespan {makespan:.1f} (no schedule is below {lowest})")
    assert whole == len(tasks), "this has changed"
    assert (kept == len(tasks)) == (count == 2), "this has changed"
PYTHON
