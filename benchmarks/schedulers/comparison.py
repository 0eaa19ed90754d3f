"""`auto` beside the schedulers of another library, by both simulators."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

import numpy as np

from benchmarks.schedulers.instances import ROUNDING, Instance, by_start
from benchmarks.schedulers.library import FailedError, Library
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import make_placer
from streamplace.sim import work_clock
from streamplace.util.effect import Effect

MEASURED = 0.05  # CPU seconds for which a scheduler is run to take its time
ALL = "all of them"


@dataclass(frozen=True)
class Own:
    """A placement by `auto`: its makespans in our simulator and in theirs, and its CPU time."""

    ours: float
    theirs: float
    seconds: float


@dataclass(frozen=True)
class Row:
    """A scheduler of the library on an instance.

    Attributes
    ----------
    theirs
        Makespan by the library's simulator.
    replayed
        Makespan of that schedule by our simulator: the same devices and order on each device.
    placed
        Makespan of its devices by our simulator under the best order that `auto` can choose.
    auto, equal
        `auto` with the time limit of the run, and with the CPU time that the scheduler needed.
    """

    instance: str
    scheduler: str
    theirs: float
    replayed: float
    placed: float
    seconds: float
    auto: Own
    equal: Own


@dataclass(frozen=True)
class Failure:
    """A scheduler that returned no whole schedule, and why."""

    instance: str
    scheduler: str
    reason: str


def compared(
    library: Library, instance: Instance, seconds: float, limit: float
) -> Iterable[Row | Failure]:
    """Run every scheduler of a library on an instance, and `auto` for each."""
    auto = own_of(library, instance, seconds)
    problem = instance.problem(kind=library.kind)
    best: Row | None = None
    for name in library.names:
        try:
            made = library.schedule(name, instance, limit, MEASURED)
        except FailedError as error:
            yield Failure(instance.name, name, str(error))
            continue
        listed = by_start(problem, made.start)
        replayed = instance.replayed(made.devices, listed, library.kind)
        placed = float(MakespanEvaluator(problem).makespans(np.array(made.devices))[0])
        equal = own_of(library, instance, made.seconds)
        row = Row(instance.name, name, made.makespan, replayed, placed, made.seconds, auto, equal)
        yield row
        best = row if best is None else _better(best, row)
    if best is not None:
        equal = own_of(library, instance, best.seconds)
        yield Row(**{**vars(best), "scheduler": ALL, "equal": equal})


def _better(one: Row, other: Row) -> Row:
    """Return the row of the shorter schedule, with the smaller ``placed`` and the sum of times."""
    shorter = min(one, other, key=lambda row: row.theirs)
    placed, seconds = min(one.placed, other.placed), one.seconds + other.seconds
    return Row(**{**vars(shorter), "placed": placed, "seconds": seconds})


def own_of(library: Library, instance: Instance, seconds: float) -> Own:
    """Return what `auto` finds within CPU seconds."""
    problem = instance.problem(kind=library.kind)
    with work_clock.cpu_time():
        begun = work_clock.now()
        placer = make_placer(f"auto:seconds={max(seconds, 1e-3)!r}")
        devices = placer(problem, np.random.default_rng(0)).devices
        used = work_clock.now() - begun
    evaluator = MakespanEvaluator(problem)
    listed = by_start(problem, evaluator.trace(devices).start_s[0])
    theirs = library.replay(instance, [int(d) for d in devices], listed)
    return Own(float(evaluator.makespans(devices)[0]), theirs, used)


def report(rows: list[Row], failures: list[Failure]) -> None:
    """Print what `auto` loses, and a line per scheduler, the one it compares worst with first.

    Ratios are geometric means of the makespan of `auto` over that of the scheduler, with 95%
    intervals from a paired bootstrap over instances.
    """
    _losses(rows)
    print(
        f"{'scheduler':22}{'graphs':>7}{'longer':>7}{'equal':>7}{'largest':>9}"
        f"{'by theirs':>28}{'equal time':>28}{'by ours':>28}{'CPU ms':>9}{'auto ms':>9}"
    )
    names = sorted({row.scheduler for row in rows}, key=lambda n: -_ratios(rows, n).max())
    for name in sorted(names, key=lambda n: n != ALL):
        mine = [row for row in rows if row.scheduler == name]
        ratios = _ratios(rows, name)
        equal = [row.equal.theirs / row.theirs for row in mine]
        placed = [row.auto.ours / row.placed for row in mine]
        means = "".join(f"{_mean(some):>28}" for some in (ratios, equal, placed))
        times = [row.seconds for row in mine], [row.equal.seconds for row in mine]
        print(
            f"{name:22}{len(mine):7}{np.sum(ratios > 1 + ROUNDING):7}"
            f"{np.sum(np.abs(ratios - 1) <= ROUNDING):7}{ratios.max():9.4f}{means}"
            + "".join(f"{1e3 * np.mean(some):9.1f}" for some in times)
        )
    _agreement(rows)
    for scheduler, reason in sorted({(each.scheduler, each.reason) for each in failures}):
        count = sum((e.scheduler, e.reason) == (scheduler, reason) for e in failures)
        print(f"failed: {scheduler} on {count} graphs: {reason}")


def _losses(rows: list[Row]) -> None:
    """Print the instances on which a scheduler of theirs is better by their simulator."""
    best: dict[str, Row] = {}
    for row in rows:
        if row.scheduler != ALL:
            best[row.instance] = min(best.get(row.instance, row), row, key=lambda r: r.theirs)
    for name, row in best.items():
        own = row.auto
        if own.theirs > row.theirs * (1 + ROUNDING):
            print(
                f"loss: {name} to {row.scheduler}: {own.theirs / row.theirs:.4f} by theirs, "
                f"{own.ours / row.placed:.4f} by ours; auto's placement, "
                f"theirs over ours: {own.theirs / own.ours:.4f}"
            )


def _ratios(rows: list[Row], scheduler: str) -> np.ndarray:
    return np.array([r.auto.theirs / r.theirs for r in rows if r.scheduler == scheduler])


def _mean(ratios: Iterable[float]) -> str:
    effect = Effect.of(np.log(np.array(list(ratios))))
    return f"{exp(effect.mean):.4f} [{exp(effect.low):.4f}, {exp(effect.high):.4f}]"


def _agreement(rows: list[Row]) -> None:
    """Print how the two simulators differ on placements of `auto` and on schedules of theirs."""
    own = {row.instance: row.auto.theirs / row.auto.ours for row in rows}
    theirs = {(r.instance, r.scheduler): r.replayed / r.theirs for r in rows if r.scheduler != ALL}
    for what, ratios in (("auto: theirs over ours", own), ("theirs: ours over theirs", theirs)):
        differ = {key: ratio for key, ratio in ratios.items() if abs(log(ratio)) > ROUNDING}
        low, high = min(ratios.values()), max(ratios.values())
        equal = len(ratios) - len(differ)
        print(f"{what}: equal on {equal} of {len(ratios)}, from {low:.6g} to {high:.6g}")
        kinds = sorted({key if isinstance(key, str) else key[1] for key in differ})
        if differ and isinstance(next(iter(differ)), tuple):
            print("  differ: " + ", ".join(kinds))
