"""The study `giph`: the experiments of GiPH's paper, with stronger baselines and several seeds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.study.adaptivity import (
    OF_REPLACEMENT,
    PLAIN,
    RNN,
    TRAINED,
    LearningCurve,
    Placing,
    adapted,
    by_plain_placers,
    by_policy,
    by_rnn,
    placed_anew,
)
from streamplace.papers.giph.study.outcome import outcome
from streamplace.papers.giph.study.places import episodes_in_place, in_place, places_of
from streamplace.papers.giph.study.registered import (
    CODE_TRAINED,
    FULL,
    FUSION,
    GIPH,
    PER_OPERATOR,
    PLACETO,
    QUICK,
    RETRAINED,
    SEVERAL,
    UNIFORM,
    Experiment,
    Registered,
    experiments,
)
from streamplace.papers.giph.study.systems import (
    LowestHeldOut,
    Reached,
    at_checkpoints,
    plain,
    random_starts,
    retrained,
    trained,
)
from streamplace.papers.studies.study import (
    Outcome,
    Part,
    Plan,
    PlannedStudy,
    Row,
    blocks,
    longest_path,
)
from streamplace.problem.device import Device
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

PLAIN_CASES = 50  # cases per unit of the plain placers
RETRAINED_CASES = 20  # and of the RNN placer
RETRAINED_GRAPHS = 10  # on changing clusters, as many as the released code has
LEARNING_CASES = 20
HELD_OUT_CASES = 20  # by which weights are chosen, beyond the test cases of a setting
Placers = Callable[[Problem, Ints, list[int]], Iterator[tuple[str, Reached]]]
"""Yields what each placer reaches on a problem from a start, (V,), with a seed."""


@dataclass(frozen=True)
class GiphStudy(PlannedStudy):
    """The study of GiPH by its registered plan.

    All policies are trained with several seeds, and tested on cases that they were not trained on,
    from the random placement from which climb starts as well.
    """

    name: ClassVar[str] = "giph"

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return self.with_seeds(
            QUICK if self.quick else FULL, "seeds", "published_seeds", "other_seeds"
        )

    def settings(self) -> Mapping[str, Any]:
        """Return the size of the study; see `PlannedStudy.settings`."""
        return self.size.settings()

    def parts(self) -> Sequence[Part]:
        """Return the tables of placing anew after changes, plain placers, policies and changes."""
        return [
            Part(
                ("system", "repeat"),
                self._anew_rows,
                "{system}: anew after changes, seed {repeat}".format,
                self._anew,
            ),
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
                lambda: ((how, n) for n in range(self.size.other_seeds) for how in OF_REPLACEMENT),
                "changes as in the {protocol}, seed {repeat}".format,
                self._adapted,
            ),
            Part(
                ("system", "graph"),
                lambda: ((RNN, n) for n in range(min(RETRAINED_GRAPHS, self.size.graphs))),
                "{system}: anew after changes, graph {graph}".format,
                lambda system, graph: self._placed_anew(by_rnn(0), range(graph, graph + 1), 0),
            ),
            Part(
                ("system", "experiment", "first"),
                self._retrained_rows,
                "{system}: {experiment}, from {first}".format,
                self._retrained,
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
        size = self.size
        for repeat in range(max(size.seeds, size.published_seeds)):
            for experiment, one in self._experiments.items():
                for system in one.systems:
                    if repeat < size.seeds_of(experiment, system):
                        yield experiment, system, repeat

    def _retrained_rows(self) -> Iterator[tuple[str, str, int]]:
        for experiment in RETRAINED:
            (cases,) = self._experiments[experiment].tests.values()
            yield from ((RNN, experiment, n) for (n,) in blocks(cases.count, RETRAINED_CASES))

    def _anew_rows(self) -> Iterator[tuple[str, int]]:
        for repeat in range(self.size.other_seeds):
            yield from ((system, repeat) for system in (PLAIN, *TRAINED))

    def _plain(self, experiment: str, test: str, first: int) -> Iterator[Row]:
        """Yield a row for each case and placer: the lowest loss after each checkpoint."""
        thorough = self._experiments[experiment].tests[test].thorough

        def found(problem: Problem, start: Ints, seed: list[int]) -> Iterator[tuple[str, Reached]]:
            return plain(problem, start, seed, PER_OPERATOR, thorough=thorough)

        return self._of_placers(experiment, test, first, PLAIN_CASES, found)

    def _retrained(self, system: str, experiment: str, first: int) -> Iterator[Row]:
        """Yield a row for each case: what the RNN placer reaches, whatever the checkpoint."""
        (test,) = self._experiments[experiment].tests

        def found(problem: Problem, start: Ints, seed: list[int]) -> Iterator[tuple[str, Reached]]:
            yield retrained(problem, seed, len(PER_OPERATOR))

        return self._of_placers(experiment, test, first, RETRAINED_CASES, found)

    def _of_placers(
        self, experiment: str, test: str, first: int, count: int, place: Placers
    ) -> Iterator[Row]:
        """Yield a row for each of some cases and each placer."""
        cases = self._experiments[experiment].tests[test]
        numbers = range(first, min(first + count, cases.count))
        for number, problem, start in zip(
            numbers, *self._tested(experiment, test, numbers), strict=True
        ):
            about = {**_about(experiment, test, number, problem), "repeat": 0}
            for system, reached in place(problem, start, [self.seed, number]):
                yield {
                    **about,
                    "system": system,
                    "losses": reached.losses,
                    "cpu_s": reached.seconds,
                    **_placed(experiment, reached.devices),
                }

    def _policy(self, experiment: str, system: str, repeat: int) -> Iterator[Row]:
        """Yield a row for each case of a trained policy: the lowest loss after each checkpoint."""
        places = self._places(experiment, system)
        policy = self._trained(experiment, system, repeat, places)
        for test in self._experiments[experiment].tests:
            problems, starts = self._tested(experiment, test)
            found = episodes_in_place(policy, problems, starts, places, PER_OPERATOR[-1], repeat)
            for number, (problem, one) in enumerate(zip(problems, found, strict=True)):
                yield {
                    **_about(experiment, test, number, problem),
                    "system": system,
                    "repeat": repeat,
                    "losses": at_checkpoints(one.lowest, len(one.best), PER_OPERATOR),
                    "cpu_s": one.cpu_s,
                    **_placed(experiment, one.best),
                }

    def _places(self, experiment: str, system: str) -> list[Device]:
        """Return the device of each output of Placeto and of its control where clusters differ."""
        if experiment != FUSION or system not in (PLACETO, UNIFORM):
            return []
        one = self._experiments[experiment]
        every = (cases.problems(one.objective) for cases in (one.train, *one.tests.values()))
        return places_of([problem for problems in every for problem in problems])

    def _anew(self, system: str, repeat: int) -> Iterator[Row]:
        """Yield what a system reaches after each change, and while it is trained."""
        every = range(self.size.graphs)
        if system == PLAIN:
            yield from self._placed_anew(by_plain_placers(repeat), every, repeat)
            return
        count = min(LEARNING_CASES, self.size.cases)
        curve = LearningCurve(system, *self._tested(SEVERAL, SEVERAL, range(count)), repeat)
        policy = self._trained(SEVERAL, system, repeat, on_episodes=curve)
        yield from curve.rows
        yield from self._placed_anew(by_policy(system, policy, repeat), every, repeat)

    def _placed_anew(self, place: Placing, graphs: range, seed: int) -> Iterator[Row]:
        return placed_anew(place, graphs, self.size.changes, seed)

    def _adapted(self, protocol: str, repeat: int) -> Iterator[Row]:
        policy = self._trained(SEVERAL, GIPH, repeat)
        yield from adapted(policy, protocol, self.size.graphs, self.size.changes, repeat)

    def _trained(
        self,
        experiment: str,
        system: str,
        repeat: int,
        places: Sequence[Device] = (),
        on_episodes: LearningCurve | None = None,
    ) -> Any:
        one, size = self._experiments[experiment], self.size
        problems = [in_place(each, places) for each in one.train.problems(one.objective)]
        if system != CODE_TRAINED:
            return trained(system, problems, one.epochs, size.samples, repeat, on_episodes)
        tests = one.tests[experiment]
        held_out = replace(tests, count=tests.count + HELD_OUT_CASES)
        beyond = held_out.problems(one.objective, range(tests.count, held_out.count))
        starts = random_starts(beyond, self.seed, tests.count)
        lowest = LowestHeldOut(beyond, starts, repeat)
        policy = trained(system, problems, one.epochs, size.samples, repeat, lowest)
        lowest.restore(policy)
        return policy

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
