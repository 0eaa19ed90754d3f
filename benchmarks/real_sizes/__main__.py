"""`auto` and its rivals at real sizes.

    python -m benchmarks.real_sizes run --placers auto,metis-sweep --seconds 1 .1 -o FILE
    python -m benchmarks.real_sizes table FILE… [--markdown]
    python -m benchmarks.real_sizes pairs FILE…
    python -m benchmarks.real_sizes best FILE…

`run` adds a line for each problem, placer and limit, and continues a run that was interrupted.
`--set` chooses the problems: ``drawn`` (50 to 3,000 operators), ``hard`` (links that bind, 16
devices or more), ``ten-thousand``, ``large`` (10⁵ and 10⁶ operators) or ``makespans``. `--ladder`
also runs each problem on the fastest 1, 2, 3, 4, 6, 8, … of its devices, for `pairs`. `--folder`
runs the streamplace of another checkout; its names get ``@`` and its commit. `best` lowers the best
values known, which are kept beside this module. KaHIP and Mt-KaHyPar need the extra `partitioners`.
"""

import argparse
import os
import sys
from pathlib import Path

from benchmarks.real_sizes import best, gaps, problems, running, tables
from benchmarks.real_sizes.problems import Recipe
from benchmarks.real_sizes.rivals import rivals
from streamplace.errors import StreamplaceError
from streamplace.placers.limits import MaxEvaluations, MaxRuntime, PlacerLimit

ALL_RIVALS = "metis-sweep", "kahip-sweep", "mt-kahypar-sweep"
SETS = "drawn", "hard", "ten-thousand", "large", "makespans"


def main() -> None:
    """Run the command."""
    options = _options(sys.argv[1:])
    try:
        options.command(options)
    except StreamplaceError as error:
        print(f"{error}", file=sys.stderr)
        sys.exit(2)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_sizes", description=(__doc__ or "").splitlines()[0]
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="run placers")
    run.add_argument("--set", choices=SETS, default="drawn", dest="problems")
    run.add_argument("--objective", choices=("throughput", "makespan"), default="throughput")
    run.add_argument("--count", type=int, default=300, help="problems")
    run.add_argument("--seed", type=int, default=7, help="seed of the problems")
    run.add_argument("--placers", default="auto", help="names, separated by commas")
    run.add_argument("--seconds", type=float, nargs="+", default=[1.0], help="CPU seconds")
    run.add_argument("--evaluations", type=int, help="a limit instead of seconds")
    run.add_argument("--placer-seed", type=int, default=0)
    run.add_argument("--ladder", action="store_true", help="also on fewer devices")
    run.add_argument("--folder", type=Path, help="another checkout of streamplace")
    run.add_argument("--variant", metavar="TEXT", help="shown after @ in the placers' names")
    run.add_argument("--other", action="store_true", help=argparse.SUPPRESS)
    run.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    run.set_defaults(command=_run)
    for name, command in (("table", _table), ("pairs", _pairs), ("gaps", _gaps), ("best", _best)):
        other = commands.add_parser(name)
        other.add_argument("files", type=Path, nargs="+", metavar="FILE")
        other.set_defaults(command=command)
        if name == "table":
            other.add_argument("--placer", default="auto", help="the one to compare; default: auto")
            other.add_argument("--markdown", action="store_true", help="as docs/results has it")
    return parser.parse_args(words)


def _run(options: argparse.Namespace) -> None:
    if options.folder is not None:
        words = [word for word in sys.argv[1:] if word != "--folder"]
        words.remove(str(options.folder))
        words[words.index(str(options.output))] = str(options.output.resolve())
        sys.exit(running.in_other_checkout(options.folder.resolve(), [*words, "--other"]))
    _silence_stdout()
    recipes = _recipes(options)
    if options.ladder:
        recipes = [few for each in recipes for few in (*problems.smaller(each), each)]
    limits: list[PlacerLimit] = [MaxRuntime(seconds) for seconds in options.seconds]
    if options.evaluations is not None:
        limits = [MaxEvaluations(options.evaluations)]
    label, runs = running.label(), []
    variant = options.variant or (label if options.other else None)
    for name in options.placers.split(","):
        if name in ALL_RIVALS and name not in rivals():
            print(f"{name}: skipped; the extra 'partitioners' has it", file=sys.stderr)
            continue
        shown = name if variant is None else f"{name}@{variant}"
        runs += [running.Run(name, limit, options.placer_seed, label, shown) for limit in limits]
    running.run_all(recipes, runs, options.output)


def _recipes(options: argparse.Namespace) -> list[Recipe]:
    count, seed = options.count, options.seed
    if options.objective == "makespan" or options.problems == "makespans":
        return problems.passes(count, seed)
    if options.problems == "hard":
        return problems.hard(count, seed)
    sizes = {"drawn": problems.SIZES, "ten-thousand": problems.TEN_THOUSAND}
    return problems.drawn(count, seed, sizes.get(options.problems, problems.LARGE))


def _silence_stdout() -> None:
    """Discard what METIS prints about parts that it leaves empty."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _table(options: argparse.Namespace) -> None:
    tables.print_table(options.files, options.placer, markdown=options.markdown)


def _pairs(options: argparse.Namespace) -> None:
    tables.print_pairs(options.files)


def _gaps(options: argparse.Namespace) -> None:
    gaps.print_gaps(options.files)


def _best(options: argparse.Namespace) -> None:
    print(f"{best.update(options.files)} values are lower")


if __name__ == "__main__":
    main()
