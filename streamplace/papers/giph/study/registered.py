"""The registered plan of the study: sizes, systems, cases and problems, fixed before it was run."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from streamplace.families import Recipe
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.makespan.total_cost import TotalCost
from streamplace.papers.giph.families.cases import (
    BYTES_PER_UNIT,
    INSTRUCTIONS_PER_UNIT,
    MEAN_BYTES,
    MEAN_COMPUTE,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan, with_published_semantics
from streamplace.problem.problem import Problem

WINS = {
    "GiPH-3": (53.0, 7.0, 40.0),
    "GiPH-5": (55.2, 6.4, 38.4),
    "GiPH-NE": (74.8, 2.4, 22.8),
    "GiPH-NE-Pol": (60.6, 6.0, 33.4),
    "GiPH-task-EFT": (82.2, 3.0, 14.8),
    "HEFT": (59.0, 5.2, 35.8),
}
"""Table 6: rival -> percent of 1,000 cases on which GiPH is better, equal and worse."""

PUBLISHED_SECONDS = {
    "GiPH": 0.340,
    "GiPH-3": 0.114,
    "GiPH-5": 0.132,
    "GiPH-NE": 0.240,
    "GiPH-NE-Pol": 0.027,
    "GraphSAGE-NE": 0.138,
    "Placeto": 0.162,
}
"""Table 7: seconds of a relocation when a placement is searched."""


GIPH = "GiPH"
PAPER_TRAINED = "GiPH, trained as in the paper"
CODE_TRAINED = "GiPH, trained as in the code"
PUBLISHED = (PAPER_TRAINED, CODE_TRAINED)
"""Systems with the published training: that of the paper with the last weights, and with what the
released code adds."""
OURS = "GiPH with ends and criticality"
TASK_EFT = "GiPH-task-EFT"
WITHOUT_POTENTIAL = "GiPH without potential"
PLACETO = "Placeto"
UNIFORM = "uniformly random sweeps"
"""The control of Placeto: its sweeps, in which every device is drawn uniformly at random."""

PER_OPERATOR = (0.5, 1.0, 1.5, 2.0)
"""Evaluations per operator after which the lowest makespan is recorded; an episode has two."""

GROUPS, ENAS_DEVICES = 40, 8  # section 5.2 of the paper
MEAN_FLOPS, MEAN_TENSOR_BYTES = 4.44e8, 65_300.0  # of operators and streams, over 300 ENAS graphs
SINGLE, SEVERAL, DRAWN, PAPER_RANGES = "single", "several", "drawn", "paper ranges"
NOISY, NOISY_SEVERAL = "noise", "noise on ten networks"
TOTAL, FUSION, ENAS = "total cost", "sensor fusion", "neural networks"

RETRAINED = (NOISY, NOISY_SEVERAL, FUSION, ENAS)
"""Experiments in which the RNN placer, trained anew for each case, has rows of its own."""

FEW, MANY, LARGER = 6, 20, 40  # devices
SHARE = 200  # of the drawn cases, to compare policies that were trained on other clusters
NOISE, NOISY_PASSES = 0.2, 5
DRAWN_SEED, OTHER_SEED = 1, 7  # of generated test and training cases
RIVALS = (GIPH, OURS, TASK_EFT, PLACETO, UNIFORM)


def _giph(**sizes: object) -> PolicySection:
    return policy_section({"kind": "giph", "sizes": sizes})


SYSTEMS: Mapping[str, PolicySection] = {
    GIPH: _giph(),
    PAPER_TRAINED: _giph(),
    CODE_TRAINED: _giph(criticality=0.1, reciprocals=True),
    OURS: _giph(criticality=0.1, finish=True),
    "GiPH-3": _giph(variant="giph-k", rounds=3),
    "GiPH-5": _giph(variant="giph-k", rounds=5),
    "GiPH-NE": _giph(variant="giph-ne"),
    "GiPH-NE-Pol": _giph(variant="giph-ne-pol"),
    "GraphSAGE-NE": _giph(variant="graphsage-ne"),
    TASK_EFT: _giph(variant="task-eft"),
    WITHOUT_POTENTIAL: _giph(potential=False),
    **dict.fromkeys(
        (PLACETO, UNIFORM), policy_section({"kind": "placeto", "sizes": {"devices": 20}})
    ),
}
"""The policies of the paper and its ablations, GiPH with further features, and the control."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    cases
        Named test cases of each setting.
    drawn
        Cases for counts of wins, each with a graph and a network of its own.
    seeds
        Training seeds of every policy on the released settings.
    published_seeds
        Training seeds of the systems with the published training on the released settings.
    other_seeds
        Training seeds in the other experiments.
    epochs
        Setting -> passes over its training cases, with one update per case.
    training_cases
        Setting -> number of training cases.
    samples
        Episodes per update.
    graphs, changes
        Task graphs on the changing cluster, and its changes.
    """

    cases: int = 60
    drawn: int = 1000
    seeds: int = 5
    published_seeds: int = 10
    other_seeds: int = 2
    epochs: Mapping[str, int] = field(default_factory=lambda: {"single": 1, "several": 3})
    training_cases: Mapping[str, int] = field(
        default_factory=lambda: {"single": 300, "several": 120}  # all that there are
    )
    samples: int = 4
    graphs: int = 20
    changes: int = 20

    def seeds_of(self, experiment: str, system: str) -> int:
        """Return the training seeds of a system in an experiment."""
        if experiment not in (SINGLE, SEVERAL):
            return self.other_seeds
        return self.published_seeds if system in PUBLISHED else self.seeds

    def settings(self) -> Mapping[str, Any]:
        """Return the plan as JSON values."""
        return {**asdict(self), "systems": list(SYSTEMS), "per_operator": list(PER_OPERATOR)}


FULL = Registered()
QUICK = Registered(
    cases=3,
    drawn=10,
    seeds=1,
    published_seeds=1,
    other_seeds=1,
    epochs={"single": 1, "several": 1},
    training_cases={"single": 4, "several": 4},
    samples=2,
    graphs=1,
    changes=4,
)


@dataclass(frozen=True)
class Cases:
    """The first cases of a recipe.

    Parameters
    ----------
    recipe, count, seed
        See `Recipe`; the released code shuffles its cases by the default seed.
    thorough
        Whether the plain placers that take long are run on them, too.
    """

    recipe: str
    count: int
    seed: int = 123445
    thorough: bool = False

    def problems(self, objective: Makespan, numbers: range | None = None) -> list[Problem]:
        """Return the problems with some numbers, or all; messages follow GiPH's rules."""
        every = range(self.count) if numbers is None else numbers
        return [
            Problem(*with_published_semantics(*pair, "giph"), objective=objective)
            for pair in map(self._pair, every)
        ]

    def _pair(self, number: int) -> tuple[StreamGraph, Cluster]:
        """Return the graph and the cluster of a case."""
        return self._drawn.graph(number), self._drawn.cluster(number)

    @cached_property
    def _drawn(self) -> Recipe:
        return Recipe(self.recipe, self.count, seed=self.seed)


@dataclass(frozen=True)
class EnasCases(Cases):
    """Recurrent cells of ENAS merged to 40 operators, each on a device network of its own.

    The paper (section 5.2) has 8 devices and does not state their speeds. Here they are networks of
    `giph-code`, and the work and bytes of all graphs are multiplied by two fixed numbers, after
    which their means are those of GiPH's task graphs. Every device can run every operator.

    Parameters
    ----------
    recipe, count, seed, thorough
        See `Cases`; the recipe is that of the graphs.
    """

    recipe: str = "enas-ptb:backward=false"
    count: int = 60

    def _pair(self, number: int) -> tuple[StreamGraph, Cluster]:
        drawn = self._drawn.graph(number)
        graph, _ = drawn.with_numbers(
            instructions=drawn.instructions * (MEAN_COMPUTE * INSTRUCTIONS_PER_UNIT / MEAN_FLOPS),
            stream_payload_bytes=drawn.stream_payload_bytes
            * (MEAN_BYTES * BYTES_PER_UNIT / MEAN_TENSOR_BYTES),
        )
        networks = Recipe(f"giph-code:devices={ENAS_DEVICES}", self.count, seed=self.seed)
        return graph, networks.cluster(number)

    @cached_property
    def _drawn(self) -> Recipe:
        return Recipe(self.recipe, self.count, range(GROUPS, GROUPS + 1), self.seed)


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    train
        The cases to train on.
    epochs
        Passes over them.
    tests
        Name -> the cases to test on.
    objective
        What is minimised.
    systems
        The policies that are trained.
    """

    train: Cases
    epochs: int
    tests: Mapping[str, Cases]
    objective: Makespan = field(default_factory=Makespan)
    systems: tuple[str, ...] = (GIPH, OURS)


def experiments(size: Registered) -> dict[str, Experiment]:
    """Return the experiments by name."""
    epochs, cases = size.epochs, size.training_cases
    steps = epochs[SEVERAL] * cases[SEVERAL]
    share = Cases("giph-code", min(size.drawn, SHARE), DRAWN_SEED)
    noisy = {"objective": Makespan(noise=NOISE, repeats=NOISY_PASSES), "systems": RIVALS}
    wins = {
        DRAWN: Cases("giph-code", size.drawn, DRAWN_SEED),
        PAPER_RANGES: Cases("giph-paper", size.drawn // 2, DRAWN_SEED),
    }

    def of_setting(setting: str, tests: Mapping[str, Cases], **others: Any) -> Experiment:
        recipe = f"giph-code:cases={setting}:split="
        named = Cases(f"{recipe}test", size.cases, thorough="objective" not in others)
        train = Cases(f"{recipe}train", cases[setting])
        return Experiment(train, epochs[setting], {setting: named, **tests}, **others)

    def on_devices(count: int) -> Experiment:
        train = Cases(f"giph-code:devices={count}", steps, OTHER_SEED)
        larger = Cases(f"giph-code:devices={LARGER}", share.count, DRAWN_SEED)
        return Experiment(train, 1, {DRAWN: share, f"{LARGER} devices": larger})

    def of_family(name: str, family: Callable[..., Cases]) -> Experiment:
        tests = {name: family(count=size.cases, seed=DRAWN_SEED)}
        return Experiment(family(count=steps, seed=OTHER_SEED), 1, tests, systems=RIVALS)

    return {
        SINGLE: of_setting(SINGLE, {}, systems=tuple(SYSTEMS)),
        SEVERAL: of_setting(SEVERAL, wins, systems=tuple(SYSTEMS)),
        NOISY: of_setting(SINGLE, {}, **noisy),
        NOISY_SEVERAL: of_setting(SEVERAL, {}, **noisy),
        TOTAL: of_setting(SEVERAL, {}, objective=TotalCost()),
        **{f"trained on {count} devices": on_devices(count) for count in (FEW, MANY, LARGER)},
        FUSION: of_family(FUSION, fusion_cases),
        ENAS: of_family(ENAS, EnasCases),
    }


def fusion_cases(count: int, seed: int = DRAWN_SEED) -> Cases:
    """Return successive snapshots of one map, by default those of the tests."""
    return Cases("sensor-fusion:block=1", count, seed)
