"""A plain engine of makespans: one pass of a finite graph, exact, moment by moment.

It shares no code with `sim` or `streamplace`. Times are whole numbers of a unit that divides every
duration. At each moment, everything is worked out again from the starts so far: what has ended,
which messages wait, who comes first and which cores are free; then the clock moves to the next
moment at which anything changes. There is no queue of events.

The rules are those of the makespan objective. Where they leave something open, this engine decides:

Numbers
- A number is the decimal number in the file (0.1 is one tenth), not the nearest double.

Operators
- Between devices at one moment, `fifo` starts the smallest (moment of becoming runnable, index).
- Under `barrier`, that moment is still the arrival of the last input, not the start of the level.
- `sequence` with `barrier`: a device's list is sorted by level first, since it could wait forever
  otherwise.
- An operator without work waits for its cores like any other, and leaves no rest.
- A stream without flow still counts for levels and for becoming runnable.
- Ranks: a message takes x + L, under `nic` max(x, x of the receiver) + L, for the bytes of its own
  stream whatever the multicast; 0 without flow and from a source under `inputs_everywhere`. Gaps,
  jobs and rests do not count. A device is feasible for an operator if it has the labels and the
  operator has a time there; a graph's constraints do not count.

Messages
- A message to several devices has the largest x, L, g and sender's CPU time of its destinations.
- Under `pair`, a message to several devices keeps its turn on each of its channels while it waits
  for the others: later messages do not overtake it.
- `nic`: g and o at each end are those of that end's interface; L is the larger of both ends'. Ties
  at a receiver: (arrival of the first byte, end of the producer, producer, stream).
- A message that has started stays started, even if an operator that starts at the same moment and
  ends at once then sends one that would have preceded it.
- A multicast message has only the streams with flow. A receiver's CPU time is for the bytes of the
  message, even where its own stream is smaller.

Jobs (CPU time of messages)
- The order of messages among jobs uses the moment at which a message may start at its sender.
- Under `fifo`, a job also waits behind an earlier operator that does not fit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from benchmarks.reference.schedule_inputs import Form, Message, ScheduleInputs, exact
from benchmarks.reference.schedule_messages import (
    RECEIVE,
    SEND,
    Key,
    Receiver,
    SentMessage,
    Task,
    is_past,
    serve_receivers,
    start_messages,
)


@dataclass(frozen=True)
class JobTimes:
    """CPU time that a message took on one core of a device."""

    device: str
    sends: bool
    start: Fraction
    finish: Fraction


@dataclass(frozen=True)
class MessageTimes:
    """A message in seconds: when it may start, starts, leaves its channels, arrives and counts.

    It counts as an input of the operators of a device when it has arrived and the receive job has
    ended. Keys are names of devices.
    """

    source: str
    streams: tuple[int, ...]
    ready: Fraction
    start: Fraction
    channel_free: Fraction
    arrival: dict[str, Fraction]
    counts: dict[str, Fraction]


@dataclass(frozen=True)
class PlainSchedule:
    """Seconds at which operators start and finish, by name; messages, jobs and the makespan."""

    start: dict[str, Fraction]
    finish: dict[str, Fraction]
    messages: tuple[MessageTimes, ...]
    jobs: tuple[JobTimes, ...]
    makespan: Fraction


def plain_schedule(graph: Form, cluster: Form, settings: Form, placement: Form) -> PlainSchedule:
    """Return the exact schedule of one pass, from the JSON forms of a problem.

    Raises
    ------
    ValueError
        If an operator is on a device that cannot run it, or if an option is unknown.
    """
    run = _Run(ScheduleInputs(graph, cluster, settings, placement))
    run.run()
    return run.result()


class _Run:
    def __init__(self, inputs: ScheduleInputs) -> None:
        self.inputs, self.now = inputs, 0
        messages = inputs.messages()
        lengths = [self._seconds(v) for v in range(len(inputs.operators))]
        rests = [exact(device.get("startup_s", 0)) for device in inputs.devices]
        crossings = [vars(c).values() for m in messages for c in m.to.values()]
        every = [*lengths, *rests, *(time for times in crossings for time in times)]
        self.per_second = lcm(*(time.denominator for time in every))
        self.operators = [
            Task(
                d,
                inputs.cores(v, d),
                self._units(lengths[v]),
                self._units(rests[d]) if lengths[v] else 0,
                v,
            )
            for v, d in enumerate(inputs.place)
        ]
        self.messages = [self._sent(message) for message in messages]
        self.carrier = {
            e: (one, d)
            for one in self.messages
            for d, es in one.message.streams.items()
            for e in es
        }
        ends = [one.send for one in self.messages if one.send]
        self.jobs = [*ends, *(job for one in self.messages for job in one.receive.values())]
        self.tasks_on: list[list[Task]] = [[] for _ in inputs.devices]
        for task in [*self.operators, *self.jobs]:
            self.tasks_on[task.device].append(task)
        self.level = inputs.levels()
        self.priority = inputs.priorities()

    def run(self) -> None:
        while True:
            self._settle()
            later = [moment for moment in self._moments() if moment > self.now]
            if not later:
                break
            self.now = min(later)
        if any(task.start is None for task in self.operators):
            raise AssertionError("an operator never starts")

    def _settle(self) -> None:
        """Do everything that happens at this moment."""
        while True:
            start_messages(self.messages, self.now)
            serve_receivers(self.messages, self.now)
            task = self._next_start()
            if task is None:
                return
            task.start = self.now

    def _moments(self) -> Iterator[int]:
        """Yield the moments, past and future, at which something that has started changes."""
        for task in [*self.operators, *self.jobs]:
            if task.finish is not None:
                yield task.finish
                yield task.finish + task.rest
        for one in self.messages:
            yield from (moment for moment in one.moments() if moment is not None)

    def _next_start(self) -> Task | None:
        """Return the first in order of the tasks that their devices can start now."""
        heads = []
        for tasks in self.tasks_on:
            queue = [task for task in tasks if task.start is None and self._waits(task)]
            head = min(queue, key=self._key, default=None)
            if head and head.cores <= self._free_cores(head.device):
                heads.append(head)
        return min(heads, key=self._key, default=None)

    def _free_cores(self, d: int) -> int:
        taken = (
            task.cores
            for task in self.tasks_on[d]
            if task.finish is not None and task.finish + task.rest > self.now
        )
        return int(self.inputs.devices[d].get("cores", 1)) - sum(taken)

    def _waits(self, task: Task) -> bool:
        """Return whether a task is in its device's queue."""
        if not self._is_past(self._ready(task)):
            return False
        return task.message is not None or (self._is_released(task) and self._is_its_turn(task))

    def _is_released(self, task: Task) -> bool:
        """Return whether a barrier lets an operator start."""
        if not self.inputs.barrier:
            return True
        before = [v for v, level in enumerate(self.level) if level == self.level[task.operator] - 1]
        ended = all(self._is_past(self.operators[v].finish) for v in before)
        streams = (e for v in before for e in self.inputs.outputs[v])
        return ended and all(self._is_past(self._input_at(e)) for e in streams)

    def _is_its_turn(self, task: Task) -> bool:
        """Return whether, under `sequence`, all earlier operators of the device have started."""
        if self.inputs.order_name != "sequence":
            return True
        own = (
            self._list_position(other)
            for other in self.tasks_on[task.device]
            if other.start is None and other.message is None
        )
        return self._list_position(task) == min(own)

    def _list_position(self, task: Task) -> Key:
        level = self.level[task.operator] if self.inputs.barrier else 0
        return level, self.priority[task.operator]

    def _key(self, task: Task) -> Key:
        """Return the place of a task that is ready in the order on its device, and over all."""
        ready, is_fifo = self._ready(task), self.inputs.order_name == "fifo"
        if task.message is not None:
            job = (task.kind, task.message.key)
            return (ready, 0, *job) if is_fifo else (0, ready, *job)
        if is_fifo:
            return ready, 1, task.operator
        return 1, self.priority[task.operator], task.operator

    def _ready(self, task: Task) -> int | None:
        """Return when an operator is runnable or a job ready, as soon as that is fixed."""
        if task.message is not None:
            one = task.message
            return one.producer.finish if task.kind == SEND else one.arrival(task.device)
        inputs = [self._input_at(e) for e in self.inputs.inputs[task.operator]]
        known = [moment for moment in inputs if moment is not None]
        return max(known, default=0) if len(known) == len(inputs) else None

    def _input_at(self, e: int) -> int | None:
        """Return when an input counts as arrived, as soon as that is fixed."""
        if e not in self.carrier:
            return self.operators[self.inputs.streams[e].source].finish
        one, d = self.carrier[e]
        return one.counts_at(d)

    def _is_past(self, moment: int | None) -> bool:
        return is_past(moment, self.now)

    def _sent(self, message: Message) -> SentMessage:
        receivers = {
            d: Receiver(self._units(one.receive_transfer_s), self._units(one.receive_gap_s))
            for d, one in message.to.items()
            if self.inputs.link_kind == "nic"
        }
        sent = SentMessage(
            message,
            self._units(message.largest("transfer_s")),
            self._units(message.largest("latency_s")),
            self._units(message.largest("gap_s")),
            self.operators[message.source],
            receivers,
        )
        if send := self._units(message.largest("send_s")):
            sent.send = Task(sent.producer.device, 1, send, message=sent)
        for d, one in message.to.items():
            if receive := self._units(one.receive_s):
                sent.receive[d] = Task(d, 1, receive, message=sent, kind=RECEIVE)
        return sent

    def _seconds(self, v: int) -> Fraction:
        seconds = self.inputs.seconds(v, self.inputs.place[v])
        if seconds is None:
            device = self.inputs.devices[self.inputs.place[v]]["name"]
            raise ValueError(f"operator {self.inputs.names[v]!r} cannot run on device {device!r}")
        return seconds

    def _units(self, seconds: Fraction) -> int:
        return int(seconds * self.per_second)

    def result(self) -> PlainSchedule:
        def time(units: int | None) -> Fraction:
            return Fraction(units or 0, self.per_second)

        names, devices = self.inputs.names, [device["name"] for device in self.inputs.devices]
        finish = {names[task.operator]: time(task.finish) for task in self.operators}
        return PlainSchedule(
            {names[task.operator]: time(task.start) for task in self.operators},
            finish,
            tuple(
                MessageTimes(
                    names[one.message.source],
                    tuple(sorted(e for es in one.message.streams.values() for e in es)),
                    time(one.ready),
                    time(one.start),
                    time(one.channel_free),
                    {devices[d]: time(one.arrival(d)) for d in one.message.to},
                    {devices[d]: time(one.counts_at(d)) for d in one.message.to},
                )
                for one in self.messages
            ),
            tuple(
                JobTimes(devices[job.device], job.kind == SEND, time(job.start), time(job.finish))
                for job in self.jobs
            ),
            max(finish.values()),
        )
