"""Learned placers of other authors, trained on each workload: Placeto and the RNN placer."""

import time
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from sim import work_clock
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.studies.hsdag.plain import seconds_of
from streamplace.studies.hsdag.registered import PLACETO, RNN, Registered
from streamplace.studies.hsdag.workloads import network_problem
from streamplace.studies.study import Row
from streamplace.training.trials import PUBLISHED, Trial, run_trial


def placeto(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of Placeto, after as many whole sweeps as HSDAG's evaluations allow.

    Its first sweep starts from the best single device, as HSDAG's episodes do.
    """
    _warm_up()
    begun, operators = time.process_time(), len(problem.graph.names)
    sweeps = max(1, size.evaluations // operators)
    stage = PUBLISHED.model_copy(update={"epochs": sweeps})
    losses = run_trial(Trial(problem, seed=seed), stage)
    return {
        "system": PLACETO,
        "best_s": float(losses[-1]),
        "evaluations": sweeps * operators + 1,
        "cpu_s": time.process_time() - begun,
    }


def rnn(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of the RNN placer."""
    steps = max(1, size.evaluations // size.rnn_samples)
    placer = f"rnn:steps={steps}:samples={size.rnn_samples}"
    with work_clock.cpu_time():
        found = run_placer(problem, placer, np.random.default_rng(seed), None)
    return {
        "system": RNN,
        "best_s": seconds_of(problem, found.placement.devices),
        "evaluations": steps * size.rnn_samples,
        "cpu_s": found.seconds,
    }


@cache
def _warm_up() -> None:
    """Load kernels, whose seconds are not those of a placement."""
    stage = PUBLISHED.model_copy(update={"epochs": 2})
    run_trial(Trial(network_problem("resnet50")), stage)


OTHERS: Mapping[str, Callable[[Problem, Registered, int], Row]] = {PLACETO: placeto, RNN: rnn}
"""System -> its training."""
