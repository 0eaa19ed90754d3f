#!/bin/sh
# streamz 0.6.6: an operator whose result no variable keeps is not run. Nothing is reported.
#
# A stream knows the streams behind it by weak references, so that `source.map(f)` alone is gone
# before the first event; only sinks are kept by the library. `accumulate` with a state that
# matters, or a `map` with an effect, at the end of a pipeline does nothing unless it is assigned to
# a name.
#
# Output seen (Python 3.11):
#   3 events; calls of f by source.map(f): 0
#   3 events; calls of f by kept = source.map(f): 3
#   3 events; calls of f by source.map(f).sink(ignore): 3
#   3 events; calls of f by source.accumulate(f, start=0): 0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q streamz==0.6.6
"$folder/venv/bin/python" - <<'PYTHON'
from streamz import Stream

EVENTS = 3
calls = 0


def f(*values: int) -> int:
    global calls
    calls += 1
    return values[-1]


def ignore(value: int) -> None:
    pass


for text, expected in (
    ("source.map(f)", 0),
    ("kept = source.map(f)", EVENTS),
    ("source.map(f).sink(ignore)", EVENTS),
    ("source.accumulate(f, start=0)", 0),
):
    source, calls = Stream(), 0
    exec(text)
    for event in range(EVENTS):
        source.emit(event)
    print(f"{EVENTS} events; calls of f by {text}: {calls}")
    assert calls == expected, "this has changed"
PYTHON
