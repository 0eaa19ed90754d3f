"""What a running job has counted, reading by reading, and which readings can be used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

SHORT = 2  # readings that the parts of one lazy answer arrive in


@dataclass(frozen=True)
class Counters:
    """Sums since the start over all instances; None where they are missing.

    Parameters
    ----------
    records_in, records_out
        Tuples.
    bytes_in
        Bytes received; exact.
    bytes_out
        Bytes sent; grows by whole buffers.
    busy_ms, idle_ms, backpressured_ms
        Where time went.
    """

    records_in: float | None = None
    records_out: float | None = None
    bytes_in: float | None = None
    bytes_out: float | None = None
    busy_ms: float | None = None
    idle_ms: float | None = None
    backpressured_ms: float | None = None


@dataclass(frozen=True)
class Reading:
    """All counters at one moment.

    Parameters
    ----------
    at_s
        By the server's clock.
    vertices
        Vertex id -> its counters.
    operators
        Operator -> its own tuples, for sources and inside chains.
    """

    at_s: float
    vertices: Mapping[str, Counters]
    operators: Mapping[str, Counters] = field(default_factory=dict)

    @property
    def counted(self) -> tuple[tuple[float | None, ...], ...]:
        """The numbers that only grow."""
        rows = (*self.vertices.values(), *self.operators.values())
        return tuple((c.records_in, c.records_out, c.bytes_in, c.bytes_out) for c in rows)


def usable(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings that tell one moment each.

    Flink answers with what it fetched before, up to ten seconds ago, and asking makes it fetch
    anew. So a reading that differs from the one before it belongs to the moment of that one; those
    that repeat it are left out, as are the first, since nobody knows how old it is, and what came
    before a counter fell (the job began anew). Where changes come in short bursts with silence
    between, the answers of several TaskManagers arrived one after another, and the last has all.
    """
    bursts: list[list[Reading]] = []
    quiet = True
    for before, reading in pairwise(readings):
        if _fell(before, reading):
            bursts.clear()
            quiet = True
        elif reading.counted == before.counted:
            quiet = True
        else:
            if quiet:
                bursts.append([])
            bursts[-1].append(replace(reading, at_s=before.at_s))
            quiet = False
    several = len(bursts) > 1
    return [
        reading
        for burst in bursts
        for reading in (burst[-1:] if several and len(burst) <= SHORT else burst)
    ]


def _fell(before: Reading, after: Reading) -> bool:
    return any(
        a is not None and b is not None and b < a
        for row_a, row_b in zip(before.counted, after.counted, strict=True)
        for a, b in zip(row_a, row_b, strict=True)
    )
