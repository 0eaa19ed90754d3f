"""The study `giph`: the experiments of GiPH's paper, with stronger baselines and several seeds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from streamplace.policy.refining import episodes
from streamplace.policy.threads import one_thread
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.studies.giph.adaptive import PROTOCOLS, adapted
from streamplace.studies.giph.experiments import FUSION, SEVERAL, SINGLE, Experiment, experiments
from streamplace.studies.giph.learning import at_checkpoints, random_starts, trained
from streamplace.studies.giph.outcome import outcome
from streamplace.studies.giph.plain import plain
from streamplace.studies.giph.registered import FULL, GIPH, PER_OPERATOR, QUICK, Registered
from streamplace.studies.longest_path import longest_path
from streamplace.studies.study import Options, Outcome, Plan, Row, Unit
from streamplace.util.arrays import Ints

PLAIN_CASES = 50  # cases per unit of the plain placers


@dataclass(frozen=True)
class GiphStudy(Options):
    """The study of GiPH by its registered plan.

    All policies are trained with several seeds, and tested on cases that they were not trained on,
    from the random placement from which climb starts as well.

    Parameters
    ----------
    quick, seed
        See `Options`.
    """

    name: ClassVar[str] = "giph"

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return QUICK if self.quick else FULL

    def plan(self) -> Plan:
        """Return the plan: a unit trains one policy, or runs the plain placers on some cases."""
        units = [*self._plain_units(), *self._policy_units(), *self._adaptive_units()]
        return Plan({**self.size.settings(), "seed": self.seed}, tuple(units))

    def run(self, unit: Unit) -> list[Row]:
        """Return a row for each case and system: the lowest loss after each checkpoint."""
        settings = unit.settings
        kind: Callable[..., Iterator[Row]] = self._plain
        if "protocol" in settings:
            kind = self._adapted
        elif "system" in settings:
            kind = self._policy
        with one_thread():
            return list(kind(**settings))

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and curves."""
        return outcome(plan, rows)

    @cached_property
    def _experiments(self) -> dict[str, Experiment]:
        return experiments(self.size)

    def _plain_units(self) -> Iterator[Unit]:
        for experiment, one in self._experiments.items():
            for test, cases in one.tests.items():
                for first in range(0, cases.count, PLAIN_CASES):
                    where = {"experiment": experiment, "test": test, "first": first}
                    yield Unit(f"plain placers: {experiment}, {test}, from {first}", where)

    def _policy_units(self) -> Iterator[Unit]:
        for repeat in range(self.size.seeds):
            for experiment, one in self._experiments.items():
                if repeat >= self.size.other_seeds and experiment not in (SINGLE, SEVERAL):
                    continue
                for system in one.systems:
                    what = {"experiment": experiment, "system": system, "repeat": repeat}
                    yield Unit(f"{system}: {experiment}, seed {repeat}", what)

    def _adaptive_units(self) -> Iterator[Unit]:
        for repeat in range(self.size.other_seeds):
            for protocol in PROTOCOLS:
                what = {"protocol": protocol, "repeat": repeat}
                yield Unit(f"changes as in the {protocol}, seed {repeat}", what)

    def _plain(self, experiment: str, test: str, first: int) -> Iterator[Row]:
        cases = self._experiments[experiment].tests[test]
        numbers = range(first, min(first + PLAIN_CASES, cases.count))
        for number, problem, start in zip(
            numbers, *self._tested(experiment, test, numbers), strict=True
        ):
            about = {**_about(experiment, test, number, problem), "repeat": 0}
            seed = [self.seed, number]
            found = plain(problem, start, seed, PER_OPERATOR, thorough=cases.thorough)
            for system, reached in found:
                yield {
                    **about,
                    "system": system,
                    "losses": reached.losses,
                    "cpu_s": reached.seconds,
                    **_placed(experiment, reached.devices),
                }

    def _policy(self, experiment: str, system: str, repeat: int) -> Iterator[Row]:
        policy = self._trained(experiment, system, repeat)
        for test in self._experiments[experiment].tests:
            problems, starts = self._tested(experiment, test)
            found = episodes(policy, problems, starts, PER_OPERATOR[-1], repeat)
            for number, (problem, one) in enumerate(zip(problems, found, strict=True)):
                yield {
                    **_about(experiment, test, number, problem),
                    "system": system,
                    "repeat": repeat,
                    "losses": at_checkpoints(one.lowest, len(one.best), PER_OPERATOR),
                    "cpu_s": one.cpu_s,
                    **_placed(experiment, one.best),
                }

    def _adapted(self, protocol: str, repeat: int) -> Iterator[Row]:
        policy = self._trained(SEVERAL, GIPH, repeat)
        yield from adapted(policy, protocol, self.size.graphs, self.size.changes, repeat)

    def _trained(self, experiment: str, system: str, repeat: int) -> Any:
        one, size = self._experiments[experiment], self.size
        problems = one.train.problems(one.objective)
        return trained(system, problems, one.epochs, size.samples, repeat)

    def _tested(
        self, experiment: str, test: str, numbers: range | None = None
    ) -> tuple[list[Problem], list[Ints]]:
        """Return the test cases with some numbers, or all, and where their episodes start."""
        one = self._experiments[experiment]
        problems = one.tests[test].problems(one.objective, numbers)
        return problems, random_starts(problems, self.seed, numbers.start if numbers else 0)


def _about(experiment: str, test: str, number: int, problem: Problem) -> Row:
    paths = makespan_evaluator(problem).compiled.fastest
    graph = problem.graph
    return {
        "experiment": experiment,
        "test": test,
        "case": number,
        "operators": len(graph.names),
        "depth": longest_path(graph),
        "longest_s": paths.longest,
        "shortest_s": paths.shortest,
    }


def _placed(experiment: str, devices: Ints) -> Row:
    """Return the placement where the outcome depends on it."""
    return {"devices": devices.tolist()} if experiment == FUSION else {}
