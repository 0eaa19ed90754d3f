"""A process that forks a child for each reader, and kills a child that makes no progress.

python -m benchmarks.hardening.campaigns.readers.process SHARE SEED LIMITS READER …

It prints one line of JSON per reader.
"""

import json
import mmap
import os
import select
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

from benchmarks.hardening.campaigns.readers.limits import LIMITS, Limits
from benchmarks.hardening.campaigns.readers.observations import Observations
from benchmarks.hardening.campaigns.readers.watcher import observe
from benchmarks.hardening.corpus import own_files
from benchmarks.hardening.corpus.documents import DATAFLOW_CLUSTER
from benchmarks.hardening.corpus.line_graph import line_graph
from benchmarks.hardening.corpus.special_files import SPECIAL_FILES
from benchmarks.hardening.harness.memory_limits import memory_limit
from benchmarks.hardening.mutation.numbered_documents import COUNT, CUT_AT
from benchmarks.hardening.targets.consumers import use_graph, use_pass, use_placement
from benchmarks.hardening.targets.parsers import PARSERS
from streamplace.errors import InfeasibleError
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, StreamGraph

SHIFT = 31  # difference between the first file numbers of successive readers


def numbers_of(name: str, share: float) -> list[int]:
    """Return the numbers of the bad files to read, spread evenly over all bad files.

    At most a third are numbers of malformed texts, bombs and other encodings. Each reader gets a
    different choice of these, so that the readers together cover all, even with a small share.

    Parameters
    ----------
    share
        The fraction of all bad files, 0 to 1.
    """
    count = max(1, round(COUNT * share))
    count_listed = min(count // 3, CUT_AT)
    first = SHIFT * [*PARSERS].index(name)
    listed = sorted((first + i * CUT_AT // count_listed) % CUT_AT for i in range(count_listed))
    left = count - count_listed
    return listed + [CUT_AT + i * (COUNT - CUT_AT) // left for i in range(left)]


def observe_reader(name: str, share: float, seed: int, limits: Limits) -> Observations:
    """Read the bad files of one reader in a fork of this process; return the observations."""
    memory_limit(PARSERS[name].torch)  # measured and cached before the fork
    read_end, write_end = os.pipe()
    progress = mmap.mmap(-1, 8)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(read_end)
            with tempfile.TemporaryDirectory(prefix="streamplace-readers-") as folder:
                os.chdir(folder)
                observations = observe(
                    PARSERS[name],
                    Path(folder),
                    numbers_of(name, share),
                    [*SPECIAL_FILES],
                    seed,
                    limits,
                    progress,
                )
            with os.fdopen(write_end, "w") as file:
                json.dump(observations.to_dict(), file)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write_end)
    text = _output(read_end, child, progress, limits.silent_s)
    _, status = os.waitpid(child, 0)
    if text:
        values = json.loads(text)
        return Observations(**{**values, "wrong": Counter(values["wrong"])})
    observations = Observations(tried=struct.unpack("q", progress[:8])[0])
    code = os.waitstatus_to_exitcode(status)
    which = f"{name}, after {observations.tried} files (seed {seed})"
    observations.blame("tracebacks", which, f"the process ended with exit code {code}")
    return observations


def main() -> None:
    """Print the observations of each reader."""
    share, seed, limits = float(sys.argv[1]), int(sys.argv[2]), LIMITS[sys.argv[3]]
    load_kernels()
    for name in sys.argv[4:]:
        print(json.dumps(observe_reader(name, share, seed, limits).to_dict()), flush=True)


def load_kernels() -> None:
    """Load the compiled kernels once for all readers, since loading them looks like unpickling."""
    for form in own_files.FORMS:
        for cluster in (None, cluster_from(DATAFLOW_CLUSTER, "good")):
            with suppress(InfeasibleError):  # the graph needs devices that the cluster lacks
                use_graph(graph_from(form, "good"), cluster)
    use_graph(line_graph())
    use_graph(StreamGraph([Operator("a", 1, 1, seconds_on={"gpu": 1})]))
    use_pass(line_graph(), Cluster.equal(2))
    use_placement(own_files.makespan_placement())


def _output(handle: int, child: int, progress: mmap.mmap, silent_s: float) -> bytes:
    """Return the output of a child; kill it if it makes no progress for `silent_s`."""
    text, before, since = b"", progress[:8], time.monotonic()
    while True:
        if select.select([handle], [], [], 1.0)[0]:
            piece = os.read(handle, 2**16)
            if not piece:
                os.close(handle)
                return text
            text += piece
        if progress[:8] != before:
            before, since = progress[:8], time.monotonic()
        elif time.monotonic() - since > silent_s and not text:
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
