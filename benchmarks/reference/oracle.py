"""An independent scorer in plain Python, from the equations in sim/README.md.

It shares no code with `sim`.

Utilisations are exact: fractions computed from the floats of the problem. The path-average
equations are solved by damped iteration, which is slow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from streamplace.problem.cluster import Device, LinkOverride
from streamplace.problem.problem import Problem

RESIDUAL = 1e-13  # up to which the path-average equations count as solved


@dataclass(frozen=True)
class Link:
    """A resource of the network that a stream crosses."""

    name: str
    bandwidth_mbps: float | None
    overhead_s: float
    gap_s: float
    shared: bool = False  # whether it is the uplink or downlink of a group of devices

    def seconds(self, payload_bytes: float) -> Fraction:
        """Return the seconds for which one tuple occupies the link."""
        if self.bandwidth_mbps is None:
            return Fraction(self.gap_s)
        per_second = Fraction(self.bandwidth_mbps) * 1_000_000
        return Fraction(self.gap_s) + 8 * Fraction(payload_bytes) / per_second


def utilisations(
    problem: Problem, devices: Sequence[int]
) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return the utilisation of every device, and of every link that carries tuples."""
    place = _place(problem, devices)
    rates = operator_rates(problem)
    on_device = {device.name: Fraction(0) for device in problem.cluster.devices}
    on_link: dict[str, Fraction] = {}
    for operator in problem.graph.operators:
        device = place[operator.name]
        capacity = Fraction(device.mips) * 1_000_000 * device.cores
        load = rates[operator.name] * Fraction(operator.instructions)
        on_device[device.name] += load / capacity
    for stream in problem.graph.streams:
        rate = rates[stream.source] * Fraction(stream.selectivity)
        crossed = _crossed(problem, place[stream.source], place[stream.target])
        if not crossed or rate == 0:
            continue
        own = [link for link in crossed if not link.shared]
        for device, link in ((place[stream.source], own[0]), (place[stream.target], own[-1])):
            on_device[device.name] += rate * Fraction(link.overhead_s) / device.cores
        payload = payload_of(problem, stream.source, stream.payload_bytes)
        for link in crossed:
            on_link[link.name] = on_link.get(link.name, Fraction(0)) + rate * link.seconds(payload)
    return on_device, on_link


def own_utilisations(problem: Problem, devices: Sequence[int]) -> dict[str, Fraction]:
    """Return the utilisation of the cores that each operator may use, if they are not all cores."""
    place, rates = _place(problem, devices), operator_rates(problem)
    own = {}
    for operator in problem.graph.operators:
        device = place[operator.name]
        if operator.cores < device.cores:
            speed = Fraction(device.mips) * 1_000_000 * operator.cores
            own[operator.name] = rates[operator.name] * Fraction(operator.instructions) / speed
    return own


def throughput(problem: Problem, devices: Sequence[int]) -> float:
    """Return the throughput (tuples/s) under the problem's model, ignoring headroom."""
    if problem.model == "bottleneck":
        return float(bottleneck(problem, devices))
    return path_average(problem, devices)


def bottleneck(problem: Problem, devices: Sequence[int]) -> Fraction:
    """Return the throughput (tuples/s) if the largest utilisation throttles all sources equally."""
    on_device, on_link = utilisations(problem, devices)
    own = own_utilisations(problem, devices)
    worst = max([*on_device.values(), *on_link.values(), *own.values()])
    return Fraction(problem.source_rate) / max(Fraction(1), worst)


def path_average(problem: Problem, devices: Sequence[int]) -> float:
    """Return the throughput (tuples/s) without backpressure over the network."""
    equations = Equations(problem, devices)
    rates, _ = equations.flow(equations.solve())
    sinks = {o.name for o in problem.graph.operators}
    sinks -= {stream.source for stream in problem.graph.streams}
    nominal = operator_rates(problem)
    reached = sum(rates[name] for name in sinks)
    return problem.source_rate * reached / float(sum(nominal[name] for name in sinks))


class Equations:
    """The path-average equations.

    Each link scales the rate of what it carries, and the scales determine the utilisation that is
    offered to each link.
    """

    def __init__(self, problem: Problem, devices: Sequence[int]) -> None:
        place = _place(problem, devices)
        on_device, _ = utilisations(problem, devices)
        own = own_utilisations(problem, devices)
        throttle = float(max(Fraction(1), *on_device.values(), *own.values()))
        self.sources = {v: float(r) / throttle for v, r in source_rates(problem).items()}
        self.names: list[str] = []
        self.streams: list[tuple[str, str, float, list[tuple[str, float]]]] = []
        position = {name: i for i, name in enumerate(upstream_first(problem))}
        for stream in sorted(problem.graph.streams, key=lambda s: position[s.source]):
            payload = payload_of(problem, stream.source, stream.payload_bytes)
            crossed = _crossed(problem, place[stream.source], place[stream.target])
            passes = [(link.name, float(link.seconds(payload))) for link in crossed]
            self.streams.append((stream.source, stream.target, stream.selectivity, passes))
            self.names += [name for name, _ in passes if name not in self.names]

    def flow(self, scale: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the tuples/s of every operator and the utilisation offered to every link."""
        rates = dict(self.sources)
        offered = dict.fromkeys(self.names, 0.0)
        for source, target, selectivity, passes in self.streams:
            tuples = rates[source] * selectivity
            for name, seconds in passes:
                offered[name] += tuples * seconds
                tuples *= scale[name]
            rates[target] += tuples
        return rates, offered

    def residual(self, scale: dict[str, float]) -> float:
        """Return the largest difference between a scale and what its offered load requires."""
        _, offered = self.flow(scale)
        return max((abs(scale[x] - 1 / max(1.0, offered[x])) for x in scale), default=0.0)

    def solve(self, start: float = 1.0) -> dict[str, float]:
        """Return scales with a residual of at most `RESIDUAL`.

        A damping is kept while the residual falls; otherwise the damping becomes stronger.
        """
        for halvings in range(1, 12):
            scale, last = dict.fromkeys(self.names, start), 2.0
            while (residual := self.residual(scale)) < 0.9 * last:
                if residual <= RESIDUAL:
                    return scale
                last = residual
                for _ in range(100 * 2**halvings):
                    _, offered = self.flow(scale)
                    for name in scale:
                        missing = 1 / max(1.0, offered[name]) - scale[name]
                        scale[name] += 0.5**halvings * missing
        raise AssertionError("the oracle found no solution")


def source_rates(problem: Problem) -> dict[str, Fraction]:
    """Return the tuples/s offered to every operator from outside."""
    graph = problem.graph
    shares = zip(graph.operators, graph.source_share.tolist(), strict=True)
    return {o.name: Fraction(problem.source_rate) * Fraction(share) for o, share in shares}


def operator_rates(problem: Problem) -> dict[str, Fraction]:
    """Return the tuples/s that every operator processes at the offered rate."""
    rates = source_rates(problem)
    for name in upstream_first(problem):
        for stream in problem.graph.streams:
            if stream.source == name:
                rates[stream.target] += rates[name] * Fraction(stream.selectivity)
    return rates


def upstream_first(problem: Problem) -> list[str]:
    """Return the names of the operators in topological order."""
    waits = {o.name: 0 for o in problem.graph.operators}
    targets: dict[str, list[str]] = {name: [] for name in waits}
    for stream in problem.graph.streams:
        waits[stream.target] += 1
        targets[stream.source].append(stream.target)
    order = [name for name, count in waits.items() if count == 0]
    for name in order:  # grows during the loop
        for target in targets[name]:
            waits[target] -= 1
            if waits[target] == 0:
                order.append(target)
    return order


def payload_of(problem: Problem, source: str, own: float | None) -> float:
    """Return the bytes of a tuple on a stream from `source`."""
    if own is not None:
        return own
    return next(o.payload_bytes for o in problem.graph.operators if o.name == source)


def _place(problem: Problem, devices: Sequence[int]) -> dict[str, Device]:
    operators = problem.graph.operators
    return {o.name: problem.cluster.devices[d] for o, d in zip(operators, devices, strict=True)}


def _crossed(problem: Problem, a: Device, b: Device) -> list[Link]:
    """Return the links that a tuple from a to b passes, in order; none within a device."""
    if a.name == b.name:
        return []
    if problem.cluster.network.kind == "pair":
        return [_link(problem, a, b), *_uplinks(problem, a, b)]
    return [_link(problem, a, None), *_uplinks(problem, a, b), _link(problem, None, b)]


def _uplinks(problem: Problem, a: Device, b: Device) -> list[Link]:
    """Return the limited links that the groups of a and b share, if they differ."""
    if a.group == b.group:
        return []
    rates = {uplink.group: uplink for uplink in problem.cluster.network.uplinks}
    made = []
    if a.group in rates and rates[a.group].up_mbps is not None:
        made.append(Link(f"group:{a.group}->", rates[a.group].up_mbps, 0.0, 0.0, True))
    if b.group in rates and rates[b.group].down_mbps is not None:
        made.append(Link(f"->group:{b.group}", rates[b.group].down_mbps, 0.0, 0.0, True))
    return made


def _link(problem: Problem, a: Device | None, b: Device | None) -> Link:
    """Return a link with its values: the most specific override that has one, or the network's."""
    network = problem.cluster.network
    values = []
    for name in ("bandwidth_mbps", "overhead_s", "gap_s"):
        value, known = getattr(network, name), -1
        for override in network.overrides:
            named = sum(end is not None for end in (override.source, override.target))
            own = getattr(override, name)
            if own is not None and named >= known and _is_for(override, a, b):
                value, known = own, named
        values.append(value)
    bandwidth, overhead, gap = values
    source, target = (end.name if end else "" for end in (a, b))
    return Link(f"{source}->{target}", bandwidth, overhead or 0.0, gap or 0.0)


def _is_for(override: LinkOverride, a: Device | None, b: Device | None) -> bool:
    ends = (
        (override.source, override.source_group, a),
        (override.target, override.target_group, b),
    )
    for name, group, device in ends:
        if device is None:
            if name is not None or group is not None:
                return False
        elif device.name != name and (group is None or device.group != group):
            return False
    return True
