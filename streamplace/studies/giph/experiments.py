"""The experiments of the study: cases to train on, cases to test on, and what is minimised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamplace.problem.makespan import Makespan
from streamplace.problem.total_cost import TotalCost
from streamplace.studies.giph.cases import Cases, EnasCases
from streamplace.studies.giph.registered import GIPH, OURS, SYSTEMS, Registered

SINGLE, SEVERAL, DRAWN, PAPER_RANGES = "single", "several", "drawn", "paper ranges"
NOISY, TOTAL, FUSION = "noise", "total cost", "sensor fusion"
ENAS = "neural networks"
FEW, MANY, LARGER = 6, 20, 40  # devices
SHARE = 200  # of the drawn cases, to compare policies that were trained on other clusters
NOISE, NOISY_PASSES = 0.2, 5
DRAWN_SEED, OTHER_SEED = 1, 7  # of generated test and training cases


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
    noisy = Makespan(noise=NOISE, repeats=NOISY_PASSES)
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
        return Experiment(family(count=steps, seed=OTHER_SEED), 1, tests)

    return {
        SINGLE: of_setting(SINGLE, {}, systems=tuple(SYSTEMS)),
        SEVERAL: of_setting(SEVERAL, wins, systems=tuple(SYSTEMS)),
        NOISY: of_setting(SINGLE, {}, objective=noisy),
        TOTAL: of_setting(SEVERAL, {}, objective=TotalCost()),
        **{f"trained on {count} devices": on_devices(count) for count in (FEW, MANY, LARGER)},
        FUSION: of_family(FUSION, fusion_cases),
        ENAS: of_family(ENAS, EnasCases),
    }


def fusion_cases(count: int, seed: int = DRAWN_SEED) -> Cases:
    """Return successive snapshots of one map, by default those of the tests."""
    return Cases("sensor-fusion:block=1", count, seed)
