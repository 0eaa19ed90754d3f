"""Ablations of the policy: the same short training run, each time without one part of the policy.

    python -m benchmarks.ablations [--model MODEL] [--steps N] [--only NAME …]

Every variant trains on 3,150 generated graphs (`dream`, seed 1) for the same number of steps, over
which the learning rate falls, and then places 630 other graphs (seed 2). The table has the relative
throughput of one pass and of the best of 16 samples, at 1e4 and 2e4 tuples/s. Under `bottleneck`,
training uses a source rate that no placement sustains, because the ranks of placements are the same
at every such rate. Under `path-average`, the problems use the two rates in turn.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, cycle
from typing import Any

import numpy as np
import torch
from torch import nn

from streamplace import Problem, Recipe
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer import features
from streamplace.learning.policy.device_scorer.features import ScorerProblem
from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.learning.policy.placer import TEMPERATURE
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.training.algorithms.base import Known, Step
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.loop import make_algorithm
from streamplace.learning.training.problems import encoded_by, steps_of
from streamplace.learning.training.stages import (
    ImitationStage,
    OptimiserSection,
    ReinforceStage,
    Stage,
)
from streamplace.problem.objective import Model
from streamplace.scoring.throughput import throughput
from streamplace.sim.lookahead import CANDIDATE_FEATURES

TRAINED, PLACED = 3150, 630  # graphs to train on, and graphs to place
RATES = (1e4, 2e4)  # tuples/s
TRAINING_RATES = {"bottleneck": (1e5,), "path-average": RATES}
TEACHER = "search:evaluations=4000"
COLUMNS = (
    "variant",
    "one pass",
    "Q1",
    "one pass at 2e4",
    "best of 16",
    "best of 16 at 2e4",
    "minutes",
)
LINK_FEATURES = (
    "highest",
    "link",
    "rise",
    "local",
    "heaviest local",
    "crossing",
    "open",
    "open then",
)

BATCH = 64  # problems per batch
BASE: dict[str, dict[str, Any]] = {
    "policy": {"kind": "device-scorer", "sizes": {}},
    "stage": {
        "algorithm": "reinforce",
        "epochs": 1,
        "samples": 8,
        "reward": "log",
        "normalise": True,
        "entropy": 0.01,
        "per_decision": True,
    },
    "memory": {"size": 1, "threshold": -1e9, "samples": 1, "only_better": True, "imitate": 0.3},
}
OPTIMISER = OptimiserSection(rate=1e-3, final_rate=1e-5, warm_up=50, largest_gradient=1.0)


@dataclass(frozen=True)
class Variant:
    """One training run, described by its differences from that of the complete policy.

    Parameters
    ----------
    changes
        Section of `BASE` -> the keys that differ, with their values.
    encoding
        A function that returns an encoded problem with changed features.
    change
        A function that changes the new policy in place.
    imitated
        Share of the steps, at the start, that imitate a teacher.
    """

    name: str
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    encoding: Callable[[ScorerProblem], ScorerProblem] = lambda encoded: encoded
    change: Callable[[DeviceScorer], None] = lambda policy: None
    imitated: float = 0.0

    def part(self, name: str) -> dict[str, Any]:
        """Return a section of `BASE` with the changes of this variant."""
        return {**BASE[name], **self.changes.get(name, {})}

    @property
    def stage(self) -> ReinforceStage:
        """The reinforcement stage."""
        return ReinforceStage.model_validate({**self.part("stage"), "memory": self.part("memory")})


class VariantScorer(DeviceScorer):
    """A device scorer with the changes of a variant."""

    def __init__(self, section: PolicySection, variant: Variant) -> None:
        super().__init__(section.sizes)  # type: ignore[arg-type]
        self._encoding = variant.encoding
        variant.change(self)

    def encode(self, problem: Problem) -> ScorerProblem:
        """Compute the features of a problem."""
        return self._encoding(features.encode(problem, self.order_names))


def without_symmetry(encoded: ScorerProblem) -> ScorerProblem:
    """Give every device its own kind, so that the symmetry of equal devices is not broken."""
    kind = np.arange(len(encoded.problem.cluster.devices), dtype=np.int32)
    return replace(encoded, kind=kind, lookahead=encoded.lookahead._replace(kind=kind))


def without_streams(encoded: ScorerProblem) -> ScorerProblem:
    """Set all stream features to zero."""
    return replace(encoded, streams=np.zeros_like(encoded.streams))


def ignore_features(columns: Sequence[str], policy: DeviceScorer) -> None:
    """Make a policy ignore some look-ahead features: their weights are zero and stay zero.

    Parameters
    ----------
    columns
        Names of features, as in `CANDIDATE_FEATURES`.
    """
    weight = policy.get_submodule("prospect").get_parameter("weight")
    mask = torch.ones_like(weight)
    mask[:, [CANDIDATE_FEATURES.index(name) for name in columns]] = 0.0
    with torch.no_grad():
        weight.mul_(mask)
    weight.register_hook(lambda gradient: gradient * mask)  # type: ignore[no-untyped-call]


def zero_and_freeze(module: str, policy: DeviceScorer) -> None:
    """Set the weights of a linear layer, named `module`, to zero; exclude them from training."""
    weight = policy.get_submodule(module).get_parameter("weight")
    nn.init.zeros_(weight)
    weight.requires_grad_(False)


VARIANTS = (
    Variant("complete"),
    Variant("imitating a search for the first tenth", imitated=0.1),
    Variant("without memory", {"memory": {"size": 0, "imitate": 0.0}}),
    Variant("without normalised advantages", {"stage": {"normalise": False}}),
    Variant("without entropy", {"stage": {"entropy": 0.0}}),
    Variant("reward: relative throughput", {"stage": {"reward": "relative"}}),
    Variant("without breaking symmetry", encoding=without_symmetry),
    Variant("without stream features", encoding=without_streams),
    Variant(
        "without features of the operators on the device",
        change=partial(zero_and_freeze, "resident"),
    ),
    Variant("without look-ahead on links", change=partial(ignore_features, LINK_FEATURES)),
    Variant("one hop of messages", {"policy": {"sizes": {"hops": 1}}}),
    Variant("both decoding orders", {"policy": {"sizes": {"orders": [0, 1]}}}),
    Variant("path by path", {"policy": {"sizes": {"orders": [1]}}}),
    Variant("hidden 64", {"policy": {"sizes": {"hidden": 64}}}),
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--model", choices=sorted(TRAINING_RATES), default="bottleneck", help="default: bottleneck"
    )
    parser.add_argument(
        "--steps", type=int, default=300, help="training steps per variant; default: 300"
    )
    names = [variant.name for variant in VARIANTS]
    parser.add_argument(
        "--only",
        nargs="*",
        choices=names,
        default=names,
        metavar="NAME",
        help="variants to train; default: all",
    )
    arguments = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for variant in VARIANTS:
        if variant.name in arguments.only:
            started = time.process_time()
            policy = trained(variant, arguments.model, arguments.steps)
            minutes = (time.process_time() - started) / 60
            figures = measured(arguments.model, policy)
            print(f"| {variant.name} | {figures} | {minutes:.1f} |", flush=True)


def problems(number: int, seed: int, model: Model, rates: Sequence[float]) -> list[Problem]:
    """Return generated problems, with the source rates in turn."""
    recipe = Recipe("dream", number, seed=seed)
    return [
        Problem(recipe.graph(i), model=model, source_rate=rate)
        for i, rate in zip(range(number), cycle(rates), strict=False)
    ]


def trained(variant: Variant, model: Model, steps: int) -> DeviceScorer:
    """Train a policy for a number of steps."""
    torch.manual_seed(0)
    policy = VariantScorer(policy_section(variant.part("policy")), variant)
    reinforce = variant.stage
    rates = TRAINING_RATES[model] if reinforce.reward == "log" else RATES[:1]
    encoded = encoded_by(policy, problems(TRAINED, 1, model, rates))
    own = np.arange(TRAINED, dtype=np.int32)
    learner = Learner(policy, encoded, own, 0, Workers(), jobs=1)
    optimiser = Optimiser(policy, OPTIMISER, (0, 1))
    stages: list[tuple[Stage, int]] = [(reinforce, steps)]
    if variant.imitated:
        imitation = ImitationStage(algorithm="imitation", epochs=1, teacher=TEACHER, reward="log")
        stages.insert(0, (imitation, round(variant.imitated * steps)))
    known: Known = {}
    numbers, done = numbers_of_steps(learner), 0
    for stage, end in stages:
        algorithm = make_algorithm(stage, learner, optimiser)
        algorithm.begin(known)
        while done < end:
            optimiser.set_rate(done / steps, done)
            algorithm.step(
                Step(next(numbers), seed=[0, 2, done, 0], epoch=0, progress=done / steps)
            )
            done += 1
        known = algorithm.known()
    return policy


def numbers_of_steps(learner: Learner) -> Iterator[np.ndarray]:
    """Yield the indices of the problems of each step, epoch after epoch."""
    for epoch in count():
        yield from steps_of(learner.encoded, learner.own, BATCH, 0, [0, epoch])


def measured(model: Model, policy: DeviceScorer) -> str:
    """Place problems that were not used for training; return the figures of a table row."""
    columns = []
    generator = torch.Generator().manual_seed(0)
    for rate in RATES:
        to_place = sorted(problems(PLACED, 2, model, [rate]), key=lambda p: -len(p.graph.names))
        reached = []
        for i in range(0, PLACED, BATCH):
            batch = policy.batch([policy.encode(problem) for problem in to_place[i : i + BATCH]])
            choose = Sampler(generator, TEMPERATURE, first_is_likeliest=True)
            rows = policy.sample(batch, 16, choose)
            for one, row in zip(batch.encoded, rows, strict=True):
                reached.append(throughput(one.problem, row[:, : one.size]) / rate)
        columns.append(np.stack(reached))
    low, high = columns
    figures = [low[:, 0].mean(), np.percentile(low[:, 0], 25), high[:, 0].mean()]
    figures += [low.max(axis=1).mean(), high.max(axis=1).mean()]
    return " | ".join(f"{figure:.3f}" for figure in figures)


if __name__ == "__main__":
    main()
