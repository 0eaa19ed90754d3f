"""What was measured of a running job during one window."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Below 1 by more than the resolution of busy times, 5 s in a window of 5 min with Flink.
ALWAYS = 0.95  # share of the time from which on an instance may be held up by a single tuple
# Share of the tuples sent to an operator that it did not process; less is noise. A guess.
BUFFERED = 0.05


@dataclass(frozen=True)
class Reading:
    """Means of one operator over a window.

    Parameters
    ----------
    tuples_s
        Tuples per second that all instances together processed.
    busy, busiest
        Share of the time that its instances were busy: the mean, and that of the busiest instance.
    backpressured
        Share of the time that its instances were under backpressure, on average.
    instances
        Number of its instances.
    arriving_s
        Tuples per second that were sent to it; those that it did not process wait in the buffers of
        the stream engine. None if unknown.
    busy_error
        What `busy` may be off by at most, since busy times are read with a limited resolution.
    shares
        Share of the tuples that each instance processed, in order; empty if these are about equal.
    """

    tuples_s: float
    busy: float
    busiest: float
    backpressured: float
    instances: int
    arriving_s: float | None = None
    busy_error: float = 0.0
    shares: tuple[float, ...] = ()

    @property
    def received_s(self) -> float:
        """Tuples per second that it processed, or that were sent to it if that is clearly more."""
        sent_s = self.arriving_s or 0.0
        return sent_s if self.tuples_s < (1.0 - BUFFERED) * sent_s else self.tuples_s

    @property
    def is_idle(self) -> bool:
        """Whether it got no tuples; one that is always busy or held back may have a long one."""
        return self.received_s == 0.0 and self.busy + self.backpressured < ALWAYS


@dataclass(frozen=True)
class Observation:
    """A window of measurements of one job.

    Parameters
    ----------
    at_s
        The end of the window, in seconds since 1970.
    seconds
        Its length.
    started_s
        When the job, or its last recovery, began to run; seconds since 1970.
    readings
        Operator -> its means; without operators of which nothing could be measured.
    offered_s
        Tuples per second that the sources are offered: what they read, and the growth of what
        waits. None if it is unknown.
    waiting
        Tuples that wait at the sources; None if unknown.
    devices
        Names of the devices that are there.
    hosts
        Operator -> the device of each of its instances, in order; instances that do not run are
        left out.
    missing
        What could not be measured, and why; empty if everything was.
    hidden
        Why more may be offered than the sources read, which is then `offered_s`; empty if all that
        is offered is known. Where the busiest operator is itself a source that is never idle,
        `offered_s` is None, since the source may be busy with waiting.
    read_s
        Tuples per second that the sources read. None: not known apart from `offered_s`, of which
        it is the part that does not add to `waiting`.
    checkpoint_s
        How long the latest checkpoint took, in seconds; None if unknown.
    growth_s
        Source -> the tuples per second by which what waits there has grown; without sources that do
        not report what waits.
    not_timed
        Operator -> the metric of its busy time, which the stream engine lacks. Its reading says
        that it was not busy at all, so it is kept as it is.
    rise_s2
        Tuples per second by which the offered rate has risen per second over the last parts of
        windows; 0 if it did not rise on. See `Parts`.
    free_slots
        Slots that no job holds; None if that is unknown, or if more may come.
    groups
        Operator -> its slot-sharing group; those that are left out share one.
    finished
        Operator -> number of its instances that have ended and need nothing any more, as those of a
        source that has read all there is; without operators where none has.
    """

    at_s: float
    seconds: float
    started_s: float
    readings: Mapping[str, Reading]
    offered_s: float | None
    waiting: float | None
    devices: frozenset[str]
    hosts: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...] = field(default=())
    hidden: str = ""
    read_s: float | None = None
    checkpoint_s: float | None = None
    growth_s: Mapping[str, float] = field(default_factory=dict)
    not_timed: Mapping[str, str] = field(default_factory=dict)
    rise_s2: float = 0.0
    free_slots: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    finished: Mapping[str, int] = field(default_factory=dict)

    @property
    def parallelism(self) -> dict[str, int]:
        """Operator -> number of its instances that run or have finished."""
        return {name: len(on) for name, on in self.hosts.items()}

    @property
    def processed(self) -> float:
        """Share of the tuples sent to an operator that it processed: the least of all operators."""
        slowest = self.readings.get(self.slowest)
        return 1.0 if slowest is None else slowest.tuples_s / slowest.received_s

    @property
    def slowest(self) -> str:
        """The operator that processed the least share of what was sent to it; empty if none."""
        received = {name: each for name, each in self.readings.items() if each.received_s > 0.0}
        return min(
            received,
            key=lambda name: (received[name].tuples_s / received[name].received_s, name),
            default="",
        )

    @property
    def idle(self) -> list[str]:
        """The operators that got no tuples while others did, or get no more, sorted."""
        idle = sorted(
            name
            for name, reading in self.readings.items()
            if reading.is_idle or self.finished.get(name) == reading.instances
        )
        return idle if len(idle) < len(self.readings) else []

    def group(self, name: str) -> str:
        """Return the slot-sharing group of an operator."""
        return self.groups.get(name, "")

    @property
    def begin_s(self) -> float:
        """The beginning of the window, in seconds since 1970."""
        return self.at_s - self.seconds

    @property
    def busiest_operator(self) -> str:
        """The operator of the busiest instance; of several, the first by name."""
        return min(self.readings, key=lambda name: (-self.readings[name].busiest, name), default="")

    @property
    def busiest(self) -> float:
        """Share of the time that the busiest instance of all was busy; 0 without readings."""
        return max((reading.busiest for reading in self.readings.values()), default=0.0)


def limits_by_slots(wanted: Mapping[str, int], observation: Observation) -> dict[str, int]:
    """Return operator -> its largest number of instances within the slots; empty if all fit.

    The slot-sharing group that keeps the largest share of what it wants gives way first, and none
    below what it has now: of all numbers that fit, these slow the slowest group least.

    Parameters
    ----------
    wanted
        Operator -> number of its instances in a plan.
    """
    if observation.free_slots is None:
        return {}
    wants, has = (
        slots_of_groups(counts, observation) for counts in (wanted, observation.parallelism)
    )
    slots, most = observation.free_slots + sum(has.values()), dict(wants)
    while sum(most.values()) > slots:
        shares = {group: (most[group] - 1) / wants[group] for group in most}
        giving = [group for group in sorted(most) if most[group] > has[group]]
        most[max(giving, key=shares.__getitem__)] -= 1
    return {} if most == wants else {name: most[observation.group(name)] for name in wanted}


def slots_of_groups(counts: Mapping[str, int], observation: Observation) -> dict[str, int]:
    """Return slot-sharing group -> the slots that it needs; see `slots_by_group`."""
    return slots_by_group(counts, {name: observation.group(name) for name in counts})


def slots_by_group(counts: Mapping[str, int], groups: Mapping[str, str]) -> dict[str, int]:
    """Return slot-sharing group -> the slots that it needs: as many as its largest member.

    Parameters
    ----------
    counts
        Operator, or vertex -> number of its instances.
    groups
        The same -> its group.
    """
    found = dict.fromkeys(groups.values(), 0)
    for name, group in groups.items():
        found[group] = max(found[group], counts.get(name, 0))
    return found
