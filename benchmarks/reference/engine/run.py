"""One run of the plain engine, tick by tick."""

from collections import deque
from collections.abc import Iterable
from math import inf

import numpy as np

from benchmarks.reference.engine.links import Links
from benchmarks.reference.engine.sets import EventSet, merged
from benchmarks.reference.engine.streams import taken_first
from benchmarks.reference.engine.windows import OpenWindow
from benchmarks.reference.engine.wiring import Wiring
from streamplace.sim.engine.scene import Scene
from streamplace.sim.engine.settings import Settings
from streamplace.sim.flow import Flow


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
        latency = [float(x) for x in latency_s]
        self.wiring = Wiring(flow, self.device, latency, settings, tick_s, self.scene)
        self.inputs, self.outputs = self.wiring.inputs, self.wiring.outputs
        self.streams, self.order = self.wiring.streams, self.wiring.order
        self.backlog = dict.fromkeys(self.wiring.sources, 0.0)
        self.dropped = dict.fromkeys(self.backlog, 0.0)
        self.offered: dict[int, deque[EventSet]] = {v: deque() for v in self.backlog}
        receiving = set(range(flow.devices, 2 * flow.devices)) if flow.nic else set[int]()
        shared = (set(flow.up.tolist()), set(flow.down.tolist()))
        self.links = Links(self.streams, receiving, shared, tick_s)
        self.windows = {v: OpenWindow(w, tick_s) for v, w in self.scene.windows.items()}
        self.processed = [0.0] * flow.operators
        self.busy_s = [0.0] * flow.devices
        self.operator_busy_s = [0.0] * flow.operators
        self.blocked_s = [0.0] * flow.operators
        self.held = 0.0  # share of the current operator's work that a full queue holds up
        # tick, sink, stream or -1, tuples, latency
        self.arrivals: list[tuple[int, int, int, float, float]] = []
        # tick, sink, source, source tuples per path
        self.reached: list[tuple[int, int, int, float]] = []

    def run(self) -> None:
        """Run all ticks."""
        for tick in range(round(self.settings.first_duration_s / self.tick_s)):
            self._tick(tick)

    def _tick(self, tick: int) -> None:
        for one in self.streams:
            while one.wire and one.wire[0][0] < tick:
                one.arrive(one.wire.popleft()[1])
        self._offer(tick)
        speed_of = self._speeds(tick)
        self.speed_of = speed_of
        used = [0.0] * self.flow.devices
        self.links.held = {}
        self.now: dict[tuple[int, int], list[EventSet]] = {}
        self.own_left = [
            share * self.tick_s * speed_of[d]
            for share, d in zip(self.wiring.own_share, self.device, strict=True)
        ]
        grant = {
            v: self.wiring.share[v] * self.tick_s * speed_of[self.device[v]] for v in self.order
        }
        for turn in range(8):
            unmet = self._pass(tick, speed_of, grant, used, first=turn == 0)
            if self.settings.scheduler == "default":
                break
            rest = [self.tick_s * f - u for f, u in zip(speed_of, used, strict=True)]
            grant = self._grants(rest, unmet)
            if max(grant.values()) <= 1e-9 * self.tick_s:
                break
        for d in range(self.flow.devices):
            stopped_s = self.tick_s if any(self._has_work(v, d) for v in self.order) else 0.0
            self.busy_s[d] += used[d] / speed_of[d] if speed_of[d] else stopped_s
        self._drop()
        self._arrivals(tick)
        for one in self.streams:
            one.waited, one.sent_now = one.waiting, 0.0
        self.links.serve(tick)

    def _pass(
        self,
        tick: int,
        speed_of: list[float],
        grant: dict[int, float],
        used: list[float],
        first: bool,
    ) -> dict[int, float]:
        """Let every operator work; return the additional seconds that each could use."""
        unmet = {}
        for v in self.order:
            d = self.device[v]
            if speed_of[d] > 0:
                self.held = 0.0
                spent, unmet[v] = self._act(v, grant[v], tick)
                used[d] += spent
                self.operator_busy_s[v] += spent / speed_of[d]
                if first:
                    self.blocked_s[v] += self.held * self.tick_s
                    for link in {link for out in self.outputs[v] for link in out.links}:
                        self.links.held[link] = max(self.links.held.get(link, 0.0), self.held)
        return unmet

    def _has_work(self, v: int, d: int) -> bool:
        """Return whether operator v is on device d and has tuples to process or to send."""
        unsent = v in self.windows and self.windows[v].out is not None
        each = [one.waiting for one in self.inputs[v]]
        waiting = min(each, default=0.0) if self.flow.joins else sum(each)
        waiting += self.backlog.get(v, 0.0)
        return self.device[v] == d and (unsent or waiting > 1e-9)

    def _grants(self, rest: list[float], unmet: dict[int, float]) -> dict[int, float]:
        """Divide the rest of each device by shares; no operator gets more than it can use."""
        grant = dict.fromkeys(self.order, 0.0)
        for d, seconds in enumerate(rest):
            left = seconds
            hungry = {v: u for v, u in unmet.items() if u > 0 and self.device[v] == d}
            while hungry and left > 0:
                total = sum(self.wiring.share[v] for v in hungry)
                level = left / total if total else 0.0
                satisfied = [v for v, u in hungry.items() if u <= level * self.wiring.share[v]]
                for v in satisfied:
                    grant[v] = hungry.pop(v)
                    left -= grant[v]
                if not satisfied:
                    grant |= {v: level * self.wiring.share[v] for v in hungry}
                    break
        return grant

    def _arrivals(self, tick: int) -> None:
        for (v, e), sets in self.now.items():
            arriving = merged(sets)
            done = (tick + 0.5) * self.tick_s
            self.arrivals.append((tick, v, e, arriving.size, done - arriving.birth))
            for source, total in arriving.totals.items():
                self.reached.append((tick, v, source, total / self.wiring.paths[source][v]))

    def _offer(self, tick: int) -> None:
        edges = np.array([tick, tick + 1]) * self.tick_s
        for v in self.backlog:
            seconds = self.tick_s
            if v in self.scene.profiles:
                at = self.scene.profiles[v].seconds_at_full_rate(edges)
                seconds = float(at[1] - at[0])
            tuples = float(self.flow.source_tuples[v]) * seconds
            self.backlog[v] += tuples
            self.offered[v].append(EventSet(tuples, (tick + 0.5) * self.tick_s, {}))

    def _drop(self) -> None:
        """Drop tuples that exceed the queue of their source."""
        limit = self.settings.source_queue or inf
        for v in self.backlog:
            excess = max(0.0, self.backlog[v] - limit)
            self.dropped[v] += excess
            if excess:
                self.offered[v][-1].size -= excess
            self.backlog[v] = min(self.backlog[v], limit)

    def _speeds(self, tick: int) -> list[float]:
        """Return the speed of each device in a tick, relative to its normal speed."""
        speed_of = [1.0] * self.flow.devices
        for speed in sorted(self.scene.speeds, key=lambda speed: speed.from_s):
            if tick >= round(speed.from_s / self.tick_s):
                speed_of[speed.device] = speed.factor
        return speed_of

    def _act(self, v: int, budget: float, tick: int) -> tuple[float, float]:
        """Let an operator work; return the seconds used, and the additional ones it could use."""
        sent, short = self._send_windows(v, budget, tick) if v in self.windows else (0.0, 0.0)
        if v in self.windows and tick >= self.windows[v].due:
            return sent, short
        waiting = {one.number: one.waiting for one in self.inputs[v]}
        if self.flow.joins and waiting:
            waiting = dict.fromkeys(waiting, min(waiting.values()))
        tuples = self._joined(v, sum(waiting.values())) + self.backlog.get(v, 0.0)
        seconds = sum(waiting[one.number] * one.cost for one in self.inputs[v])
        seconds += self.backlog.get(v, 0.0) * self.wiring.source_cost[v]
        if tuples <= 0:
            return sent, short
        share = 1.0 if v in self.windows else self._share_that_fits(v, tuples)
        left = budget - sent
        own = tuples * self.wiring.own_cost[v]
        by_cores = min(1.0, self.own_left[v] / own) if own else 1.0
        fits, share = share, min(share, by_cores)
        unmet = max(0.0, share * seconds - left)
        if unmet:
            share = left / seconds
        elif fits < by_cores:
            affordable = min(by_cores, left / seconds) if seconds else by_cores
            self.held = 1.0 - share / affordable if affordable else 0.0
        if share > 0:
            self.own_left[v] -= share * own
            self._work_on(v, share, waiting, tick)
        return sent + share * seconds, unmet + short

    def _work_on(self, v: int, share: float, waiting: dict[int, float], tick: int) -> None:
        """Process a share of the tuples that wait for an operator."""
        parts: dict[int, list[EventSet]] = {}
        for one in self.inputs[v]:
            amount = share * waiting[one.number]
            one.taken += amount
            everything_waits = share == 1 and amount >= one.waiting
            parts[one.number] = one.take(inf if everything_waits else amount)
            for part in parts[one.number]:
                part.birth -= one.service_s / self.speed_of[self.device[v]]
        if v in self.backlog:
            emitted = share * self.backlog[v]
            self.backlog[v] -= emitted
            birth = (tick + 0.5) * self.tick_s
            taken = merged(taken_first(self.offered[v], emitted if share < 1 else inf))
            if self.settings.source_wait:
                birth = taken.birth
            birth -= self.wiring.service_s[v] / self.speed_of[self.device[v]]
            parts[-1] = [EventSet(emitted, birth, {v: emitted})]
        for part in (part for some in parts.values() for part in some):
            part.size = self._joined(v, part.size)
        everything = merged([one for some in parts.values() for one in some])
        self.processed[v] += everything.size
        if not self.outputs[v]:
            for e, some in parts.items():
                self.now.setdefault((v, e), []).extend(some)
        elif v in self.windows:
            self.windows[v].slots[-1].append(everything)
        else:
            self._emit(v, everything, tick)

    def _joined(self, v: int, tuples: float) -> float:
        """Return the tuples that an operator processes by taking so many from all its inputs."""
        return tuples / max(1, len(self.inputs[v])) if self.flow.joins else tuples

    def _send_windows(self, v: int, budget: float, tick: int) -> tuple[float, float]:
        """Send the output of a windowed operator, and close a window that is due.

        Returns the seconds used, and the additional seconds it could use.
        """
        window, used, short = self.windows[v], 0.0, 0.0
        for _ in range(2):
            if window.out:
                tuples = window.out.size
                share = self._share_that_fits(v, tuples)
                seconds = tuples * self.wiring.send_cost[v]
                if share < 1:
                    self.held = 1.0 - share
                if share * seconds > budget - used:
                    short += share * seconds - (budget - used)
                    share = (budget - used) / seconds
                if share > 0:
                    used += share * seconds
                    part = window.out.split(share)
                    part.birth += 0.5 * self.tick_s  # windows close at the start of a tick
                    self._emit(v, part, tick)
                    if share == 1:
                        window.out = None
            if window.out is None and tick >= window.due:
                window.close()
        return used, short

    def _share_that_fits(self, v: int, tuples: float) -> float:
        share = 1.0
        for one in self.outputs[v]:
            room = one.limit - one.waiting - one.in_flight
            if one.links and not self.settings.backpressure:
                room = one.limit - one.waited - one.sent_now
            if one.selectivity > 0:
                share = min(share, max(0.0, room) / (tuples * one.selectivity))
        return share

    def _emit(self, v: int, one: EventSet, tick: int) -> None:
        for out in self.outputs[v]:
            if out.selectivity > 0:
                copy = EventSet(one.size * out.selectivity, one.birth, dict(one.totals))
                out.sent += copy.size
                out.sent_now += copy.size
                if out.links:
                    out.in_flight += copy.size
                    self.links.join(out.links[0], tick, out, copy)
                elif out.queue and out.queue[-1].since == tick:
                    out.queue[-1].absorb(copy)
                else:
                    copy.since = tick
                    out.queue.append(copy)
