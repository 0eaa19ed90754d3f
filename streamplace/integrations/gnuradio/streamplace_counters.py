"""Counters of a GNU Radio flowgraph, written while it runs.

    python3 streamplace_counters.py COUNTERS FLOWGRAPH.py [ARGUMENT ...]

runs the Python program of a flowgraph, and writes a line of JSON to COUNTERS each second: the items
on each stream, and the CPU time of each block. Only the first flowgraph that starts is counted,
until one of its threads ends. It needs Linux and GNU Radio 3.8 or later only, and changes neither
the program nor what it computes.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
import time
from contextlib import suppress
from typing import (  # noqa: UP035 - Python 3.8
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Set,
    TextIO,
    Tuple,
)

from gnuradio import gr

EVERY_S = 1.0
USABLE_CORES = 2  # that a thread must have to be found
TASKS = "/proc/self/task"
Ends = Tuple[Any, int, Any, int]  # noqa: UP006 - source, port, target, port
STREAMS: Dict[int, List[Ends]] = {}  # noqa: UP006 - id of a hierarchical block -> those inside it
MESSAGES: Dict[int, List[Tuple[Any, Any]]] = {}  # noqa: UP006 - likewise
COUNTED: List[threading.Thread] = []  # noqa: UP006 - that writes the counters, once it has begun
ENDED = threading.Event()  # the program of the flowgraph has


def record_streams(connect: Callable[..., None]) -> Callable[..., None]:
    """Return `connect` of hierarchical blocks, with a record of what it connects."""

    def recorded(self: Any, *points: Any) -> None:
        connect(self, *points)
        ends = [point if isinstance(point, tuple) else (point, 0) for point in points]
        inside = STREAMS.setdefault(self.unique_id(), [])
        inside += [(*source, *target) for source, target in zip(ends, ends[1:])]  # noqa: B905, RUF007

    return recorded


def record_messages(connect: Callable[..., None]) -> Callable[..., None]:
    """Return `msg_connect` of hierarchical blocks, with a record of what it connects."""

    def recorded(self: Any, *points: Any) -> None:
        connect(self, *points)
        whole = all(isinstance(point, tuple) for point in points)
        source, target = (each[0] for each in points) if whole else points[::2]
        MESSAGES.setdefault(self.unique_id(), []).append((source, target))

    return recorded


def record_start(start: Callable[..., None], out: TextIO) -> Callable[..., None]:
    """Return `start` of top blocks, the first of which begins a thread that writes the counters."""

    def recorded(self: Any, *arguments: Any, **named: Any) -> None:
        start(self, *arguments, **named)
        if COUNTED:
            say("a flowgraph starts after the first one, and is not counted")
            return
        COUNTED.append(threading.Thread(target=write_counters, args=(self, out)))
        COUNTED[0].start()

    return recorded


def say(text: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(f"streamplace_counters.py: {text}\n")


def is_hierarchical(block: Any) -> bool:
    """Whether a block consists of others, and has no thread of its own."""
    return not hasattr(block, "nitems_read")


def counter(block: Any, port: int, of_output: bool) -> Optional[Callable[[], int]]:  # noqa: UP045
    """Return a function that counts the items at a port; None if nothing counts them.

    Those of a hierarchical block are counted at the block inside that the port leads to.
    """
    if not is_hierarchical(block):
        count = block.nitems_written if of_output else block.nitems_read
        return lambda: int(count(port))
    own = block.unique_id()
    for source, out, target, into in STREAMS.get(own, ()):
        (border, number), inside = (
            ((target, into), (source, out)) if of_output else ((source, out), (target, into))
        )
        if border.unique_id() == own and number == port:
            return counter(*inside, of_output)
    return None


def parts(block: Any) -> List[Any]:  # noqa: UP006
    """Return the blocks inside a hierarchical block that have threads; itself if none are known."""
    own = block.unique_id()
    inside = [each for edge in STREAMS.get(own, ()) for each in (edge[0], edge[2])]
    inside += [each for pair in MESSAGES.get(own, ()) for each in pair]
    distinct = {each.unique_id(): each for each in inside if each.unique_id() != own}
    if not is_hierarchical(block) or not distinct:
        return [block]
    return [part for each in distinct.values() for part in parts(each)]


def masks() -> Dict[int, Set[int]]:  # noqa: UP006
    """Return id of each thread of this process -> the cores that it may use."""
    found = {}
    for task in map(int, os.listdir(TASKS)):
        try:
            found[task] = os.sched_getaffinity(task)
        except OSError:  # it has ended
            continue
    return found


def threads_of(block: Any) -> List[int]:  # noqa: UP006
    """Return the ids of a block's threads: those that move when its affinity changes.

    Their names do not tell, because GNU Radio shortens them, so that several blocks share one. The
    affinity of a hierarchical block does not reach all blocks inside, so each is set by itself.
    """
    before = masks()
    moved: Set[int] = set()  # noqa: UP006
    try:
        for part in parts(block):
            kept = [] if is_hierarchical(part) else part.processor_affinity()
            for core in sorted(os.sched_getaffinity(0))[:USABLE_CORES]:
                part.set_processor_affinity([core])
                moved |= {task for task, mask in masks().items() if before.get(task, mask) != mask}
            if kept:
                part.set_processor_affinity(kept)
            else:
                part.unset_processor_affinity()
    finally:
        for task in moved:
            with suppress(OSError):  # it has ended
                os.sched_setaffinity(task, before[task])
    return sorted(moved)


def cpu_s(tasks: List[int]) -> float:  # noqa: UP006
    """Return the CPU seconds of some threads."""
    total = 0
    for task in tasks:
        with open(f"{TASKS}/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def write_counters(top: Any, out: TextIO) -> None:
    """Write the counters of a flowgraph, and say why they end before its program does."""
    try:
        for value in counted(top):
            try:
                out.write(json.dumps(value) + "\n")
            except OSError as error:
                say(f"counters end: {error}")
                return
    except (OSError, RuntimeError):  # of /proc, and of GNU Radio
        say("counters end, since a thread of the flowgraph has ended")


def counted(top: Any) -> Iterator[Dict[str, Any]]:  # noqa: UP006
    """Yield what a flowgraph consists of, and its counters until a thread or its program ends."""
    own = top.unique_id()  # below, copies of what the program may change at any time
    edges, pairs = [*STREAMS.get(own, ())], [*MESSAGES.get(own, ())]
    ends = [each for edge in edges for each in (edge[0], edge[2])]
    ends += [each for pair in pairs for each in pair]
    blocks = {each.unique_id(): each for each in ends}
    names = {number: block.alias() for number, block in blocks.items()}
    for name, value in [*vars(top).items()]:
        if hasattr(value, "unique_id") and value.unique_id() in names:
            names[value.unique_id()] = name
    tasks = {names[number]: threads_of(block) for number, block in blocks.items()}
    counters = [counter(a, p, True) or counter(b, q, False) for a, p, b, q in edges]
    yield {
        "gnuradio": gr.version(),
        "threads": tasks,
        "streams": [
            {
                "source": names[source.unique_id()],
                "target": names[target.unique_id()],
                "item_bytes": source.output_signature().sizeof_stream_item(port),
            }
            for source, port, target, _ in edges
        ],
        "messages": [[names[a.unique_id()], names[b.unique_id()]] for a, b in pairs],
    }
    while not ENDED.is_set():
        used = {name: cpu_s(each) for name, each in tasks.items()}
        items = [count and count() for count in counters]
        yield {"at_s": time.monotonic(), "items": items, "cpu_s": used}
        ENDED.wait(EVERY_S)


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004 - itself and two arguments
        sys.exit(__doc__)
    if len(os.sched_getaffinity(0)) < USABLE_CORES:
        sys.exit(f"streamplace_counters.py: needs {USABLE_CORES} cores to tell threads apart")
    counters_file, *sys.argv = sys.argv[1:]
    try:
        os.stat(sys.argv[0])
        cpu_s([threading.get_native_id()])
        counters_out = open(counters_file, "w", buffering=1)  # noqa: SIM115 - of lines, until the end
    except OSError as error:
        sys.exit(f"streamplace_counters.py: {error}")
    gr.hier_block2.connect = record_streams(gr.hier_block2.connect)
    gr.hier_block2.msg_connect = record_messages(gr.hier_block2.msg_connect)
    gr.top_block.start = record_start(gr.top_block.start, counters_out)
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        ENDED.set()
