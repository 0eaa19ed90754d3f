"""The constants of a run: costs, shares of devices, queues, and the order of operators."""

from math import floor, inf

from benchmarks.reference.engine.streams import PlainStream
from benchmarks.reference.engine.windows import mean_output
from streamplace.sim.engine.scene import Scene
from streamplace.sim.engine.settings import Settings
from streamplace.sim.engine.tables import Places
from streamplace.sim.flow import ALL, NONE, Flow


class Wiring:
    """A placed job: its streams, order of operators, costs, shares of devices, and queue sizes."""

    def __init__(
        self,
        flow: Flow,
        device: list[int],
        latency: list[float],
        settings: Settings,
        tick_s: float,
        scene: Scene,
    ) -> None:
        self.flow, self.settings, self.tick_s, self.scene = flow, settings, tick_s, scene
        self.device, self.latency = device, latency
        self.streams = [self._stream(e) for e in range(len(flow.source))]
        self._share_messages()
        every = range(flow.operators)
        self.inputs = {v: [s for s in self.streams if s.target == v] for v in every}
        self.outputs = {v: [s for s in self.streams if s.source == v] for v in every}
        self.sources = [v for v in every if not self.inputs[v]]
        self.order = self._order()
        self.send_cost = [0.0] * flow.operators
        self.source_cost = [0.0] * flow.operators
        self.own_cost = [0.0] * flow.operators
        self.own_share = [inf] * flow.operators
        self.service_s = [0.0] * flow.operators
        self._costs()
        self.share = self._shares()
        self._queues()
        self.paths = {v: self._paths(v) for v in self.sources}

    def _stream(self, e: int) -> PlainStream:
        flow = self.flow
        v, w = int(flow.source[e]), int(flow.target[e])
        a, b = self.device[v], self.device[w]
        links: list[int] = []
        if a != b:
            links = [a] if flow.nic else [a * flow.devices + b]  # whose numbers count
            if flow.uplinks:
                links += [int(flow.up[a])] if flow.up[a] not in (-1, flow.up[b]) else []
                links += [int(flow.down[b])] if flow.down[b] not in (-1, flow.down[a]) else []
            links += [flow.devices + b] if flow.nic else []
        seconds = [float(flow.gap_s[i] + flow.bits[e] * flow.seconds_per_bit[i]) for i in links]
        latency = max((self.latency[i] for i in links), default=0.0)
        delay = floor(latency / self.tick_s + 1e-9)
        one = PlainStream(e, v, w, float(flow.selectivity[e]), links, seconds, delay)
        one.latency_s = latency
        if links:
            bits = float(flow.bits[e])
            one.send_o = float(flow.overhead_s[links[0]] + bits * flow.overhead_s_per_bit[a])
            last = links[-1] if flow.nic else links[0]
            one.receive_o = float(flow.overhead_s[last] + bits * flow.overhead_s_per_bit[b])
            one.saved_s = (1 + delay) * self.tick_s - one.send_o - sum(seconds) - latency
            if flow.egress:
                one.links = [a, *links[1:]]
        one.pay_send_o, one.pay_receive_o = one.send_o, one.receive_o
        return one

    def _share_messages(self) -> None:
        """Let streams that share a message travel with it, and one of them pay for it."""
        flow, groups = self.flow, dict[tuple[int, ...], list[PlainStream]]()
        for number in Places.of(flow).stream.tolist():  # the first in the engine's order pays
            one = self.streams[number]
            if one.links and flow.stream_tuples[one.number] > 0:
                to = () if flow.multicast == ALL else (self.device[one.target],)
                groups.setdefault((one.source, *to), []).append(one)
        for sharing in groups.values() if flow.multicast != NONE else ():
            most = max(one.selectivity for one in sharing)
            bits = max(one.selectivity * float(flow.bits[one.number]) for one in sharing)
            paid = set[int]()
            reached = set[int]()
            owed = max(self._own_seconds(one, most, bits)[1][0] for one in sharing)
            asked = max(self._own_seconds(one, most, bits)[0] for one in sharing)
            for one in sharing:
                send_o, seconds, receive_o = self._own_seconds(one, most, bits)
                first = self.device[one.target] not in reached
                reached.add(self.device[one.target])
                one.seconds = [
                    (x if first and link not in paid else 0.0) / one.selectivity
                    for link, x in zip(one.links, seconds, strict=True)
                ]
                if len(reached) == 1 and first and (flow.nic or flow.egress):
                    one.seconds[0] = owed / one.selectivity
                one.pay_send_o = asked / one.selectivity if not paid else 0.0
                paid |= set(one.links) if first else set()
                one.pay_receive_o = receive_o / one.selectivity if first else 0.0
                one.receive_o = receive_o / most
                travel = (send_o + sum(seconds)) / most + one.latency_s
                one.saved_s = (1 + one.delay) * self.tick_s - travel

    def _own_seconds(
        self, one: PlainStream, tuples: float, bits: float
    ) -> tuple[float, list[float], float]:
        """Return the seconds of a message to a stream's device, for one tuple of its source.

        They are the CPU seconds of its sender, those on each link, and the CPU seconds of its
        receiver.
        """
        flow, a, b = self.flow, self.device[one.source], self.device[one.target]
        links = list(one.links)
        if flow.egress:
            links[0] = a * flow.devices + b
        last = links[-1] if flow.nic else links[0]
        seconds = [float(tuples * flow.gap_s[i] + bits * flow.seconds_per_bit[i]) for i in links]
        sending = tuples * flow.overhead_s[links[0]] + bits * flow.overhead_s_per_bit[a]
        receiving = tuples * flow.overhead_s[last] + bits * flow.overhead_s_per_bit[b]
        return float(sending), seconds, float(receiving)

    def _order(self) -> list[int]:
        """Return the operators in topological order."""
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
            own = self.own_cost[v] = self._instructions(v, d) / float(flow.capacity[d])
            if flow.operator_cores[v] < flow.cores[d]:
                self.own_share[v] = float(flow.operator_cores[v] / flow.cores[d])
            cores = min(float(flow.operator_cores[v]), float(flow.cores[d]))
            self.service_s[v] = own * float(flow.cores[d]) / cores
            for out in self.outputs[v]:
                if out.links:
                    self.send_cost[v] += out.selectivity * out.pay_send_o / float(flow.cores[d])
            sending = 0.0 if v in self.scene.windows else self.send_cost[v]
            self.source_cost[v] = own + self.send_cost[v]
            for one in self.inputs[v]:
                one.cost = (own + sending) / (len(self.inputs[v]) if flow.joins else 1)
                one.service_s = self.service_s[v]
                if one.links:
                    one.service_s += one.receive_o
                    one.cost += one.pay_receive_o / float(flow.cores[d])

    def _instructions(self, v: int, d: int) -> float:
        flow = self.flow
        if len(flow.timed) and flow.timed[v] >= 0:
            stated = float(flow.timed_instructions[flow.timed[v], flow.class_of[d]])
            return stated if stated < inf else float(flow.instructions[v])
        return float(flow.instructions[v])

    def _shares(self) -> list[float]:
        flow = self.flow
        weight = [1.0] * flow.operators
        rate = [float(x) for x in flow.source_tuples]
        output = list(rate)
        for v in self.order:
            seconds = rate[v] * self.source_cost[v]
            for one in self.inputs[v]:
                one.rate = output[one.source] * one.selectivity
                rate[v] = max(rate[v], one.rate) if flow.joins else rate[v] + one.rate
                seconds += one.rate * one.cost
            output[v] = rate[v]
            if v in self.scene.windows:
                output[v] = mean_output(self.scene.windows[v], rate[v])
                seconds += output[v] * self.send_cost[v]
            if self.settings.allocation == "weighted":
                weight[v] = seconds
        total = [0.0] * flow.devices
        for v, d in enumerate(self.device):
            total[d] += weight[v]
        return [weight[v] / total[d] if total[d] else 0.0 for v, d in enumerate(self.device)]

    def _queues(self) -> None:
        """Set the queue size of every stream: the setting, for the busiest input of an operator.

        The other inputs get a part of it in proportion to their rates, but at least room for twice
        the tuples that can arrive at once (from a window or a tick upstream), within the setting.
        """
        peak = max([1.0, *(x for p in self.scene.profiles.values() for x in p.factor)])
        gathers = [self.tick_s] * self.flow.operators
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
                one.limit = min(self.settings.queue, max(part * self.settings.queue, at_once))
                one.limit += one.rate * one.latency_s
                if not self.settings.queue:
                    one.limit = inf

    def _paths(self, source: int) -> list[int]:
        """Return the number of paths from a source to each operator."""
        paths = [0] * self.flow.operators
        paths[source] = 1
        for v in self.order:
            for one in self.inputs[v]:
                paths[v] += paths[one.source]
        return paths
