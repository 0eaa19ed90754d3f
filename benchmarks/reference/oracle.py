"""An independent scorer in plain Python, from the equations in sim/README.md.

It shares no code with `sim`.

Utilisations are exact: fractions computed from the floats of the problem. The path-average
equations are solved by damped iteration, which is slow.
"""

from collections.abc import Sequence
from fractions import Fraction

from benchmarks.reference.oracle_messages import Flowing, messages
from streamplace.problem.cluster import Device
from streamplace.problem.graph import Operator, Stream
from streamplace.problem.problem import Problem

RESIDUAL = 1e-13  # up to which the path-average equations count as solved


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
        used = min(operator.cores, device.cores)
        busy = rates[operator.name] * seconds_of(operator, device)
        on_device[device.name] += busy * used / device.cores
    cores = {device.name: device.cores for device in problem.cluster.devices}
    for message in messages(problem, flowing(problem, place)):
        for name, seconds in message.cpu:
            on_device[name] += seconds / cores[name]
        for delivery in message.deliveries:
            for link in delivery.path:
                on_link[link.name] = on_link.get(link.name, Fraction(0)) + link.busy
    return on_device, on_link


def seconds_of(operator: Operator, device: Device) -> Fraction:
    """Return the seconds that a tuple takes on the cores of a device that an operator uses."""
    if device.kind is not None and (stated := operator.seconds_on.get(device.kind)) is not None:
        return Fraction(stated)
    speed = Fraction(device.mips) * 1_000_000 * min(operator.cores, device.cores)
    return Fraction(operator.instructions) / speed


def flowing(problem: Problem, place: dict[str, Device]) -> list[Flowing]:
    """Return all streams at the offered rate, with the devices at their ends."""
    rates, made = operator_rates(problem), []
    payload = {operator.name: operator.payload_bytes for operator in problem.graph.operators}
    for index, stream in enumerate(problem.graph.streams):
        tuples = rates[stream.source] * selectivity_of(problem, stream)
        own = stream.payload_bytes
        size = tuples * Fraction(payload[stream.source] if own is None else own)
        ends = (place[stream.source], place[stream.target])
        made.append(Flowing(index, stream.source, *ends, tuples, size))
    return made


def selectivity_of(problem: Problem, stream: Stream) -> Fraction:
    """Return the tuples on a stream per tuple that its source processes."""
    return Fraction(1 if problem.graph.firing == "all" else stream.selectivity)


def own_utilisations(problem: Problem, devices: Sequence[int]) -> dict[str, Fraction]:
    """Return the utilisation of the cores that each operator may use, if they are not all cores."""
    place, rates = _place(problem, devices), operator_rates(problem)
    own = {}
    for operator in problem.graph.operators:
        device = place[operator.name]
        if operator.cores < device.cores:
            own[operator.name] = rates[operator.name] * seconds_of(operator, device)
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
        self.joins = problem.graph.firing == "all"
        nominal = operator_rates(problem)
        self.paths: dict[int, list[tuple[str, float]]] = {}
        for message in messages(problem, flowing(problem, place)):
            for delivery in message.deliveries:
                for number, one in enumerate(delivery.streams):
                    busy = [r.busy if number == 0 else 0 for r in delivery.path]
                    passes = zip(delivery.path, busy, strict=True)
                    share = [(r.name, float(used / nominal[one.source])) for r, used in passes]
                    self.paths[one.index] = share
        self.names = sorted({name for path in self.paths.values() for name, _ in path})
        position = {name: i for i, name in enumerate(upstream_first(problem))}
        rows = enumerate(problem.graph.streams)
        ordered = sorted(rows, key=lambda row: position[row[1].source])
        self.streams = [
            (s.source, s.target, float(selectivity_of(problem, s)), self.paths.get(i, []))
            for i, s in ordered
        ]

    def flow(self, scale: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the tuples/s of every operator and the utilisation offered to every link.

        A link is offered its share of the load at the offered rate: the share of the tuples that
        the producer still processes and that links before have passed on.
        """
        arrived: dict[str, list[float]] = {v: [r] for v, r in self.sources.items() if r > 0}
        offered = dict.fromkeys(self.names, 0.0)
        for source, target, selectivity, passes in self.streams:
            share = self._taken(arrived.get(source, []))
            for name, busy in passes:
                offered[name] += share * busy
                share *= scale[name]
            arrived.setdefault(target, []).append(share * selectivity)
        return {v: self._taken(arrived.get(v, [])) for v in self.sources}, offered

    def _taken(self, arrived: list[float]) -> float:
        """Return the tuples/s that an operator processes of what its inputs bring."""
        if self.joins:
            return min(arrived, default=0.0)
        return sum(arrived)

    def residual(self, scale: dict[str, float]) -> float:
        """Return the largest difference between a scale and what its offered load requires.

        Links that no message occupies need a scale of 1.
        """
        _, offered = self.flow(scale)
        shares = ((s, offered.get(name, 0.0)) for name, s in scale.items())
        return max((abs(s - 1 / max(1.0, load)) for s, load in shares), default=0.0)

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
    if graph.firing == "all":
        fed = {stream.target for stream in graph.streams}
        rate = Fraction(problem.source_rate)
        return {o.name: rate * (o.name not in fed) for o in graph.operators}
    shares = zip(graph.operators, graph.source_share.tolist(), strict=True)
    return {o.name: Fraction(problem.source_rate) * Fraction(share) for o, share in shares}


def operator_rates(problem: Problem) -> dict[str, Fraction]:
    """Return the tuples/s that every operator processes at the offered rate."""
    rates = source_rates(problem)
    if problem.graph.firing == "all":
        return dict.fromkeys(rates, Fraction(problem.source_rate))
    streams = tuple(problem.graph.streams)  # made once, since the graph makes them anew
    for name in upstream_first(problem):
        for stream in streams:
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


def _place(problem: Problem, devices: Sequence[int]) -> dict[str, Device]:
    operators = problem.graph.operators
    return {o.name: problem.cluster.devices[d] for o, d in zip(operators, devices, strict=True)}
