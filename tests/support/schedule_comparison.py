"""Comparison of an engine of makespans with the plain one, on random problems."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.reference.plain_schedule import plain_schedule
from benchmarks.reference.schedule_inputs import Form, ScheduleInputs
from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem

Times = Mapping[str, float]
Engine = Callable[[Form, Form, Form, Form], tuple[Times, Times]]
"""From the JSON forms of graph, cluster, settings and placement to the starts and the finishes."""


@dataclass(frozen=True)
class Difference:
    """A problem on which an engine and the plain one differ, and how they differ."""

    seed: int
    problem: ScheduleForm
    details: str

    def __str__(self) -> str:
        forms = "\n".join(f"{name}: {json.dumps(form)}" for name, form in self.problem.items())
        return f"seed {self.seed}:\n{forms}\n{self.details}"


def first_difference(
    engine: Engine,
    seeds: Iterable[int] = range(1000),
    *,
    large: bool = False,
    tolerance_s: float = 1e-9,
    applies: Callable[[ScheduleForm], bool] = lambda problem: True,
) -> Difference | None:
    """Return the first random problem on which an engine differs from the plain one, or None.

    An error that the engine raises is a difference, too.

    Parameters
    ----------
    large
        See `schedule_problem`.
    tolerance_s
        The largest difference of two times that counts as none.
    applies
        Whether the engine supports a problem; others are left out.
    """

    for seed in seeds:
        problem = schedule_problem(seed, large=large)
        if applies(problem) and (details := _difference(engine, problem, tolerance_s)):
            return Difference(seed, problem, details)
    return None


def is_exact(problem: ScheduleForm) -> bool:
    """Return whether all times are exact in binary."""
    inputs = ScheduleInputs(**problem)
    times = [inputs.seconds(v, d) for v, d in enumerate(inputs.place)]
    for message in inputs.messages():
        times += [time for crossing in message.to.values() for time in vars(crossing).values()]
    return all(time is None or _is_binary(time) for time in times)


def _is_binary(time: Fraction) -> bool:
    return time.denominator & (time.denominator - 1) == 0


def _difference(engine: Engine, problem: ScheduleForm, tolerance_s: float) -> str:
    """Return how an engine differs from the plain one on a problem; empty if it does not."""
    plain = plain_schedule(**problem)
    try:
        start, finish = engine(
            problem["graph"], problem["cluster"], problem["settings"], problem["placement"]
        )
    except Exception as error:
        return f"the engine raises {error!r}"
    lines = []
    for what, expected, actual in (
        ("starts", plain.start, start),
        ("finishes", plain.finish, finish),
    ):
        for name, time in expected.items():
            if name not in actual or not abs(float(actual[name]) - float(time)) <= tolerance_s:
                lines.append(f"{name} {what} at {float(time)} s, not at {actual.get(name)}")
    return "\n".join(lines)
