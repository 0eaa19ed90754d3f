"""CPU time of the machine that was idle or taken by its host, which shows disturbed runs."""

from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
IDLE, WAITING, STEAL, COUNTED = 3, 4, 7, 8  # columns of its first line; see man 5 proc_stat


@dataclass(frozen=True)
class Times:
    """CPU time of all cores since the machine started, in ticks of the kernel.

    Parameters
    ----------
    total
        All time, including idle and stolen time.
    idle
        Time in which a core had nothing to do.
    stolen
        Time in which a core had work, but the host of this virtual machine ran something else.
    """

    total: int
    idle: int
    stolen: int

    def since(self, before: "Times") -> str:
        """Return what happened since an earlier moment, as a sentence."""
        total = max(1, self.total - before.total)
        idle, stolen = (self.idle - before.idle) / total, (self.stolen - before.stolen) / total
        return f"of the CPU time of the machine, {idle:.1%} was idle and {stolen:.1%} was stolen"


def times() -> Times:
    """Return the times until now."""
    return parsed(STAT.read_text())


def parsed(text: str) -> Times:
    """Return the times in the text of /proc/stat."""
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1 : 1 + COUNTED]]
    return Times(sum(ticks), ticks[IDLE] + ticks[WAITING], ticks[STEAL])
