"""What each part of our allocator is worth: the same short training without it.

    python -m benchmarks.ablations [--model MODEL] [--steps N] [--only NAME …]

Every variant trains on 3,150 generated graphs (`dream`, seed 1) for the same number of steps, with
the learning rate falling over them, and places 630 others (seed 2): relative throughput of one pass
and of the best of 16, at 1e4 and 2e4 tuples/s. Under `bottleneck` they train at a rate that no
placement sustains, since there the placements' ranks are those at every rate; under `path-average`
at the two rates in turn.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import torch
from torch import nn

from sim.lookahead import CANDIDATE_FEATURES
from streamplace import Problem, Recipe
from streamplace.policy.batch import Batch
from streamplace.policy.decoding import Sampler
from streamplace.policy.features import EncodedProblem, encode
from streamplace.policy.placer import TEMPERATURE
from streamplace.policy.registry import Network
from streamplace.problem.objective import Model
from streamplace.scoring.throughput import throughput
from streamplace.training import TrainConfig
from streamplace.training.algorithms.reinforce import Learner
from streamplace.training.distributed import Workers
from streamplace.training.problems import largest_first, steps_of
from streamplace.training.trainer import taught

TRAINED, PLACED = 3150, 630
RATES = (1e4, 2e4)
TRAINED_AT = {"bottleneck": (1e5,), "path-average": RATES}
TEACHER = "search:evaluations=4000"
COLUMNS = ("", "one pass", "Q1", "at 2e4", "best of 16", "at 2e4", "minutes")
LINKS = ("highest", "link", "rise", "local", "heaviest local", "crossing", "open", "open then")

BASE: dict[str, Any] = {
    "policy": {"kind": "device-scorer", "sizes": {}},
    "sampling": {"epochs": 1, "problems_per_step": 64, "samples": 8, "reward": "log"},
    "memory": {"size": 1, "threshold": -1e9, "samples": 1, "only_better": True, "imitate": 0.3},
    "optimiser": {
        "rate": 1e-3,
        "final_rate": 1e-5,
        "warm_up": 50,
        "largest_gradient": 1.0,
        "normalise": True,
        "entropy": 0.01,
        "per_decision": True,
    },
}


@dataclass(frozen=True)
class Variant:
    """One training: what differs from the whole."""

    name: str
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen_as: Callable[[EncodedProblem], EncodedProblem] = lambda one: one
    network: Callable[[Network], None] = lambda network: None
    imitated: float = 0.0  # share of the steps that imitate a teacher first


def without_names(one: EncodedProblem) -> EncodedProblem:
    """Let every device have a name of its own: nothing breaks their symmetry."""
    devices = len(one.problem.cluster.devices)
    return replace(one, lookahead=one.lookahead._replace(kind=np.arange(devices, dtype=np.int32)))


def without_streams(one: EncodedProblem) -> EncodedProblem:
    """Let messages know nothing of the stream they come by."""
    return replace(one, streams=np.zeros_like(one.streams))


def blind(columns: Sequence[str], network: Network) -> None:
    """Let a network not see some prospects."""
    weight = network.get_submodule("prospect").get_parameter("weight")
    mask = torch.ones_like(weight)
    mask[:, [CANDIDATE_FEATURES.index(name) for name in columns]] = 0.0
    with torch.no_grad():
        weight.mul_(mask)
    weight.register_hook(lambda gradient: gradient * mask)  # type: ignore[no-untyped-call]


def frozen(module: str, network: Network) -> None:
    """Let one linear part of a network say nothing, for good."""
    weight = network.get_submodule(module).get_parameter("weight")
    nn.init.zeros_(weight)
    weight.requires_grad_(False)


VARIANTS = (
    Variant("the whole"),
    Variant("imitating a search for the first tenth", imitated=0.1),
    Variant("without memory", {"memory": {"size": 0, "imitate": 0.0}}),
    Variant("without normalised advantages", {"optimiser": {"normalise": False}}),
    Variant("without entropy", {"optimiser": {"entropy": 0.0}}),
    Variant("reward: relative throughput", {"sampling": {"reward": "relative"}}),
    Variant("without breaking symmetry", seen_as=without_names),
    Variant("without stream features", seen_as=without_streams),
    Variant("without who is on the device", network=partial(frozen, "resident")),
    Variant("without prospects of links", network=partial(blind, LINKS)),
    Variant("one hop of messages", {"policy": {"sizes": {"hops": 1}}}),
    Variant("both decoding orders", {"policy": {"sizes": {"orders": [0, 1]}}}),
    Variant("path by path", {"policy": {"sizes": {"orders": [1]}}}),
    Variant("hidden 64", {"policy": {"sizes": {"hidden": 64}}}),
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(TRAINED_AT), default="bottleneck")
    parser.add_argument("--steps", type=int, default=300)
    names = [variant.name for variant in VARIANTS]
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    arguments = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for variant in VARIANTS:
        if variant.name in arguments.only:
            started = time.process_time()
            learner = trained(variant, arguments.model, arguments.steps)
            minutes = (time.process_time() - started) / 60
            figures = placed(variant, arguments.model, learner.network)
            print(f"| {variant.name} | {figures} | {minutes:.1f} |", flush=True)


def problems(
    count: int, seed: int, model: Model, rates: Sequence[float], variant: Variant
) -> list[EncodedProblem]:
    """Return generated problems, their rates in turn, as the variant sees them."""
    recipe = Recipe("dream", count, seed=seed)
    made = (
        Problem(recipe.graph(i), model=model, source_rate=rate)
        for i, rate in zip(range(count), cycle(rates), strict=False)
    )
    return [variant.seen_as(encode(problem)) for problem in made]


def trained(variant: Variant, model: Model, steps: int) -> Learner:
    """Train for a number of steps."""
    told = {name: {**BASE[name], **variant.changes.get(name, {})} for name in BASE}
    rates = TRAINED_AT[model] if told["sampling"]["reward"] == "log" else RATES[:1]
    learner = Learner(
        problems(TRAINED, 1, model, rates, variant), TrainConfig.model_validate(told), Workers()
    )
    variant.network(learner.network)
    every = np.arange(TRAINED)
    if variant.imitated:
        for i, one in enumerate(learner.prepared):
            row = taught((i, one.problem), placer=TEACHER, seed=0)
            learner.remember(i, row)
    done, epoch = 0, 0
    while done < steps:
        for numbers in steps_of(learner.prepared, every, 64, 0, [0, epoch]):
            learner.set_rate(done / steps, done)
            learner.step(numbers, done, -1 if done < variant.imitated * steps else 0)
            done += 1
            if done == steps:
                break
        epoch += 1
    return learner


def placed(variant: Variant, model: Model, network: Network) -> str:
    """Place problems not trained on; return the columns of the table."""
    columns = []
    generator = torch.Generator().manual_seed(0)
    for rate in RATES:
        prepared = problems(PLACED, 2, model, [rate], variant)
        order = largest_first(prepared, np.arange(PLACED))
        reached = []
        for i in range(0, PLACED, 64):
            batch = Batch.of([prepared[k] for k in order[i : i + 64]])
            choose = Sampler(generator, TEMPERATURE, first_is_likeliest=True)
            rows = network.sample(batch, 16, choose)
            for one, row in zip(batch.prepared, rows, strict=True):
                reached.append(throughput(one.problem, row[:, : one.size]) / rate)
        columns.append(np.stack(reached))
    low, high = columns
    figures = [low[:, 0].mean(), np.percentile(low[:, 0], 25), high[:, 0].mean()]
    figures += [low.max(axis=1).mean(), high.max(axis=1).mean()]
    return " | ".join(f"{figure:.3f}" for figure in figures)


if __name__ == "__main__":
    main()
