"""Longest paths through operators that a change moves, compared with passes and plain Python."""

from collections.abc import Iterable

import numpy as np
import pytest

from benchmarks.reference.schedule_problems import schedule_problem
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.moved_paths import (
    MANY,
    Paths,
    begin_moves,
    begin_paths,
    is_too_long,
    keep_paths,
    move,
    paths_of,
)
from streamplace.sim.schedule.passes import makespans
from streamplace.sim.schedule.task_graph import (
    Bools,
    Columns,
    TaskGraph,
    message_seconds,
    seconds_on,
)
from tests.support.schedule_tasks import task_problem
from tests.support.share import Share

CHANGES = 60  # tried per problem


@kernel
def too_long(
    tasks: Columns, devices: Ints, tried: Ints, limits: Floats, paths: Paths
) -> tuple[Bools, Floats, Floats]:
    """Return which of the placements tried, (K, V), are found to exceed their limits, (K,).

    Also return the times of the operators and messages of each placement, (K, V) and (K, E).
    """
    found = np.zeros(limits.shape[0], np.bool_)
    seconds = np.zeros(tried.shape)
    messages = np.zeros((tried.shape[0], tasks.target.shape[0]))
    begin_paths(tasks, devices, paths, 1 << 30)
    keep_paths(tasks, devices, paths)
    for i in range(tried.shape[0]):
        begin_moves(paths)
        count = 0
        for v in range(devices.shape[0]):
            seconds[i, v] = seconds_on(tasks, v, tried[i, v])
            if tried[i, v] != devices[v] and count < MANY:
                count = move(tasks, paths, v, count)
        for k in range(tasks.target.shape[0]):
            a, b = tried[i, tasks.source[k]], tried[i, tasks.target[k]]
            if a != b and not tasks.silent[k]:
                messages[i, k] = message_seconds(tasks, tasks.bits[k], a, b)
        if count:
            found[i] = is_too_long(tasks, tried[i], paths, count, limits[i])
    return found, seconds, messages


def tried_on(rng: np.random.Generator, tasks: TaskGraph, devices: Ints, most: int) -> Ints:
    """Return placements, (K, V), each of which has up to `most` operators on one other device."""
    tried = np.repeat(devices[None], CHANGES, axis=0)
    for row in tried:
        row[rng.integers(0, tasks.operators, rng.integers(1, most + 1))] = rng.integers(
            tasks.devices
        )
    return tried


def longest_through(tasks: TaskGraph, v: int, seconds: Floats, messages: Floats) -> float:
    """Return the longest path through an operator, in seconds."""
    by_level = np.argsort(tasks.level, kind="stable")
    end, after = seconds.copy(), np.zeros(tasks.operators)
    for u in by_level:
        for k in np.flatnonzero(tasks.source == u):
            w = tasks.target[k]
            end[w] = max(end[w], end[u] + messages[k] + seconds[w])
    for u in by_level[::-1]:
        for k in np.flatnonzero(tasks.source == u):
            w = tasks.target[k]
            after[u] = max(after[u], messages[k] + seconds[w] + after[w])
    return float(end[v] + after[v])


def check_passes(seeds: Iterable[int], *, large: bool) -> None:
    """Check that no pass is within the limit that its paths exceed."""
    rejected = 0
    for seed in seeds:
        problem = task_problem(schedule_problem(seed, large=large))
        tasks, rng = problem.tasks, np.random.default_rng(seed)
        devices = rng.integers(0, tasks.devices, tasks.operators, dtype=np.int32)
        tried = tried_on(rng, tasks, devices, 6)
        seconds = makespans(tasks, problem.order, tried)
        shares = rng.choice([0.5, 0.9, 1.0], CHANGES)
        found = too_long(tasks.columns, devices, tried, seconds * shares, paths_of(tasks))[0]
        assert not found[shares == 1.0].any(), seed
        rejected += found.sum()
    assert rejected > 100


def test_no_pass_is_shorter_than_its_paths() -> None:
    check_passes(range(100), large=False)
    check_passes(range(60), large=True)


@pytest.mark.long
def test_no_pass_of_many_problems_is_shorter_than_its_paths(share: Share) -> None:
    check_passes(share.of(range(100, 2000)), large=False)
    check_passes(share.of(range(60, 1000)), large=True)


@pytest.mark.parametrize("large", [False, True])
def test_the_longest_path_through_one_operator_is_exact(large: bool) -> None:
    checked = 0
    for seed in range(30):
        tasks = task_problem(schedule_problem(seed, large=large)).tasks
        rng = np.random.default_rng(seed)
        devices = rng.integers(0, tasks.devices, tasks.operators, dtype=np.int32)
        tried = tried_on(rng, tasks, devices, 1)
        limits, paths = np.full(CHANGES, np.inf), paths_of(tasks)
        _, seconds, messages = too_long(tasks.columns, devices, tried, limits, paths)
        moved = [int(np.argmax(row != devices)) for row in tried]
        longest = np.array(
            [
                longest_through(tasks, v, *times)
                for v, *times in zip(moved, seconds, messages, strict=True)
            ]
        )
        is_moved = (tried != devices).any(axis=1) & (longest > 0.0) & np.isfinite(longest)
        for share, expected in ((1.0 - 1e-6, is_moved), (1.0 + 1e-6, np.zeros_like(is_moved))):
            found = too_long(tasks.columns, devices, tried, longest * share, paths)[0]
            assert found.tolist() == expected.tolist(), seed
        checked += is_moved.sum()
    assert checked > 100
