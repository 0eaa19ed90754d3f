"""The reader of thread dumps, whose second dump is ten seconds after the first."""

from typing import Any

from streamplace.engines.flink.cpu_times import Spent, cpu_times, read_dump
from streamplace.errors import BackendError
from streamplace.files.reading import read_bytes

TEXT = """\
77:
2026-01-02 03:04:05
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=120.50ms elapsed=30.25s tid=0x1 nid=0x2 waiting  [0x0007]
   java.lang.Thread.State: WAITING (parking)

"src (1/1)#0" #75 prio=5 os_prio=0 cpu=2500.00ms elapsed=10.00s tid=0x1 nid=0x2 runnable
"Source Data Fetcher for src (1/1)#0" #76 [9] cpu=1.00ms elapsed=9.00s tid=0x1 nid=9 runnable
"VM Thread" os_prio=0 cpu=32.61ms elapsed=30.25s tid=0x00007f02 nid=0x4d3 runnable
"""


def read(file: str) -> dict[str, Any]:
    """Return the CPU time of a source by the dump in a file."""
    try:
        first = read_dump(read_bytes(file).decode(errors="replace"))
    except BackendError as error:
        raise BackendError(f"{file}: {error}") from None
    later = {
        name: {n: Spent(each.cpu_s + 1.0, each.elapsed_s + 10.0) for n, each in threads.items()}
        for name, threads in first.items()
    }
    return cpu_times("src", ["tm-1"], [{"tm-1": first}, {"tm-1": later}]).to_dict()
