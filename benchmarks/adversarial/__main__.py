"""Adversarial search: the problems on which one placer is worst beside another one.

    python -m benchmarks.adversarial --found FILE [--seconds 300] [--seed 0]

The method is PISA (problem-instance simulated annealing) of Coleman and Krishnamachari, "PISA: An
Adversarial Approach To Comparing Task Graph Scheduling Algorithms". It anneals over problems for
the largest ratio of two makespans. A run starts from a random chain of operators, and each step
changes one thing: it adds or removes a stream, or changes the weight of an operator, stream,
device or link by up to 0.1. Three things are our own: Metropolis's rule with temperatures from 0.1
to 0.003 accepts changes for the worse, speeds are at least 0.05 so that no time is infinite, and
there are larger and contended problems beside the small ones, all of whose placements `auto` tries.

Every placer that accepts evaluations gets the same number, so a result can be replayed. A ratio is
the median over three seeds, and ratios above 1 are confirmed with five others. FILE has a row per
run with its problem; a run that was stopped goes on from it.

Where STREAMPLACE_SAGA_PYTHON names an interpreter of an environment that has anrg-saga 2.1, `saga`
is the shortest schedule of all of SAGA's schedulers. It has runs on ``free`` networks only, since
SAGA knows no others. Since its schedulers choose the order on each device, `auto` may choose among
the orders too (``any``) beside it; all others run under ``fifo``.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adversarial.annealing import STEPS, anneal
from benchmarks.adversarial.problems import CONTENDED, LARGER, PUBLISHED, SIZES
from benchmarks.adversarial.scores import (
    EVALUATIONS,
    INTERPRETER,
    PAIRS,
    SAGA,
    TEXTS,
    Score,
    best_of,
    makespan,
    pair,
    ratios,
)
from benchmarks.adversarial.tables import CONFIRMING, SEEDS, report, report_longer, rows_of
from benchmarks.makespans.rivals import ONCE
from benchmarks.schedulers.library import Library
from streamplace.errors import StreamplaceError
from streamplace.files.writing import write_text
from streamplace.sim import work_clock


def runs(seed: int) -> Iterator[tuple[dict[str, Any], np.random.Generator]]:
    """Return runs without end, each with its own random numbers: all pairs, then restarts.

    Pairs without `auto` have only runs on the published sizes.
    """
    of_auto = [both for both in PAIRS if both[0] == "auto"]
    others = [both for both in PAIRS if both[0] != "auto"]
    waiting = [both for both in of_auto if SAGA not in both]
    turns = (LARGER, of_auto), (PUBLISHED, others), (CONTENDED, waiting), (PUBLISHED, of_auto)
    for restart in count():
        for sizes, pairs in turns:
            for placer, rival in pairs:
                numbers = seed, restart, list(SIZES).index(sizes), PAIRS.index((placer, rival))
                key = {"placer": placer, "rival": rival, "sizes": sizes, "restart": restart}
                yield key, np.random.default_rng(numbers)


def row_of(
    key: dict[str, Any], rng: np.random.Generator, scores: Mapping[str, Score]
) -> dict[str, Any]:
    """Return the row of one run, with the ratios of other seeds where the worst is above 1."""
    names = key["placer"], key["rival"]
    placer, rival = pair(*names, scores)
    is_drawn = any(TEXTS[name] not in ONCE for name in names if name != SAGA)
    worst = anneal(placer, rival, SIZES[key["sizes"]], rng, STEPS, SEEDS if is_drawn else SEEDS[:1])
    again = ratios(placer, rival, worst.instance, CONFIRMING) if worst.ratio > 1.0 else []
    return {**key, "ratio": worst.ratio, "again": again, "problem": asdict(worst.instance)}


def main() -> None:
    """Add runs until the CPU time is spent; then print a table of the worst ratios."""
    options = _options()
    settings = {"seed": options.seed, "evaluations": EVALUATIONS, "steps": STEPS}
    try:
        rows = rows_of(options.found, settings) if options.found.exists() else []
    except StreamplaceError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    scores: dict[str, Score] = {name: partial(makespan, text) for name, text in TEXTS.items()}
    with work_clock.cpu_time(), ExitStack() as stack:
        if python := os.environ.get(INTERPRETER):
            scores[SAGA] = best_of(stack.enter_context(Library("SAGA", "on_saga", python)))
        else:
            print(f"{SAGA}: skipped, as {INTERPRETER} names no interpreter", file=sys.stderr)
        begun = work_clock.now()
        for key, rng in runs(options.seed):
            is_known = {key["placer"], key["rival"]} <= scores.keys()
            if not is_known or any(key.items() <= row.items() for row in rows):
                continue
            if work_clock.now() - begun >= options.seconds:
                break
            rows.append(row_of(key, rng, scores))
            lines = ",\n".join(json.dumps(row) for row in rows)
            head = json.dumps(settings)
            write_text(options.found, f'{{"settings": {head}, "rows": [\n{lines}\n]}}\n')
        report(rows)
        report_longer([row for row in rows if row["rival"] in scores], scores)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--found", type=Path, required=True, help="JSON file of all runs")
    parser.add_argument("--seconds", type=float, default=300.0, help="CPU time to add")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
