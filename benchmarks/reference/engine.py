"""The engine once more in plain Python: oracle of the compiled one, and what it is timed against.

Same rules, other means: sets are objects with the time each of their tuples entered on average,
queues are deques, and nothing is precomputed.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, inf

import numpy as np

from sim.engine.scene import Scene, Window
from sim.engine.settings import Settings
from sim.flow import Flow


@dataclass
class EventSet:
    """Tuples that travel together, when they entered on average, and by which paths they came."""

    size: float
    birth: float
    totals: dict[int, float]
    since: int = -1  # the tick in which it was sent

    def absorb(self, other: "EventSet") -> None:
        """Take another in."""
        both = merged([self, other])
        self.size, self.birth, self.totals = both.size, both.birth, both.totals

    def split(self, share: float) -> "EventSet":
        """Take a share out."""
        part = {source: share * total for source, total in self.totals.items()}
        taken = EventSet(share * self.size, self.birth, part)
        self.size -= taken.size
        self.totals = {source: total - part[source] for source, total in self.totals.items()}
        return taken


def merged(sets: list[EventSet]) -> EventSet:
    """Return all of them as one."""
    size = sum(one.size for one in sets)
    birth = sum(one.size * one.birth for one in sets) / size if size else 0.0
    totals: dict[int, float] = {}
    for one in sets:
        for source, total in one.totals.items():
            totals[source] = totals.get(source, 0.0) + total
    return EventSet(size, birth, totals)


def mean_output(window: Window, rate: float) -> float:
    """Return tuples/s that a windowed operator emits which gets some."""
    if window.count is None:
        return rate * window.ratio * window.size_s / window.advance_s
    return window.count / window.advance_s if rate > 0 else 0.0


@dataclass
class PlainStream:
    number: int
    source: int
    target: int
    selectivity: float
    links: list[int]  # that a tuple takes, in order
    seconds: list[float]  # that it takes each
    delay: int
    rate: float = 0.0
    cost: float = 0.0
    most: float = inf
    queue: deque[EventSet] = field(default_factory=deque)
    wire: deque[tuple[int, EventSet]] = field(default_factory=deque)
    left: float = 0.0
    sent_now: float = 0.0
    in_flight: float = 0.0
    sent: float = 0.0
    taken: float = 0.0

    @property
    def waiting(self) -> float:
        return sum(one.size for one in self.queue)


class PlainEngine:
    """One run of one placement."""

    def __init__(
        self,
        flow: Flow,
        placement: Iterable[int],
        latency_s: Iterable[float],
        settings: Settings,
        tick_s: float,
        scene: Scene | None = None,
    ) -> None:
        self.flow, self.settings, self.tick_s = flow, settings, tick_s
        self.scene = scene or Scene()
        self.device = [int(d) for d in placement]
        self.latency = [float(x) for x in latency_s]
        self.streams = [self._stream(e) for e in range(len(flow.source))]
        every = range(flow.operators)
        self.inputs = {v: [s for s in self.streams if s.target == v] for v in every}
        self.outputs = {v: [s for s in self.streams if s.source == v] for v in every}
        self.order = self._order()
        self.backlog = {v: 0.0 for v in every if not self.inputs[v]}
        self.dropped = dict.fromkeys(self.backlog, 0.0)
        self.links: dict[int, deque[tuple[int, PlainStream, EventSet]]] = {
            link: deque() for one in self.streams for link in one.links
        }
        self.send_cost = [0.0] * flow.operators
        self.source_cost = [0.0] * flow.operators
        self._costs()
        self.share = self._shares()
        self._queues()
        self.windows = {v: OpenWindow(w, tick_s) for v, w in self.scene.windows.items()}
        self.paths = {v: self._paths(v) for v in self.backlog}
        # what happened
        self.processed = [0.0] * flow.operators
        self.busy_s = [0.0] * flow.devices
        self.operator_busy_s = [0.0] * flow.operators
        self.blocked_s = [0.0] * flow.operators
        self.held = 0.0  # of the operator at work
        self.link_held: dict[int, float] = {}  # by those who send over it, this tick
        self.link_busy_s: dict[int, float] = {}
        self.link_full_s: dict[int, float] = {}
        self.link_stalled_s: dict[int, float] = {}
        # tick, sink, stream or -1, tuples, latency
        self.arrivals: list[tuple[int, int, int, float, float]] = []
        self.reached: list[tuple[int, int, int, float]] = []  # tick, sink, source, per path

    def _stream(self, e: int) -> PlainStream:
        flow = self.flow
        v, w = int(flow.source[e]), int(flow.target[e])
        a, b = self.device[v], self.device[w]
        links: list[int] = []
        if a != b:
            links = [a, flow.devices + b] if flow.nic else [a * flow.devices + b]
        seconds = [float(flow.gap_s[i] + flow.bits[e] * flow.seconds_per_bit[i]) for i in links]
        delay = floor(sum(self.latency[i] for i in links) / self.tick_s + 1e-9)
        return PlainStream(e, v, w, float(flow.selectivity[e]), links, seconds, delay)

    def _order(self) -> list[int]:
        """Return the operators, upstream ones first."""
        done: list[int] = []
        while len(done) < self.flow.operators:
            done += [
                v
                for v in range(self.flow.operators)
                if v not in done and all(s.source in done for s in self.inputs[v])
            ]
        return done

    def _costs(self) -> None:
        flow = self.flow
        for v in range(flow.operators):
            d = self.device[v]
            own = float(flow.instructions[v] / flow.capacity[d])
            for out in self.outputs[v]:
                if out.links:
                    overhead = float(flow.overhead_s[out.links[0]] / flow.cores[d])
                    self.send_cost[v] += out.selectivity * overhead
            sending = 0.0 if v in self.scene.windows else self.send_cost[v]
            self.source_cost[v] = own + self.send_cost[v]
            for one in self.inputs[v]:
                one.cost = own + sending
                if one.links:
                    one.cost += float(flow.overhead_s[one.links[-1]] / flow.cores[d])

    def _shares(self) -> list[float]:
        flow = self.flow
        weight = [1.0] * flow.operators
        rate = [float(x) for x in flow.source_tuples]
        put_out = list(rate)
        for v in self.order:
            seconds = rate[v] * self.source_cost[v]
            for one in self.inputs[v]:
                one.rate = put_out[one.source] * one.selectivity
                rate[v] += one.rate
                seconds += one.rate * one.cost
            put_out[v] = rate[v]
            if v in self.scene.windows:
                put_out[v] = mean_output(self.scene.windows[v], rate[v])
                seconds += put_out[v] * self.send_cost[v]
            if self.settings.allocation == "weighted":
                weight[v] = seconds
        total = [0.0] * flow.devices
        for v, d in enumerate(self.device):
            total[d] += weight[v]
        return [weight[v] / total[d] if total[d] else 0.0 for v, d in enumerate(self.device)]

    def _queues(self) -> None:
        """Give every stream as much room as it has of its target's busiest input, in tuples/s.

        But as much as comes at once: twice what is gathered before it, in a window or a tick.
        """
        peak = max([1.0, *(x for p in self.scene.profiles.values() for x in p.factor)])
        gathers = [self.settings.tick_s] * self.flow.operators
        for v in self.order:
            before = [gathers[one.source] for one in self.inputs[v]]
            if v in self.scene.windows:
                gathers[v] = self.scene.windows[v].advance_s
            if self.scene.windows:
                gathers[v] = max([gathers[v], *before])
        for v in self.order:
            busiest = max((one.rate for one in self.inputs[v]), default=0.0)
            for one in self.inputs[v]:
                part = one.rate / busiest if one.rate > 0 else 1.0
                at_once = 2 * peak * one.rate * gathers[one.source]
                one.most = min(self.settings.queue, max(part * self.settings.queue, at_once))
                if not self.settings.queue:
                    one.most = inf

    def _paths(self, source: int) -> list[int]:
        """Return how many paths lead from a source to each operator."""
        paths = [0] * self.flow.operators
        paths[source] = 1
        for v in self.order:
            for one in self.inputs[v]:
                paths[v] += paths[one.source]
        return paths

    def run(self) -> None:
        """Run all ticks."""
        for tick in range(round(self.settings.duration_s / self.tick_s)):
            self._tick(tick)

    def _tick(self, tick: int) -> None:
        for one in self.streams:
            while one.wire and one.wire[0][0] < tick:
                self._enqueue(one, one.wire.popleft()[1])
        self._offer(tick)
        fast = self._speeds(tick)
        used = [0.0] * self.flow.devices
        self.link_held = {}
        self.now: dict[tuple[int, int], list[EventSet]] = {}
        grant = {v: self.share[v] * self.tick_s * fast[self.device[v]] for v in self.order}
        for turn in range(8):
            unmet = self._pass(tick, fast, grant, used, first=turn == 0)
            if self.settings.scheduler == "default":
                break
            rest = [self.tick_s * f - u for f, u in zip(fast, used, strict=True)]
            grant = self._grants(rest, unmet)
            if max(grant.values()) <= 1e-9 * self.tick_s:
                break
        for d in range(self.flow.devices):
            stopped_s = self.tick_s if any(self._has_work(v, d) for v in self.order) else 0.0
            self.busy_s[d] += used[d] / fast[d] if fast[d] else stopped_s
        self._drop()
        self._arrivals(tick, fast, used)
        for one in self.streams:
            one.left, one.sent_now = one.waiting, 0.0
        for stage in range(2 if self.flow.nic else 1):
            for link in list(self.links):
                if (self.flow.nic and link >= self.flow.devices) == bool(stage):
                    self._serve(link, tick, stage)

    def _pass(
        self, tick: int, fast: list[float], grant: dict[int, float], used: list[float], first: bool
    ) -> dict[int, float]:
        """Let every operator work; return how many more seconds each could use."""
        unmet = {}
        for v in self.order:
            d = self.device[v]
            if fast[d] > 0:
                self.held = 0.0
                spent, unmet[v] = self._act(v, grant[v], tick)
                used[d] += spent
                self.operator_busy_s[v] += spent / fast[d]
                if first:
                    self.blocked_s[v] += self.held * self.tick_s
                    for link in {link for out in self.outputs[v] for link in out.links}:
                        self.link_held[link] = max(self.link_held.get(link, 0.0), self.held)
        return unmet

    def _has_work(self, v: int, d: int) -> bool:
        """Return whether operator v is on device d and something waits for it, or to be sent."""
        unsent = v in self.windows and self.windows[v].out is not None
        waiting = sum(one.waiting for one in self.inputs[v]) + self.backlog.get(v, 0.0)
        return self.device[v] == d and (unsent or waiting > 1e-9)

    def _grants(self, rest: list[float], unmet: dict[int, float]) -> dict[int, float]:
        """Share out the rest of each device: by shares, but to nobody more than it can use."""
        grant = dict.fromkeys(self.order, 0.0)
        for d, seconds in enumerate(rest):
            left = seconds
            hungry = {v: u for v, u in unmet.items() if u > 0 and self.device[v] == d}
            while hungry and left > 0:
                total = sum(self.share[v] for v in hungry)
                level = left / total if total else 0.0
                small = [v for v, u in hungry.items() if u <= level * self.share[v]]
                for v in small:
                    grant[v] = hungry.pop(v)
                    left -= grant[v]
                if not small:
                    grant |= {v: level * self.share[v] for v in hungry}
                    break
        return grant

    def _arrivals(self, tick: int, fast: list[float], used: list[float]) -> None:
        for (v, e), sets in self.now.items():
            here = merged(sets)
            done = tick * self.tick_s + used[self.device[v]] / fast[self.device[v]]
            self.arrivals.append((tick, v, e, here.size, done - here.birth))
            for source, total in here.totals.items():
                self.reached.append((tick, v, source, total / self.paths[source][v]))

    def _offer(self, tick: int) -> None:
        edges = np.array([tick, tick + 1]) * self.tick_s
        for v in self.backlog:
            seconds = self.tick_s
            if v in self.scene.profiles:
                at = self.scene.profiles[v].seconds_at_full_rate(edges)
                seconds = float(at[1] - at[0])
            self.backlog[v] += float(self.flow.source_tuples[v]) * seconds

    def _drop(self) -> None:
        """Drop what may not wait at the sources."""
        most = self.settings.source_queue or inf
        for v in self.backlog:
            self.dropped[v] += max(0.0, self.backlog[v] - most)
            self.backlog[v] = min(self.backlog[v], most)

    def _speeds(self, tick: int) -> list[float]:
        fast = [1.0] * self.flow.devices
        for speed in sorted(self.scene.speeds, key=lambda speed: speed.from_s):
            if tick >= round(speed.from_s / self.tick_s):
                fast[speed.device] = speed.factor
        return fast

    def _act(self, v: int, budget: float, tick: int) -> tuple[float, float]:
        """Let an operator work; return seconds used, and how many more would have helped."""
        sent, short = self._send_windows(v, budget, tick) if v in self.windows else (0.0, 0.0)
        if v in self.windows and tick >= self.windows[v].due:
            return sent, short
        waiting = {one.number: one.waiting for one in self.inputs[v]}
        tuples = sum(waiting.values()) + self.backlog.get(v, 0.0)
        seconds = sum(waiting[one.number] * one.cost for one in self.inputs[v])
        seconds += self.backlog.get(v, 0.0) * self.source_cost[v]
        if tuples <= 0:
            return sent, short
        share = 1.0 if v in self.windows else self._share_that_fits(v, tuples)
        left = budget - sent
        unmet = max(0.0, share * seconds - left)
        if unmet:
            share = left / seconds
        elif share < 1:
            could = min(1.0, left / seconds) if seconds else 1.0
            self.held = 1.0 - share / could if could else 0.0
        if share > 0:
            self._work_on(v, share, waiting, tick)
        return sent + share * seconds, unmet + short

    def _work_on(self, v: int, share: float, waiting: dict[int, float], tick: int) -> None:
        """Take a share of all that waits for an operator, and do with it what it does."""
        parts: dict[int, list[EventSet]] = {}
        for one in self.inputs[v]:
            amount = share * waiting[one.number]
            one.taken += amount
            parts[one.number] = self._dequeue(one, amount if share < 1 else inf)
        if v in self.backlog:
            emitted = share * self.backlog[v]
            self.backlog[v] -= emitted
            parts[-1] = [EventSet(emitted, tick * self.tick_s, {v: emitted})]
        all_of_it = merged([one for some in parts.values() for one in some])
        self.processed[v] += all_of_it.size
        if not self.outputs[v]:
            for e, some in parts.items():
                self.now.setdefault((v, e), []).extend(some)
        elif v in self.windows:
            self.windows[v].slots[-1].append(all_of_it)
        else:
            self._emit(v, all_of_it, tick)

    def _send_windows(self, v: int, budget: float, tick: int) -> tuple[float, float]:
        """Send what a windowed operator has to send, and close a window that is due.

        Returns seconds used, and how many more would have helped.
        """
        window, used, short = self.windows[v], 0.0, 0.0
        for _ in range(2):
            if window.out:
                tuples = window.out.size
                share = self._share_that_fits(v, tuples)
                seconds = tuples * self.send_cost[v]
                if share < 1:
                    self.held = 1.0 - share
                if share * seconds > budget - used:
                    short += share * seconds - (budget - used)
                    share = (budget - used) / seconds
                if share > 0:
                    used += share * seconds
                    self._emit(v, window.out.split(share), tick)
                    if share == 1:
                        window.out = None
            if window.out is None and tick >= window.due:
                window.close()
        return used, short

    def _share_that_fits(self, v: int, tuples: float) -> float:
        share = 1.0
        for one in self.outputs[v]:
            room = one.most - one.waiting - one.in_flight
            if one.links and not self.settings.backpressure:
                room = one.most - one.left - one.sent_now
            if one.selectivity > 0:
                share = min(share, max(0.0, room) / (tuples * one.selectivity))
        return share

    def _dequeue(self, one: PlainStream, amount: float) -> list[EventSet]:
        parts = []
        while one.queue and amount > 0:
            first = one.queue[0]
            if first.size > amount:
                parts.append(first.split(amount / first.size))
                break
            parts.append(one.queue.popleft())
            amount -= first.size
        return parts

    def _emit(self, v: int, one: EventSet, tick: int) -> None:
        for out in self.outputs[v]:
            if out.selectivity > 0:
                copy = EventSet(one.size * out.selectivity, one.birth, dict(one.totals))
                out.sent += copy.size
                out.sent_now += copy.size
                if out.links:
                    out.in_flight += copy.size
                    self._join(out.links[0], tick, out, copy)
                elif out.queue and out.queue[-1].since == tick:
                    out.queue[-1].absorb(copy)
                else:
                    copy.since = tick
                    out.queue.append(copy)

    def _join(self, link: int, tick: int, stream: PlainStream, one: EventSet) -> None:
        """Put a set on a link; what a stream puts there in one tick is one set."""
        waiting = self.links[link]
        for since, other, there in waiting:
            if since == tick and other is stream:
                there.absorb(one)
                return
        waiting.append((tick, stream, one))

    def _enqueue(self, one: PlainStream, arriving: EventSet) -> None:
        one.in_flight -= arriving.size
        one.queue.append(arriving)

    def _serve(self, link: int, tick: int, stage: int) -> None:
        """Let what joined a link in one tick share it, tick after tick, for a tick's time."""
        left, full = self.tick_s, False
        waiting = self.links[link]
        while waiting and left > 0:
            since = waiting[0][0]
            cohort = [item for item in waiting if item[0] == since]
            needed = sum(one.size * stream.seconds[stage] for _, stream, one in cohort)
            share = min(1.0, left / needed) if needed else 1.0
            full = len(waiting) > len(cohort) and needed >= left
            full = full or needed - left > 1e-9 * self.tick_s
            left -= share * needed
            for _, stream, one in cohort:
                passing = one if share == 1 else one.split(share)
                if stage + 1 < len(stream.links):
                    self._join(stream.links[stage + 1], tick, stream, passing)
                elif stream.delay:
                    stream.wire.append((tick + stream.delay, passing))
                else:
                    self._enqueue(stream, passing)
            if share == 1:
                for _ in cohort:
                    waiting.popleft()
            else:
                left = 0.0
        idle = self.link_held.get(link, 0.0) * left
        for column, seconds in (
            (self.link_busy_s, self.tick_s - left),
            (self.link_full_s, self.tick_s if full else 0.0),
            (self.link_stalled_s, idle),
        ):
            column[link] = column.get(link, 0.0) + seconds


class OpenWindow:
    """The slots of a windowed operator, and what it has to send."""

    def __init__(self, window: Window, tick_s: float) -> None:
        self.window = window
        self.advance = window.advance_s / tick_s
        self.closed = 1
        self.due = round(self.advance)
        self.slots: deque[list[EventSet]] = deque([[]], maxlen=window.slots)
        self.out: EventSet | None = None

    def close(self) -> None:
        """Make what is in the window ready to be sent."""
        everything = merged([one for slot in self.slots for one in slot])
        newest = merged(self.slots[-1])
        if everything.size > 0:
            count = self.window.count
            size = self.window.ratio * everything.size if count is None else count
            self.out = EventSet(size, everything.birth, newest.totals) if size > 0 else None
        self.slots.append([])
        self.closed += 1
        self.due = round(self.closed * self.advance)
