"""GiPH trained on few devices, and tested on clusters of 20 and of 40 devices.

    python -m benchmarks.giph_devices --seeds 3 --cases 200

The policies have two further features (`GiPH with ends and criticality` of the study) and the
training of `streamplace study giph`. Episodes on few devices are cheap, so that twice as many are
an option: two passes on six devices take about a fifth more time than one on twenty. Makespans
after two evaluations per operator, from random placements, are divided by those of policies trained
on as many devices as they are tested on, with the same seeds. Intervals of 95% are from a paired
bootstrap over the cases, of the mean over the training seeds.
"""

import argparse
import time

import numpy as np

from streamplace.learning.policy.refining import episodes
from streamplace.learning.policy.threads import one_thread
from streamplace.papers.giph.study.registered import (
    FEW,
    FULL,
    LARGER,
    MANY,
    OURS,
    PER_OPERATOR,
    experiments,
)
from streamplace.papers.giph.study.systems import random_starts, trained
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

TRAININGS = ((FEW, 1), (FEW, 2), (MANY, 1), (LARGER, 1))
"""Devices, and passes over the training cases."""


def reached(devices: int, passes: int, seed: int, cases: int) -> tuple[dict[str, Floats], float]:
    """Return the makespans of a policy on the cases of each test, and the CPU s of its training."""
    one = experiments(FULL)[f"trained on {devices} devices"]
    begun = time.process_time()
    problems = one.train.problems(one.objective)
    policy = trained(OURS, problems, one.epochs * passes, FULL.samples, seed)
    spent, found = time.process_time() - begun, {}
    for name, test in one.tests.items():
        tested = test.problems(one.objective, range(cases))
        ends = episodes(policy, tested, random_starts(tested, 0), PER_OPERATOR[-1], seed)
        found[name] = np.array([end.lowest[-1] for end in ends])
    return found, spent


def table(seeds: int, cases: int) -> list[str]:
    """Return the lines of a table: a row per training, a column per test."""
    made: dict[tuple[int, int], list[dict[str, Floats]]] = {each: [] for each in TRAININGS}
    seconds: dict[tuple[int, int], list[float]] = {each: [] for each in TRAININGS}
    for seed in range(seeds):
        for training in TRAININGS:
            found, spent = reached(*training, seed, cases)
            made[training].append(found)
            seconds[training].append(spent)
            print(f"seed {seed}: trained on {training[0]} devices", flush=True)
    tests = dict(zip((MANY, LARGER), made[TRAININGS[0]][0], strict=True))
    lines = [
        "| trained on | passes | " + " | ".join(f"on {n} devices" for n in tests) + " | CPU s |",
        "|---|---|" + "---|" * len(tests) + "---|",
    ]
    for (devices, passes), runs in made.items():
        cells = []
        for count, test in tests.items():
            own, others = (
                np.mean([run[test] for run in of], axis=0) for of in (runs, made[count, 1])
            )
            cells.append(str(Effect.of(own / others)))
        cpu_s = f"{np.mean(seconds[devices, passes]):.0f}"
        lines.append(f"| {devices} devices | {passes} | " + " | ".join([*cells, cpu_s]) + " |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=200)
    chosen = parser.parse_args()
    with one_thread():
        print("\n".join(table(chosen.seeds, chosen.cases)))


if __name__ == "__main__":
    main()
