"""`auto` against every other placer but `exact`, on random problems of all families.

    python -m benchmarks.makespans.auto [--problems 500] [--evaluations 20000]
    python -m benchmarks.makespans.auto --seconds 1 [--processes 2] [--lines FILE [--resume]]
    python -m benchmarks.makespans.auto --seconds 1 --sized --problems 100

Without ``--seconds``, placers get equal evaluations (see `EqualEvaluations`); with it, equal CPU
time (see `EqualTime`), which does not depend on what else the machine does. A row counts the
problems on which `auto` is as good, up to rounding, 0.1%, .5% and 1%, and shows the largest ratio.
``--sized`` takes problems of 100 to 3,000 operators, and the rivals that end in time there.
``--lines`` keeps a line of JSON per problem, so that a run that was stopped can be resumed.
"""

import argparse
import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.makespans.drawn import drawn_problem, sized_problem
from benchmarks.makespans.rivals import RIVALS, RIVALS_OF_SIZED, EqualEvaluations, EqualTime, Terms
from benchmarks.makespans.tally import Compared, report

LOWEST_PRIORITY = 19


@dataclass(frozen=True)
class Settings:
    """What the lines of one file have in common."""

    seed: int
    evaluations: int | None
    seconds: float | None
    sized: bool = False

    @property
    def rivals(self) -> tuple[str, ...]:
        """The placers that `auto` is compared with."""
        return RIVALS_OF_SIZED if self.sized else RIVALS

    @property
    def terms(self) -> Terms:
        """How the placers are compared."""
        if self.seconds is not None:
            return EqualTime(self.seconds, self.rivals)
        return EqualEvaluations(self.evaluations or 1)


def main() -> None:
    """Compare on the problems that the file does not have yet; then print a row per rival."""
    options = _options()
    settings = Settings(
        options.seed,
        None if options.seconds else options.evaluations,
        options.seconds,
        options.sized,
    )
    lines = Lines(options.lines, settings) if options.lines else None
    done = lines.read() if lines is not None and options.resume else []
    numbers = [n for n in range(options.problems) if n not in {each.number for each in done}]
    for each in _all_compared(numbers, settings, options.processes):
        done.append(each)
        if lines is not None:
            lines.add(each)
        if len(done) % 50 == 0:
            print(f"  {len(done)} problems", flush=True)
    report([each for each in done if each.number < options.problems], settings.rivals)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--evaluations", type=int, default=20_000)
    limit.add_argument("--seconds", type=float, help="CPU seconds of each placer and problem")
    parser.add_argument("--sized", action="store_true", help="larger problems; with --seconds")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--lines", type=Path, help="file of a line per problem")
    parser.add_argument("--resume", action="store_true", help="keep the lines of --lines")
    options = parser.parse_args()
    if options.sized and options.seconds is None:
        parser.error("--sized requires --seconds")
    if options.resume and options.lines is None:
        parser.error("--resume requires --lines")
    if options.lines is not None and options.lines.exists() and not options.resume:
        parser.error(f"{options.lines} exists; --resume adds to it")
    return options


def compare(number: int, settings: Settings) -> Compared:
    """Return the results of `auto` and its rivals on one problem."""
    draw = sized_problem if settings.sized else drawn_problem
    name, problem = draw(number, settings.seed)
    results = settings.terms.compared(problem)
    return Compared(
        number,
        name,
        len(problem.graph.names),
        len(problem.cluster.devices),
        {placer: result.makespan_s for placer, result in results.items()},
        {placer: round(result.seconds, 4) for placer, result in results.items()},
    )


def _all_compared(numbers: list[int], settings: Settings, processes: int) -> Iterator[Compared]:
    """Return the comparisons, in the order in which they end."""
    one = partial(compare, settings=settings)
    if processes == 1:
        yield from map(one, numbers)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, os.nice, (LOWEST_PRIORITY,)) as pool:
        for future in as_completed([pool.submit(one, number) for number in numbers]):
            yield future.result()


@dataclass(frozen=True)
class Lines:
    """A file of a line of settings and a line per problem.

    A line that was cut off by the end of a run is dropped.
    """

    path: Path
    settings: Settings

    def read(self) -> list[Compared]:
        """Return what the file has, and remove a last line that is not complete."""
        if not self.path.exists():
            return []
        text = self.path.read_text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole)
        head, *rows = (json.loads(line) for line in whole.splitlines() or ["{}"])
        if head and head != asdict(self.settings):
            raise SystemExit(f"{self.path}: has other settings: {head}")
        return [Compared(**row) for row in rows]

    def add(self, compared: Compared) -> None:
        """Append a line, after the line of settings."""
        is_new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a") as file:
            if is_new:
                file.write(json.dumps(asdict(self.settings)) + "\n")
            file.write(json.dumps(asdict(compared)) + "\n")


if __name__ == "__main__":
    main()
