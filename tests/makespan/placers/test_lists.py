"""List schedulers beside schedules that were published, and beside plain ones."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.makespan.placers.lists import Cpop, EarliestTaskFirst, Heft, Peft
from streamplace.placers.registry import make_placer
from streamplace.workflows.place import place_problem
from streamplace.workflows.value_result import MakespanResult


class Example(NamedTuple):
    """Seconds of tasks on three processors, and of the messages between tasks."""

    seconds: tuple[tuple[float, ...], ...]
    messages: Mapping[int, Mapping[int, float]]

    def problem(self, scale: float = 1.0) -> sp.Problem:
        """Return the problem, with all times multiplied by a factor; a byte takes a second."""
        kinds = ("p1", "p2", "p3")
        times = [{k: s * scale for k, s in zip(kinds, row, strict=True)} for row in self.seconds]
        return sp.Problem(
            sp.StreamGraph(
                [sp.Operator(f"t{v}", 1.0, 0.0, seconds_on=t) for v, t in enumerate(times, 1)],
                [
                    sp.Stream(f"t{v}", f"t{w}", payload_bytes=seconds * scale)
                    for v, targets in self.messages.items()
                    for w, seconds in targets.items()
                ],
                firing="all",
            ),
            sp.Cluster(
                [sp.Device(k.upper(), 1.0, kind=k) for k in kinds],
                sp.Network("free", bandwidth_mbps=8e-6, latency_s=0.0),
            ),
            objective=sp.Makespan(),
        )


OF_HEFT = Example(  # Topcuoglu et al. (2002), figures 2 and 3
    (
        (14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10),
        (13, 16, 9), (7, 15, 11), (5, 11, 14), (18, 12, 20), (21, 7, 16),
    ),
    {
        1: {2: 18, 3: 12, 4: 9, 5: 11, 6: 14}, 2: {8: 19, 9: 16}, 3: {7: 23}, 4: {8: 27, 9: 23},
        5: {9: 13}, 6: {8: 15}, 7: {10: 17}, 8: {10: 11}, 9: {10: 13},
    },
)  # fmt: skip
OF_PEFT = Example(  # Arabnejad and Barbosa (2014)
    (
        (22, 21, 36), (22, 18, 18), (32, 27, 43), (7, 10, 4), (29, 27, 35),
        (26, 17, 24), (14, 25, 30), (29, 23, 36), (15, 21, 8), (13, 16, 33),
    ),
    {
        1: {2: 17, 3: 31, 4: 29, 5: 13, 6: 7}, 2: {8: 3, 9: 30}, 3: {7: 16}, 4: {8: 11, 9: 7},
        5: {9: 57}, 6: {8: 5}, 7: {10: 9}, 8: {10: 42}, 9: {10: 7},
    },
)  # fmt: skip

Schedule = Mapping[int, tuple[int, float, float]]
"""Task -> its processor, start and end."""
HEFT_80: Schedule = {
    1: (3, 0, 9), 3: (3, 9, 28), 4: (2, 18, 26), 2: (1, 27, 40), 5: (3, 28, 38),
    6: (2, 26, 42), 9: (2, 56, 68), 7: (3, 38, 49), 8: (1, 57, 62), 10: (2, 73, 80),
}  # fmt: skip
CPOP_86: Schedule = {
    1: (2, 0, 16), 2: (2, 16, 35), 3: (1, 28, 39), 7: (1, 39, 46), 4: (3, 25, 42),
    5: (2, 35, 48), 9: (2, 65, 77), 6: (3, 42, 51), 8: (3, 54, 68), 10: (2, 79, 86),
}  # fmt: skip
PEFT_122: Schedule = {
    1: (1, 0, 22), 4: (1, 22, 29), 6: (2, 29, 46), 2: (1, 29, 51), 3: (1, 51, 83),
    5: (3, 35, 70), 8: (2, 54, 77), 9: (3, 81, 89), 7: (1, 83, 97), 10: (2, 106, 122),
}  # fmt: skip
SCHEDULERS: Mapping[str, Heft | Peft | Cpop] = {
    "heft": Heft(),
    "cpop": Cpop(),
    "peft": Peft(),
    "peft:links": Peft(links=True),
}


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9, 1 / 3])
@pytest.mark.parametrize(
    ("name", "example", "published"),
    [
        ("heft", OF_HEFT, HEFT_80),
        ("cpop", OF_HEFT, CPOP_86),
        ("peft", OF_PEFT, PEFT_122),
        ("peft:links", OF_PEFT, PEFT_122),
    ],
)
def test_published_schedules(
    name: str, example: Example, published: Schedule, scale: float
) -> None:
    """HEFT's ranks of t3 and t4 are both 80 s: rounding must not decide which comes first."""
    placer = make_placer(name)
    assert placer == SCHEDULERS[name]
    found = SCHEDULERS[name].scheduled(compiled_pass(example.problem(scale)))
    for task, (processor, start, end) in published.items():
        assert found.devices[task - 1] == processor - 1, task
        assert found.start[task - 1] == pytest.approx(start * scale, rel=1e-12), task
        assert found.end[task - 1] == pytest.approx(end * scale, rel=1e-12), task
    result = place_problem(example.problem(scale), name)
    assert isinstance(result, MakespanResult)
    length = max(end for _, _, end in published.values())
    assert result.own_schedule_s == pytest.approx(length * scale, rel=1e-12)


def test_the_published_length_of_heft_on_the_example_of_peft() -> None:
    assert Heft().scheduled(compiled_pass(OF_PEFT.problem())).length == 133


class Plain(NamedTuple):
    """A problem in plain numbers: `seconds[v][d]`, and `message(v, w, a, b)` in seconds."""

    seconds: list[list[float]]
    targets: dict[int, list[int]]
    message: Callable[[int, int, int, int], float]

    def mean(self, v: int, w: int) -> float:
        """Return the mean time of a message over all pairs of two different devices."""
        devices = range(len(self.seconds[0]))
        times = [self.message(v, w, a, b) for a in devices for b in devices if a != b]
        return sum(times) / len(times)

    def upward(self, v: int) -> float:
        after = (self.mean(v, w) + self.upward(w) for w in self.targets[v])
        return float(np.mean(self.seconds[v])) + max(after, default=0.0)

    def downward(self, w: int) -> float:
        before = (v for v, targets in self.targets.items() if w in targets)
        ways = (self.downward(v) + np.mean(self.seconds[v]) + self.mean(v, w) for v in before)
        return float(max(ways, default=0.0))

    def ahead(self, v: int, a: int, links: bool) -> float:
        """Return an entry of the optimistic cost table."""
        best = []
        for w in self.targets[v]:
            ways = []
            for b, own in enumerate(self.seconds[w]):
                sent = self.message(v, w, a, b) if links else self.mean(v, w)
                ways.append(self.ahead(w, b, links) + own + (sent if a != b else 0.0))
            best.append(min(ways))
        return max(best, default=0.0)

    def ends(
        self, rank: list[float], add: list[list[float]], forced: dict[int, int]
    ) -> list[float]:
        """Return the ends of the tasks, scheduled by rank with insertion."""
        placed: dict[int, tuple[float, float, int]] = {}
        while len(placed) < len(rank):
            before = {w: [v for v, t in self.targets.items() if w in t] for w in range(len(rank))}
            ready = [w for w in before if w not in placed and set(before[w]) <= placed.keys()]
            w = max(ready, key=lambda each: (rank[each], -each))
            ways = []
            for d, own in enumerate(self.seconds[w]):
                if d == forced.get(w, d):
                    arrived = 0.0
                    for v in before[w]:
                        _, end, a = placed[v]
                        arrived = max(arrived, end + (self.message(v, w, a, d) if a != d else 0.0))
                    busy = sorted(each[:2] for each in placed.values() if each[2] == d)
                    gaps = pairwise([(0.0, 0.0), *busy, (np.inf, np.inf)])
                    starts = (max(arrived, one[1]) for one, two in gaps
                              if max(arrived, one[1]) + own <= two[0])  # fmt: skip
                    start = next(starts)
                    ways.append((start + own + add[w][d], start, d))
            _, start, d = min(ways)
            placed[w] = start, start + self.seconds[w][d], d
        return [placed[v][1] for v in range(len(rank))]


def drawn(seed: int) -> tuple[sp.Problem, Plain]:
    """Return a random problem of eight tasks on links that differ, twice."""
    rng = np.random.default_rng(seed)
    tasks, devices = 8, int(rng.integers(2, 5))
    seconds = rng.uniform(1.0, 9.0, (tasks, devices)).tolist()
    pairs = [(int(rng.integers(w)), w) for w in range(1, tasks)]
    pairs += [(0, 4), (1, 6), (3, 7)]
    sizes = {pair: float(rng.uniform(1.0, 20.0)) for pair in sorted(set(pairs))}
    rate, latency = rng.uniform(0.5, 8.0, (devices, devices)), rng.uniform(0.0, 2.0, devices**2)
    latency = latency.reshape(devices, devices)
    ends = [(a, b) for a in range(devices) for b in range(devices) if a != b]
    links = [sp.LinkOverride(f"d{a}", f"d{b}", 8e-6 * rate[a, b], latency[a, b]) for a, b in ends]
    problem = sp.Problem(
        sp.StreamGraph(
            [
                sp.Operator(f"t{v}", 1.0, 0.0, seconds_on={f"k{d}": s for d, s in enumerate(row)})
                for v, row in enumerate(seconds)
            ],
            [sp.Stream(f"t{v}", f"t{w}", payload_bytes=size) for (v, w), size in sizes.items()],
            firing="all",
        ),
        sp.Cluster(
            [sp.Device(f"d{d}", 1.0, kind=f"k{d}") for d in range(devices)],
            sp.Network("free", overrides=tuple(links)),
        ),
        objective=sp.Makespan(),
    )
    targets = {v: [w for u, w in sizes if u == v] for v in range(tasks)}
    return problem, Plain(
        seconds, targets, lambda v, w, a, b: sizes[v, w] / rate[a, b] + latency[a, b]
    )


@pytest.mark.parametrize("seed", range(40))
def test_schedules_are_those_of_plain_ones(seed: int) -> None:
    problem, plain = drawn(seed)
    tasks, devices = range(len(plain.seconds)), range(len(plain.seconds[0]))
    nothing = [[0.0 for _ in devices] for _ in tasks]
    expected = {"heft": plain.ends([plain.upward(v) for v in tasks], nothing, {})}
    both = [plain.upward(v) + plain.downward(v) for v in tasks]
    path = [0]
    while plain.targets[path[-1]]:
        path.append(max(plain.targets[path[-1]], key=both.__getitem__))
    fastest = min(devices, key=lambda d: sum(plain.seconds[v][d] for v in path))
    expected["cpop"] = plain.ends(both, nothing, dict.fromkeys(path, fastest))
    for name, links in (("peft", False), ("peft:links", True)):
        ahead = [[plain.ahead(v, d, links) for d in devices] for v in tasks]
        expected[name] = plain.ends([float(np.mean(row)) for row in ahead], ahead, {})
    compiled = compiled_pass(problem)
    for name, ends in expected.items():
        found = SCHEDULERS[name].scheduled(compiled).end.tolist()
        assert found == pytest.approx(ends, rel=1e-9), name


def baechi(first: float = 100.0, **pins: str) -> sp.Problem:
    """Return four operators on two equal devices; the first has some bytes of memory."""
    operators = [
        sp.Operator(name, seconds * 1e6, 0.0, memory_bytes=memory)
        for name, seconds, memory in (("a", 3, 4), ("b", 2, 3), ("c", 1, 2), ("d", 2, 3))
    ]
    streams = [sp.Stream("a", "c", payload_bytes=2.0), sp.Stream("b", "d", payload_bytes=1.0)]
    devices = [sp.Device("x", 1.0, memory_bytes=first), sp.Device("y", 1.0, memory_bytes=100.0)]
    return sp.Problem(
        sp.StreamGraph(operators, streams, firing="all", constraints=sp.Constraints(pins=pins)),
        sp.Cluster(devices, sp.Network("free", bandwidth_mbps=8e-6, latency_s=0.0)),
        objective=sp.Makespan(),
    )


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (baechi(), "xyxy"),  # at 2 s, d can start on y, and only at 3 s on x; then c on x
        (baechi(first=4), "xyyy"),  # a fills x
        (baechi(c="y"), "xyyy"),
    ],
)
def test_the_ready_operator_that_can_start_first_goes_where_it_does(
    problem: sp.Problem, expected: str
) -> None:
    found = place_problem(problem, "m-etf")
    assert isinstance(found, MakespanResult)
    assert "".join(found.placement.assignment[v] for v in "abcd") == expected


def test_earliest_task_first_knows_its_own_schedule() -> None:
    compiled = compiled_pass(baechi())
    schedule = EarliestTaskFirst().scheduled(compiled)
    assert schedule.start.tolist() == [0.0, 0.0, 3.0, 2.0]
    assert schedule.end.tolist() == [3.0, 2.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (baechi(), "xxxy"),  # an even share of 12 bytes, and the largest operator: 10 bytes
        (baechi(first=7), "xxyy"),
        (baechi(d="x"), "xxxx"),
        (baechi(a="y"), "yxxx"),
    ],
)
def test_operators_fill_one_device_after_the_other(problem: sp.Problem, expected: str) -> None:
    found = make_placer("m-topo")(problem, np.random.default_rng(0)).assignment
    assert "".join(found[v] for v in "abcd") == expected


@pytest.mark.parametrize("name", ["m-etf", "m-topo"])
def test_memory_of_all_devices_is_kept(name: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(20):
        graph = sp.Recipe("layered", 1, seed=seed).graph(0)
        memory = rng.integers(1, 50, len(graph.names)).astype(float)
        graph, _ = graph.with_numbers(memory_bytes=memory)
        room = memory.sum() / 3 + memory.max()
        devices = [sp.Device(f"d{d}", 1000.0, memory_bytes=room) for d in range(3)]
        problem = sp.Problem(graph, sp.Cluster(devices), objective=sp.Makespan())
        found = make_placer(name)(problem, rng)
        assert problem.feasibility.violation(found.devices) is None
        assert len({*found.devices.tolist()}) > 1
