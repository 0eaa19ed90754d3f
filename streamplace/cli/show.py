"""Results for people: rich tables on stdout."""

import time
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from streamplace.comparison import Comparison
from streamplace.moves import Difference
from streamplace.placement import Placement
from streamplace.score import EngineScore, Score
from streamplace.solve import Result

LINKS_SHOWN = 8
WIDTH_OF_FILES = 200  # where stdout is no terminal nothing is to be cut off
NAMES_SHOWN = 12
NAME_WIDTH = 48
EVERY_S = 10.0  # seconds between lines of training


def score(placement: Placement, scored: Score, to_stderr: bool = False) -> None:
    """Print throughput, bottleneck, devices and the busiest links."""
    out = _console(to_stderr)
    problem = placement.problem
    several, most = len(problem.source_rates), problem.target_utilisation
    of = f"{scored.source_rate:,.6g}" + (f", the worst of {several} rates" if several > 1 else "")
    under = scored.model + (f", at most {most:.4g} of any device or link used" if most < 1 else "")
    out.print(
        f"throughput {scored.throughput:,.6g} tuples/s, "
        f"{scored.relative_throughput:.1%} of {of} ({under})"
    )
    if isinstance(scored, EngineScore):
        _ran(out, scored)
    top = scored.bottleneck
    out.print(f"bottleneck {top.kind} {escape(top.name)} at {top.utilisation:.1%}")
    table = Table("device", "utilisation", "operators", box=None, pad_edge=False)
    pes = placement.pes
    for load in scored.devices:
        operators = _names(pes.get(load.name, ()))
        table.add_row(escape(load.name), f"{load.utilisation:.1%}", operators)
    out.print(table)
    busiest = sorted(scored.links, key=lambda load: -load.utilisation)
    if busiest:
        table = Table("link", "utilisation", box=None, pad_edge=False)
        for link in busiest[:LINKS_SHOWN]:
            table.add_row(escape(link.name), f"{link.utilisation:.1%}")
        out.print(table)
    if len(busiest) > LINKS_SHOWN:
        out.print(f"and {len(busiest) - LINKS_SHOWN} links less busy")


def _ran(out: Console, scored: EngineScore) -> None:
    """Print what a run of the engine tells besides."""
    if scored.latency_s is not None:
        mean, p50, p99 = (scored.latency_s[name] for name in ("mean", "p50", "p99"))
        out.print(f"latency {mean:.4g} s on average, half within {p50:.4g}, 99% within {p99:.4g}")
    if not scored.settled:
        out.print("throughput had not settled: run it for longer")


def result(found: Result, to_stderr: bool = False) -> None:
    """Print a placement, its score and how far it may be from the best."""
    score(found.placement, found.score, to_stderr)
    line = f"placed by {escape(found.placer)} in {found.seconds:.3g} s"
    if found.bound is not None:
        line += f"; no placement exceeds {found.bound:,.6g} tuples/s, "
        line += f"so the gap is at most {found.gap:.1%}"
    _console(to_stderr).print(line)


def difference(found: Difference) -> None:
    """Print moves, and throughput before and after."""
    out = _console()
    table = Table("operator", "from", "to", box=None, pad_edge=False)
    for move in found.moves:
        table.add_row(escape(move.operator), escape(move.source), escape(move.target))
    if found.moves:
        out.print(table)
    before, after = found.throughput
    out.print(f"{len(found.moves)} moves; throughput {before:,.6g} -> {after:,.6g} tuples/s")


def comparison(found: Comparison) -> None:
    """Print the table of a comparison."""
    out = _console()
    heads = ("placer", "rate", "mean", "Q1", "median", "min", ">0.97", "vs metis", "devices", "ms")
    table = Table(*heads, box=None, pad_edge=False, title_justify="left")
    table.columns[0].min_width = min(NAME_WIDTH, max(map(len, found.placers)))
    table.title = f"relative throughput over {len(found.graphs)} graphs ({found.model})"
    for row in found.rows:
        against = "-"
        if row.better_than_metis is not None and row.worse_than_metis is not None:
            against = f"+{row.better_than_metis:.0%} -{row.worse_than_metis:.0%}"
        rate = "own" if row.source_rate is None else f"{row.source_rate:g}"
        numbers = (row.mean, row.q1, row.median, row.min)
        table.add_row(
            escape(row.placer),
            rate,
            *(f"{number:.3f}" for number in numbers),
            f"{row.share_above_0_97:.0%}",
            against,
            f"{row.mean_devices:.1f}",
            f"{row.seconds_per_graph * 1e3:.2f}",
        )
    out.print(table)


def facts(found: dict[str, Any], indent: str = "") -> None:
    """Print nested facts, one a line."""
    out = _console()
    for key, value in found.items():
        label = indent + escape(key.replace("_", " "))
        if isinstance(value, dict):
            out.print(f"{label}:")
            facts(value, indent + "  ")
        elif isinstance(value, list):
            out.print(f"{label}: {_names([str(item) for item in value])}")
        else:
            out.print(f"{label}: {escape(str(value))}")


def _console(to_stderr: bool = False) -> Console:
    out = Console(stderr=to_stderr, highlight=False, soft_wrap=True)
    if not out.is_terminal:
        out.width = WIDTH_OF_FILES
    return out


def _names(names: tuple[str, ...] | list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return escape(", ".join(names[:NAMES_SHOWN])) + (f" and {more} more" if more > 0 else "")


class Progress:
    """Says on stderr how training goes: a line every few seconds, and one an epoch."""

    def __init__(self) -> None:
        self._started = self._said = time.monotonic()

    def __call__(self, record: dict[str, float | int]) -> None:
        """Note a step; see `training.trainer`."""
        now = time.monotonic()
        if now - self._said < EVERY_S and "validation" not in record:
            return
        self._said = now
        told = [f"{now - self._started:6.0f} s  epoch {record['epoch']}  step {record['step']}"]
        shown = ("loss", "reward", "entropy", "gap", "validation")
        told += [f"{name} {record[name]:.4f}" for name in shown if name in record]
        click.echo("  ".join(told), err=True)
