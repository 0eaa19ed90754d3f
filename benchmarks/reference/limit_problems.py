"""Random small problems in which one kind of limit matters, and what all their placements do.

Every placement is tried. Loads come from `oracle`, and every rule is checked by its name and its
definition in docs/constraints.md, without code of the product.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import count, product
from typing import Any

import numpy as np

from benchmarks.reference.oracle import own_utilisations, utilisations
from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.jobs.jobs import Job, Jobs
from streamplace.problem.cluster import Uplink
from streamplace.problem.network import NetworkKind
from streamplace.util.arrays import Bools, Floats

LIMITS = ("slots", "memory", "resources", "labels", "exlocate", "groups", "cores", "uplinks")
NETWORKS: tuple[NetworkKind, ...] = ("pair", "nic", "egress", "free")
SECOND = 10_000  # added to the seeds of the second of two jobs
UNLIMITED = 1e15  # tuples/s, the highest source rate of an objective
Obeys = Callable[[Mapping[str, str]], bool]


@dataclass(frozen=True)
class Case:
    """A graph and a cluster, on which there may be no placement."""

    graph: StreamGraph
    cluster: Cluster

    @property
    def rate(self) -> float:
        """The source rate in tuples/s."""
        assert self.graph.source_rate is not None
        return self.graph.source_rate

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """All K placements: the device of each operator."""
        return list(product(range(len(self.cluster.devices)), repeat=len(self.graph.names)))

    @cached_property
    def obeyed(self) -> dict[str, Bools]:
        """Rule -> whether each placement obeys it, (K,)."""
        devices, names = self.cluster.names, self.graph.names
        on = [{v: devices[d] for v, d in zip(names, row, strict=True)} for row in self.rows]
        return {name: np.array([obeys(one) for one in on]) for name, obeys in self.rules.items()}

    def satisfying(self, rules: Iterable[str] | None = None) -> Bools:
        """Return which placements obey some rules, (K,); None: all rules."""
        chosen = self.obeyed if rules is None else rules
        fine: Bools = np.ones(len(self.rows), dtype=np.bool_)
        for name in chosen:
            fine &= self.obeyed[name]
        return fine

    @cached_property
    def loads(self) -> list[tuple[dict[str, Fraction], dict[str, Fraction]]]:
        """The utilisations of devices and links, and of the cores of single operators, (K,)."""
        plain = [
            replace(row, memory_bytes=0.0, requires=(), resources={})
            for row in self.graph.operators
        ]
        roomy = [replace(d, memory_bytes=None, slots=None) for d in self.cluster.devices]
        shares = {self.graph.names[v]: self.graph.source_share[v] for v in self.graph.sources}
        graph = StreamGraph(plain, self.graph.streams, source_rate=self.rate, source_shares=shares)
        problem = Problem(graph, Cluster(roomy, self.cluster.network))
        found = []
        for row in self.rows:
            on_device, on_link = utilisations(problem, row)
            own = {f"{v} alone": used for v, used in own_utilisations(problem, row).items()}
            found.append(({**on_device, **on_link}, own))
        return found

    @cached_property
    def highest(self) -> Floats:
        """The source rate in tuples/s that each placement sustains, at most `UNLIMITED`, (K,)."""
        worst = [float(max([*used.values(), *own.values()])) for used, own in self.loads]
        return np.array([min(self.rate / w, UNLIMITED) if w else UNLIMITED for w in worst])

    @cached_property
    def used(self) -> list[frozenset[int]]:
        """The devices that each placement uses, (K,)."""
        return [frozenset(row) for row in self.rows]

    def best(
        self, devices: Collection[int] | None = None, rules: Iterable[str] | None = None
    ) -> float:
        """Return the highest source rate that a placement on some devices sustains; 0: none does.

        Parameters
        ----------
        devices
            None: all devices.
        rules
            The rules that must hold; None: all.
        """
        fine = self.satisfying(rules)
        if devices is not None:
            fine = fine & np.array([used <= frozenset(devices) for used in self.used])
        return float(self.highest[fine].max(initial=0.0))

    @property
    def rules(self) -> dict[str, Obeys]:
        """Every rule of the problem by its name: whether operator -> device obeys it."""
        return {**self._of_devices(), **self._of_operators(), **self._of_groups()}

    def _of_devices(self) -> dict[str, Obeys]:
        found: dict[str, Obeys] = {}
        for device in self.cluster.devices:
            name, amounts = device.name, [o.memory_bytes for o in self.graph.operators]
            if device.memory_bytes is not None:
                found[f"memory of {name}"] = self._fits(name, amounts, device.memory_bytes)
            if device.slots is not None:
                ones = [1.0] * len(amounts)
                found[f"slots of {name}"] = self._fits(name, ones, device.slots)
            for kind in sorted({kind for o in self.graph.operators for kind in o.resources}):
                amounts = [o.resources.get(kind, 0.0) for o in self.graph.operators]
                room = device.resources.get(kind, 0.0)
                found[f"resources[{kind!r}] of {name}"] = self._fits(name, amounts, room)
        return found

    def _fits(self, device: str, amounts: Collection[float], room: float) -> Obeys:
        taken = (Fraction(repr(float(amount))) for amount in amounts)
        exact, most = dict(zip(self.graph.names, taken, strict=True)), Fraction(repr(float(room)))
        return lambda on: sum(exact[v] for v, d in on.items() if d == device) <= most

    def _of_operators(self) -> dict[str, Obeys]:
        found: dict[str, Obeys] = {}
        for row in self.graph.operators:
            if row.requires:
                carrying = [d.name for d in self.cluster.devices if {*row.requires} <= {*d.labels}]
                found[f"requires of {row.name}"] = partial(_is_among, row.name, carrying)
        rules = self.graph.constraints
        for name, device in rules.pins.items():
            found[f"constraints.pins[{name!r}]"] = partial(_is_among, name, [device])
        for name, devices in rules.allowed.items():
            found[f"constraints.allowed[{name!r}]"] = partial(_is_among, name, devices)
        return found

    def _of_groups(self) -> dict[str, Obeys]:
        found, rules, devices = dict[str, Obeys](), self.graph.constraints, self.cluster.devices
        itself = {d.name: ("", d.name) for d in devices}
        rack = {d.name: ("rack", d.group) if d.group else ("", d.name) for d in devices}
        for i, group in enumerate(rules.colocate):
            found[f"constraints.colocate[{i}]"] = partial(_use, group, itself, 1)
        for i, group in enumerate(rules.exlocate):
            found[f"constraints.exlocate[{i}]"] = partial(_use, group, itself, len(group))
        for i, group in enumerate(rules.apart_groups):
            found[f"constraints.apart_groups[{i}]"] = partial(_use, group, rack, len(group))
        return found


def _is_among(operator: str, devices: Collection[str], on: Mapping[str, str]) -> bool:
    return on[operator] in devices


def _use(
    group: Sequence[str], places: Mapping[str, tuple[str, str]], number: int, on: Mapping[str, str]
) -> bool:
    """Return whether a group of operators uses so many places."""
    return len({places[on[name]] for name in group}) == number


def limited(limit: str, seed: int, *, rules: float = 0.15, most: int = 4) -> Case:
    """Return a random case in which a kind of limit matters; in a third of them, a second one too.

    Parameters
    ----------
    limit
        One of `LIMITS`.
    rules
        The probability of each kind of constraint.
    most
        Largest number of operators and devices.
    """
    rng = np.random.default_rng((LIMITS.index(limit), seed))
    chosen = {limit} | ({str(rng.choice(LIMITS))} if rng.random() < 1 / 3 else set())
    names = [f"o{v}" for v in range(int(rng.integers(2, most + 1)))]
    devices = _devices(rng, chosen, int(rng.integers(2, most + 1)))
    kind = NETWORKS[int(rng.choice(4, p=[0.4, 0.3, 0.15, 0.15]))]
    network = Network(
        kind,
        bandwidth_mbps=_one(rng, [None, 1.0, 10.0, 100.0, 1000.0]),
        overhead_s=_one(rng, [0.0, 0.0, 2e-5]),
        uplinks=_uplinks(rng, devices) if "uplinks" in chosen else (),
    )
    graph = StreamGraph(
        _operators(rng, chosen, names),
        _streams(rng, names),
        source_rate=_one(rng, [100.0, 1000.0, 5000.0, 20_000.0]),
        constraints=_constraints(rng, chosen, names, [d.name for d in devices], rules),
    )
    return Case(graph, Cluster(devices, network))


def ungrouped(case: Case, name: str) -> Case:
    """Return a case without an operator in groups of constraints."""
    own = case.graph.constraints

    def others(groups: Sequence[Sequence[str]]) -> list[list[str]]:
        left = [[v for v in group if v != name] for group in groups]
        return [group for group in left if len(group) > 1]

    rules = Constraints(
        own.pins, others(own.colocate), others(own.exlocate), own.allowed, others(own.apart_groups)
    )
    graph = StreamGraph(
        case.graph.operators, case.graph.streams, source_rate=case.rate, constraints=rules
    )
    return Case(graph, case.cluster)


def doubled(case: Case, name: str) -> Case:
    """Return a case with two instances of an operator in no group, which share its tuples evenly.

    Pins and allowed devices of the operator are those of both instances.
    """
    own, pair = case.graph, [f"{name}[0]", f"{name}[1]"]

    def named(v: str) -> list[str]:
        return pair if v == name else [v]

    rows = [replace(row, name=v) for row in own.operators for v in named(row.name)]
    streams = [
        Stream(u, v, stream.selectivity / len(named(stream.target)), stream.payload_bytes)
        for stream in own.streams
        for u in named(stream.source)
        for v in named(stream.target)
    ]
    shares = {
        one: float(own.source_share[v]) / len(named(own.names[v]))
        for v in own.sources
        for one in named(own.names[v])
    }
    rules = replace(
        own.constraints,
        pins={one: d for v, d in own.constraints.pins.items() for one in named(v)},
        allowed={one: d for v, d in own.constraints.allowed.items() for one in named(v)},
    )
    graph = StreamGraph(
        rows, streams, source_rate=case.rate, source_shares=shares, constraints=rules
    )
    return Case(graph, case.cluster)


def two_limited(limit: str, seed: int) -> tuple[Jobs, Cluster]:
    """Return two random jobs of at most three operators, and a cluster in which a limit matters."""
    rng = np.random.default_rng((seed, LIMITS.index(limit), 2))
    first = limited(limit, seed, most=3)
    known, others = (
        {*first.cluster.names},
        (limited(limit, SECOND + i, most=3) for i in count(seed)),
    )
    second = next(o.graph for o in others if {*o.cluster.names} <= known)
    jobs = [
        Job(name, graph, priority=_one(rng, [0, 1]), weight=_one(rng, [1.0, 1.0, 2.0]))
        for name, graph in (("a", first.graph), ("b", second))
    ]
    if rng.random() < 0.3:
        jobs[0] = replace(jobs[0], min_throughput=first.rate * _one(rng, [0.3, 0.6, 1.0]))
    return Jobs(jobs), first.cluster


def joined(jobs: Jobs, cluster: Cluster) -> Case:
    """Return the case of all operators of several jobs, called ``job/operator``."""
    rows, rules = list[Operator](), list[Constraints]()
    for job in jobs:
        of, graph = dict(zip(job.graph.names, _names(job), strict=True)), job.graph
        rows += [replace(row, name=of[row.name]) for row in graph.operators]
        own = graph.constraints
        rules.append(
            Constraints(
                pins={of[v]: d for v, d in own.pins.items()},
                allowed={of[v]: d for v, d in own.allowed.items()},
                colocate=[[of[v] for v in group] for group in own.colocate],
                exlocate=[[of[v] for v in group] for group in own.exlocate],
                apart_groups=[[of[v] for v in group] for group in own.apart_groups],
            )
        )
    every = Constraints(
        pins={v: d for one in rules for v, d in one.pins.items()},
        allowed={v: d for one in rules for v, d in one.allowed.items()},
        colocate=[group for one in rules for group in one.colocate],
        exlocate=[group for one in rules for group in one.exlocate],
        apart_groups=[group for one in rules for group in one.apart_groups],
    )
    return Case(StreamGraph(rows, source_rate=1.0, constraints=every), cluster)


def _names(job: Job) -> list[str]:
    return [f"{job.name}/{name}" for name in job.graph.names]


def joint_loads(
    jobs: Jobs, cluster: Cluster, rows: Sequence[tuple[int, ...]]
) -> tuple[list[Floats], list[Floats]]:
    """Return the loads and caps of jobs under joint placements; see `two_jobs.shares_of_two`."""
    loads, alone, begin = list[Floats](), list[Floats](), 0
    cases = [Case(job.graph, cluster) for job in jobs]
    resources = sorted({name for case in cases for used, _ in case.loads for name in used})
    for case in cases:
        end = begin + len(case.graph.names)
        number = {row: k for k, row in enumerate(case.rows)}
        table = np.array([[float(used.get(r, 0)) for r in resources] for used, _ in case.loads])
        caps = np.array([float(1 / max([Fraction(1), *own.values()])) for _, own in case.loads])
        chosen = [number[row[begin:end]] for row in rows]
        loads.append(table[chosen])
        alone.append(caps[chosen])
        begin = end
    return loads, alone


def _one(rng: np.random.Generator, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def _devices(rng: np.random.Generator, chosen: set[str], number: int) -> list[Device]:
    """Return devices, in a third of the cases equal ones, in half of them with prices."""
    equal, priced = rng.random() < 1 / 3, rng.random() < 0.5
    made: list[Device] = []
    for d in range(number):
        if equal and made:
            made.append(replace(made[0], name=f"d{d}"))
            continue
        made.append(
            Device(
                f"d{d}",
                _one(rng, [500.0, 1000.0, 2000.0, 2500.0]),
                cores=_one(rng, [1, 2, 3]) if "cores" in chosen else 1,
                memory_bytes=_one(rng, [None, 2.0, 3.0, 5.0]) if "memory" in chosen else None,
                slots=_one(rng, [None, 0, 1, 2, 3]) if "slots" in chosen else None,
                resources={"gpu": _one(rng, [0.0, 0.7, 1.0, 2.0])} if "resources" in chosen else {},
                labels=("ssd",) if "labels" in chosen and rng.random() < 0.6 else (),
                group=_one(rng, [None, "r0", "r1"]) if chosen & {"groups", "uplinks"} else None,
                price=_one(rng, [0.0, 1.0, 1.5, 2.0, 4.0]) if priced else None,
            )
        )
    return made


def _uplinks(rng: np.random.Generator, devices: Sequence[Device]) -> tuple[Uplink, ...]:
    groups = sorted({d.group for d in devices if d.group})
    speeds = [None, 0.5, 5.0, 50.0]
    return tuple(Uplink(group, _one(rng, speeds), _one(rng, speeds)) for group in groups)


def _operators(rng: np.random.Generator, chosen: set[str], names: Sequence[str]) -> list[Operator]:
    idle = rng.random() < 0.1
    return [
        Operator(
            name,
            0.0 if idle or rng.random() < 0.2 else float(rng.integers(1, 30)) * 1e4,
            _one(rng, [0.0, 100.0, 1000.0, 20_000.0]),
            memory_bytes=_one(rng, [0.0, 1.0, 2.0]) if "memory" in chosen else 0.0,
            cores=_one(rng, [1, 1, 2]) if "cores" in chosen else 1,
            resources={"gpu": _one(rng, [0.0, 0.1, 0.6, 1.0])} if "resources" in chosen else {},
            requires=("ssd",) if "labels" in chosen and rng.random() < 0.4 else (),
        )
        for name in names
    ]


def _streams(rng: np.random.Generator, names: Sequence[str]) -> list[Stream]:
    return [
        Stream(names[int(rng.integers(v))], names[v], _one(rng, [0.5, 1.0, 1.0, 2.0]))
        for v in range(1, len(names))
        if rng.random() < 0.9
    ]


def _constraints(
    rng: np.random.Generator,
    chosen: set[str],
    names: Sequence[str],
    devices: Sequence[str],
    share: float,
) -> Constraints:
    def groups(probability: float) -> list[list[str]]:
        wanted = (rng.random(2) < [probability, probability / 3]).sum()
        return [_some(rng, names, int(rng.integers(2, 4))) for _ in range(wanted)]

    def each(values: Callable[[], Any]) -> dict[str, Any]:
        return {name: values() for name in names if rng.random() < share / 2}

    return Constraints(
        pins=each(lambda: _one(rng, devices)),
        allowed=each(lambda: _some(rng, devices, 2)),
        colocate=groups(share),
        exlocate=groups(1.0 if "exlocate" in chosen else share),
        apart_groups=groups(1.0 if "groups" in chosen else 0.0),
    )


def _some(rng: np.random.Generator, names: Sequence[str], most: int) -> list[str]:
    size = min(most, len(names))
    return [str(name) for name in rng.choice(names, size=size, replace=False)]
