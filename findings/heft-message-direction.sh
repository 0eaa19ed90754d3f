#!/bin/sh
# heft 0.1.1 (PyPI): the start of a task is computed from the cost of its messages in the opposite
# direction, and a gap between two tasks is never used, though filling gaps is part of HEFT.
#
# `start_time` calls commcost(sender, receiver, agent of the RECEIVER, agent of the SENDER), while
# `cbar` averages over both. With a slow uplink and a fast downlink it pays the downlink for what
# goes up. And a task is always appended after the last one of an agent.
#
# The package is written for Python 2; its folder on the path is all that Python 3 needs.
#
# Output seen (Python 3.11):
#   message a -> b, agents 0 -> 1 cost 1, 1 -> 0 cost 100: asked for 1 -> 0, so b starts at 101
#   agent busy 0-2 and 6-8, task of 2 ready at 2: starts at 8 instead of 2
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q heft==0.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import importlib.util
import pathlib
import sys

found = importlib.util.find_spec("heft")
sys.path.insert(0, str(pathlib.Path(found.origin).parent))
from core import Event, start_time

asked = []


def cost(sender, receiver, sends, receives):
    asked.append((sends, receives))
    return {(0, 1): 1, (1, 0): 100, (0, 0): 0, (1, 1): 0}[sends, receives]


state = {0: [Event("a", 0, 1)], 1: []}
start = start_time("b", state, {"a": 0}, {"b": ("a",)}, cost, 1)
(pair,) = asked
print(f"message a -> b, agents 0 -> 1 cost 1, 1 -> 0 cost 100: asked for {pair[0]} -> {pair[1]}, "
      f"so b starts at {start}")
assert (pair, start) == ((1, 0), 101), "this has changed"

state = {0: [Event("a", 0, 2), Event("b", 6, 8)]}
start = start_time("c", state, {"a": 0, "b": 0}, {"c": ("a",)}, lambda *_: 0, 0)
print(f"agent busy 0-2 and 6-8, task of 2 ready at 2: starts at {start} instead of 2")
assert start == 8, "this has changed"
PYTHON
