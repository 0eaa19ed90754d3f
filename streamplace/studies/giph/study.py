"""The study `giph`: the experiments of GiPH's paper, with stronger baselines and several seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from streamplace.policy.refining import episodes
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import makespan_evaluator
from streamplace.studies.giph.outcome import outcome
from streamplace.studies.giph.registered import (
    FULL,
    FUSION,
    GIPH,
    PER_OPERATOR,
    QUICK,
    SEVERAL,
    SINGLE,
    Experiment,
    Registered,
    experiments,
)
from streamplace.studies.giph.systems import (
    PROTOCOLS,
    adapted,
    at_checkpoints,
    plain,
    random_starts,
    trained,
)
from streamplace.studies.study import Outcome, Part, Plan, PlannedStudy, Row, blocks, longest_path
from streamplace.util.arrays import Ints

PLAIN_CASES = 50  # cases per unit of the plain placers


@dataclass(frozen=True)
class GiphStudy(PlannedStudy):
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

    def settings(self) -> Mapping[str, Any]:
        """Return the size of the study; see `PlannedStudy.settings`."""
        return self.size.settings()

    def parts(self) -> Sequence[Part]:
        """Return the tables of plain placers, trained policies and changes."""
        return [
            Part(
                ("experiment", "test", "first"),
                self._plain_rows,
                "plain placers: {experiment}, {test}, from {first}".format,
                self._plain,
            ),
            Part(
                ("experiment", "system", "repeat"),
                self._policy_rows,
                "{system}: {experiment}, seed {repeat}".format,
                self._policy,
            ),
            Part(
                ("protocol", "repeat"),
                lambda: ((how, n) for n in range(self.size.other_seeds) for how in PROTOCOLS),
                "changes as in the {protocol}, seed {repeat}".format,
                self._adapted,
            ),
        ]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and curves."""
        return outcome(plan, rows)

    @cached_property
    def _experiments(self) -> dict[str, Experiment]:
        return experiments(self.size)

    def _plain_rows(self) -> Iterator[tuple[str, str, int]]:
        for experiment, one in self._experiments.items():
            for test, cases in one.tests.items():
                yield from ((experiment, test, n) for (n,) in blocks(cases.count, PLAIN_CASES))

    def _policy_rows(self) -> Iterator[tuple[str, str, int]]:
        for repeat in range(self.size.seeds):
            for experiment, one in self._experiments.items():
                if repeat < self.size.other_seeds or experiment in (SINGLE, SEVERAL):
                    yield from ((experiment, system, repeat) for system in one.systems)

    def _plain(self, experiment: str, test: str, first: int) -> Iterator[Row]:
        """Yield a row for each case and placer: the lowest loss after each checkpoint."""
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
        """Yield a row for each case of a trained policy: the lowest loss after each checkpoint."""
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
