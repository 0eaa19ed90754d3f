"""Comparison of a placement's predictions with the measured use of a running job."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt

from streamplace.engines.flink.against.comparison import Against, DeviceUse, OperatorUse
from streamplace.engines.flink.against.costs_off import (
    SMALLEST,
    Factor,
    Off,
    differs,
    split,
    tasks_off,
)
from streamplace.engines.flink.against.predicted import (
    Predicted,
    devices_of_hosts,
    note_on_misplaced,
)
from streamplace.engines.flink.applying.preflight import names_in_plan
from streamplace.errors import BackendError, ProblemError
from streamplace.formats.profiling.estimates import Estimate
from streamplace.formats.profiling.profile import JobUse, Task
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import Distribution
from streamplace.problem.placement import Placement

NO_NOISE = "too few readings for their noise, so they are not judged; increase --seconds"


def check_operators(placement: Placement, in_job: Sequence[str]) -> None:
    """Raise ProblemError if a job has none of a placement's operators."""
    owners = dict.fromkeys(placement.problem.graph.owners)
    if not names_in_plan(owners, in_job):
        raise ProblemError(
            f"the job has none of the operators {listed(owners)}; it has {listed(in_job)}"
        )


def compare(placement: Placement, use: JobUse) -> Against:
    """Compare the predictions for a placement with what a job uses.

    Predictions are those of ``bottleneck`` at the measured rates of the sources. A number is off if
    it differs from the measured one by more than three standard errors, and by 20% (costs) or 10%
    (selectivities and shares). If most tasks of one device, or of all, differ by the same factor,
    the speed of the device, or of all, is off.

    Raises
    ------
    ProblemError
        If the job has none of the placement's operators.
    BackendError
        If the source rate was not measured.
    """
    in_job = [each.name for each in use.profile.operators]
    check_operators(placement, in_job)
    return _Comparison(placement, use).result()


@dataclass(frozen=True)
class _Known:
    """A task whose operators, or some of them, are in the graph."""

    task: Task
    operators: tuple[str, ...]  # in the graph

    @property
    def name(self) -> str:
        return " -> ".join(self.operators)


class _Comparison:
    """A placement, a job, and which parts of them belong together."""

    def __init__(self, placement: Placement, use: JobUse) -> None:
        self.placement, self.use, self.cluster = placement, use, placement.problem.cluster
        self.in_job = {each.name: each for each in use.profile.operators}
        owners = dict.fromkeys(placement.problem.graph.owners)
        self.names = names_in_plan(owners, self.in_job)
        self.owner = {name: owner for owner, name in self.names.items()}
        self.device_of, self.how = devices_of_hosts(placement, use, self.names)
        self.predicted = Predicted(placement, self._source_rates())

    def result(self) -> Against:
        profile, problem = self.use.profile, self.placement.problem
        rows = tuple(self._operator(each) for each in self.tasks)
        speeds, rest = split([*self._factors()])
        off = [*self._speeds(speeds), *self._costs(speeds, rest, rows), *self._free(rows)]
        off += [*self._selectivities(), *self._source_shares()]
        off.sort(key=lambda each: -inf if not each.ratio else -abs(log(each.ratio)))
        missing = tuple(
            name for name in dict.fromkeys(problem.graph.owners) if name not in self.names
        )
        foreign = tuple(name for name in self.in_job if name not in self.owner)
        return Against(
            profile.source_rate,
            problem.source_rate,
            profile.seconds,
            profile.intervals,
            tuple(self._devices()),
            rows,
            tuple(off),
            missing,
            foreign,
            tuple(self._notes(missing, foreign, rows)),
        )

    @cached_property
    def tasks(self) -> list[_Known]:
        """The tasks of the job that have operators of the graph, upstream first."""
        order = {
            name: i for i, name in enumerate(dict.fromkeys(self.placement.problem.graph.owners))
        }
        known = [
            _Known(task, tuple(self.owner[name] for name in task.operators if name in self.owner))
            for task in self.use.tasks
        ]
        return sorted(
            (each for each in known if each.operators), key=lambda each: order[each.operators[0]]
        )

    def _source_rates(self) -> dict[str, float]:
        """Return source of the graph -> its measured tuples/s."""
        graph, found = self.placement.problem.graph, dict[str, float]()
        for owner in dict.fromkeys(graph.owners[v] for v in graph.sources):
            rate = self.in_job[self.names[owner]].rate if owner in self.names else None
            if rate is not None and rate.value is not None:
                found[owner] = rate.value
        if not sum(found.values()):
            why = self.use.profile.source_rate.why or "no source of the graph emitted tuples"
            raise BackendError(f"the source rate was not measured: {why}")
        return found

    def _graph_instructions(self, known: _Known) -> float:
        """Return the instructions of a task per tuple of its first operator, by the graph."""
        first = self._rate(known.task.operators[0])
        total = 0.0
        for name in known.operators:
            relative = 1.0 if len(known.task.operators) == 1 else self._rate(self.names[name])
            total += self.predicted.instructions[name] * relative
        return total if len(known.task.operators) == 1 else total / first if first else 0.0

    def _rate(self, in_job: str) -> float:
        """Return the tuples/s of an operator of the job: measured, else predicted."""
        value = self.in_job[in_job].rate.value
        if value is None:
            return self.predicted.tuples.get(self.owner.get(in_job, ""), 0.0)
        return value

    def _speed(self, known: _Known) -> float | None:
        """Return the instructions/s of the cores that a task runs on; None if unknown."""
        mips = {d.name: d.mips for d in self.cluster.devices}
        parts = known.task.parts
        if not parts or any(host not in self.device_of for host in parts):
            return None
        return 1e6 * sum(part.busy * mips[self.device_of[host]] for host, part in parts.items())

    def _operator(self, known: _Known) -> OperatorUse:
        first, speed = known.task.operators[0], self._speed(known)
        cost = known.task.seconds_per_tuple
        unknown = Estimate.missing("the devices of its TaskManagers are unknown")
        return OperatorUse(
            known.name,
            sum(self.predicted.cores[name] for name in known.operators),
            known.task.busy,
            self.predicted.tuples.get(self.owner.get(first, known.operators[0]), 0.0),
            self.in_job[first].rate,
            self._graph_instructions(known),
            unknown if speed is None else cost.times(speed),
        )

    def _devices(self) -> Iterator[DeviceUse]:
        host_of = {device: host for host, device in self.device_of.items()}
        for device in self.cluster.devices:
            host = host_of.get(device.name)
            predicted = self.predicted.of_devices[device.name]
            if host is None:
                yield DeviceUse(device.name, None, predicted, None)
                continue
            busy = [
                task.busy.value * task.parts[host].busy
                for task in self.use.tasks
                if host in task.parts and task.busy.value is not None
            ]
            yield DeviceUse(device.name, host, predicted, sum(busy) / device.cores)

    def _factors(self) -> Iterator[Factor]:
        """Yield how the CPU time per tuple differs, for each task on each of its devices."""
        mips = {d.name: d.mips for d in self.cluster.devices}
        for known in self.tasks:
            cost, graph = known.task.seconds_per_tuple, self._graph_instructions(known)
            busy = known.task.busy.value
            if not cost.known or cost.error is None or not busy or graph <= 0:
                continue
            for host, part in known.task.parts.items():
                device = self.device_of.get(host)
                if device is None or not part.tuples or not part.busy:
                    continue
                seconds = cost.known * part.busy / part.tuples
                error = cost.error / cost.known / sqrt(part.busy)
                ratio = seconds * mips[device] * 1e6 / graph
                yield Factor(known.name, device, log(ratio), error, busy * part.busy)

    def _speeds(self, speeds: Mapping[str | None, float]) -> Iterator[Off]:
        each = {d.name: d.mips for d in self.cluster.devices}
        alike = each[self.cluster.names[0]] if len(set(each.values())) == 1 else None
        for device, factor in speeds.items():
            mips = alike if device is None else each[device]
            measured = None if mips is None else mips * exp(-factor)
            yield Off("mips", device, mips, measured, exp(-factor))

    def _costs(
        self,
        speeds: Mapping[str | None, float],
        rest: Sequence[Factor],
        rows: Sequence[OperatorUse],
    ) -> Iterator[Off]:
        graph = {row.name: row.graph_instructions for row in rows}
        for name, factor in tasks_off(rest):
            mips = {
                device.mips * exp(-speeds.get(None, 0.0) - speeds.get(device.name, 0.0))
                for device in self.cluster.devices
                if any(each.task == name and each.device == device.name for each in rest)
            }
            ratio = exp(factor)
            speed = mips.pop() if len(mips) == 1 else None
            yield Off("instructions", name, graph[name], graph[name] * ratio, ratio, speed)

    def _free(self, rows: Sequence[OperatorUse]) -> Iterator[Off]:
        """Yield tasks that take CPU time although the graph says that they take none."""
        for row in rows:
            busy, error = row.measured.known, row.measured.error
            if row.graph_instructions or busy is None or error is None:
                continue
            if differs(row.measured, 0.0) and busy >= SMALLEST and row.instructions.known:
                yield Off("instructions", row.name, 0.0, row.instructions.known, None)

    def _selectivities(self) -> Iterator[Off]:
        graph = self.placement.problem.graph
        pairs = Counter((stream.source, stream.target) for stream in self.use.profile.streams)
        for stream in self.use.profile.streams:
            ends = self.owner.get(stream.source, ""), self.owner.get(stream.target, "")
            several = pairs[stream.source, stream.target] > 1
            if several or ends not in self.predicted.selectivity:
                continue
            copies = self._copies(stream.source, stream.target) if graph.instance_of else 1.0
            expected, measured = self.predicted.selectivity[ends], stream.selectivity.times(copies)
            if differs(measured, expected) and measured.known is not None:
                name = f"{ends[0]} -> {ends[1]}"
                ratio = measured.known / expected if expected else None
                yield Off("selectivity", name, expected, measured.known, ratio)

    def _copies(self, source: str, target: str) -> float:
        """Return the number of instances that each tuple on a stream of the job arrives at."""
        kinds = self.use.profile.logical.distributions.get((source, target), ())
        return (
            float(len(self.use.hosts.get(target, "1"))) if Distribution.BROADCAST in kinds else 1.0
        )

    def _source_shares(self) -> Iterator[Off]:
        graph = self.placement.problem.graph
        share = dict.fromkeys(self.predicted.sources, 0.0)
        for v in graph.sources:
            share[graph.owners[v]] += float(graph.source_share[v])
        rates = {name: self.in_job[self.names[name]].rate for name in share if name in self.names}
        values = [rate.value for rate in rates.values() if rate.value is not None]
        if len(values) < len(share):
            return
        total = sum(values)
        for name, rate in rates.items():
            measured = rate.times(1 / total)
            if differs(measured, share[name]) and measured.known is not None:
                ratio = measured.known / share[name] if share[name] else None
                yield Off("source_share", name, share[name], measured.known, ratio)

    def _notes(
        self, missing: Sequence[str], foreign: Sequence[str], rows: Sequence[OperatorUse]
    ) -> Iterator[str]:
        """Yield what could not be matched or measured, and what has finished."""
        yield from self.use.notes
        if missing:
            yield f"the job lacks operators of the placement: {listed(missing)}"
        if foreign:
            yield f"the placement lacks operators of the job: {listed(foreign)}"
        if self.how:
            yield self.how
        if unknown := [host for host in self.use.busy_hosts if host not in self.device_of]:
            yield f"no device stands for the TaskManagers {listed(unknown)}"
        if elsewhere := note_on_misplaced(self.placement, self.use, self.names, self.device_of):
            yield elsewhere
        if self.use.profile.source_rate.how == "bound":
            yield f"the source rate is {self.use.profile.source_rate.why}"
        reasons: dict[str, list[str]] = {}
        for row in rows:
            if row.instructions.why:
                reasons.setdefault(row.instructions.why, []).append(row.name)
            elif row.instructions.error is None:
                reasons.setdefault(NO_NOISE, []).append(row.name)
        for why, names in reasons.items():
            yield f"instructions of {listed(names)}: {why}"
