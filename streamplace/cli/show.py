"""Results for people: rich tables on stdout."""

import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from streamplace.cli.options import tell
from streamplace.cli.terminal import NAME_WIDTH, console, listed, name_in, print_table
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed as quoted
from streamplace.problem.placement import Placement
from streamplace.scoring.score import EngineScore, ThroughputScore
from streamplace.workflows.diff import Difference
from streamplace.workflows.explain import Explanation
from streamplace.workflows.improving_moves import ImprovingMove
from streamplace.workflows.migrate import Migration
from streamplace.workflows.place import Result
from streamplace.workflows.plan import Plan

LINKS_SHOWN = 8
EVERY_S = 10.0  # seconds between lines of training


def score(placement: Placement, scored: ThroughputScore, to_stderr: bool = False) -> None:
    """Print throughput, bottleneck, devices and the busiest links."""
    out = console(to_stderr)
    out.print(_achieved(placement, scored))
    if isinstance(scored, EngineScore):
        _ran(out, scored)
    top = scored.bottleneck
    out.print(f"bottleneck {top.kind} {name_in(out, top.name)} at {top.utilisation:.1%}")
    pes = placement.pes
    names = max(len("device"), *(len(load.name) for load in scored.devices))
    room = out.width - names - len("  utilisation  ")
    rows = [
        (
            load.name,
            f"{load.utilisation:.1%}",
            listed(pes.get(load.name, ()), max(room, NAME_WIDTH)),
        )
        for load in scored.devices
    ]
    print_table(out, ("device", "utilisation", "operators"), rows, names=(0, 2))
    busiest = sorted(scored.links, key=lambda load: -load.utilisation)
    if busiest:
        links = [(link.name, f"{link.utilisation:.1%}") for link in busiest[:LINKS_SHOWN]]
        print_table(out, ("link", "utilisation"), links)
    if len(busiest) > LINKS_SHOWN:
        out.print(f"and {len(busiest) - LINKS_SHOWN} links less busy")


def imported(
    graph: StreamGraph, guessed: Sequence[tuple[str, str]], notes: Sequence[str], file: str
) -> None:
    """Print what was read, on stderr: what is guessed, and what is not known."""
    out = console(to_stderr=True)
    counts = f"{len(graph.names):,} operators, {len(graph.streams):,} streams"
    out.print(f"wrote {file}: {counts}" if file != "-" else counts)
    if guessed:
        room = out.width - len("guessed: ")
        out.print(f"guessed: {listed([f'{a} -> {b}' for a, b in guessed], room)}")
    for note in notes:
        out.print(f"note: {note}")
    for what in graph.lacking:
        out.print(f"not known: {what}")
    if graph.source_rate is None:
        out.print("not known: the source rate; --costs or place --source-rate tell it")


def assumptions(graph: StreamGraph) -> list[str]:
    """Return what an import assumes that documents of engines hardly ever tell."""
    shares = graph.source_share[graph.sources]
    if len(shares) < 2 or shares.max() > shares.min():  # noqa: PLR2004 - one has nothing to share
        return []
    called = quoted(graph.names[v] for v in graph.sources)
    return [f"{called} share the source rate equally; [source_shares] of --costs tells otherwise"]


def _achieved(placement: Placement, scored: ThroughputScore) -> str:
    """Return throughput in words."""
    problem = placement.problem
    several, most = len(problem.source_rates), problem.target_utilisation
    of = f"{scored.source_rate:,.6g}" + (f", the worst of {several} rates" if several > 1 else "")
    under = scored.model + (f", at most {most:.4g} of any device or link used" if most < 1 else "")
    reached = f"{scored.throughput:,.6g} tuples/s, {scored.relative_throughput:.1%}"
    return f"throughput {reached} of {of} ({under})"


def _ran(out: Console, scored: EngineScore) -> None:
    """Print what a run of the engine tells besides."""
    if scored.latency_s is not None:
        mean, p50, p99 = (scored.latency_s[name] for name in ("mean", "p50", "p99"))
        out.print(f"latency {mean:.4g} s on average, half within {p50:.4g}, 99% within {p99:.4g}")
    if scored.latency_s is None:
        out.print("nothing arrived at a sink while measured")
    elif not scored.settled:
        growth = f"queues changed by {scored.queue_growth:+,.4g} tuples/s"
        out.print(f"had not settled: {growth}; a longer run may tell other figures")


def result(found: Result, to_stderr: bool = False) -> None:
    """Print a placement, its score and how far it may be from the best."""
    score(found.placement, found.score, to_stderr)
    out = console(to_stderr)
    line = f"placed by {name_in(out, found.placer)} in {found.seconds:.3g} s"
    if found.bound is not None:
        line += f"; no placement exceeds {found.bound:,.6g} tuples/s, "
        line += f"so the gap is at most {found.gap:.1%}"
    if found.status is not None:
        line += ": proven optimal" if found.status == "OPTIMAL" else "; not proven in time"
    out.print(line)


def plan(found: Plan) -> None:
    """Print what so many devices sustain, and how many keep up."""
    out = console()
    rows = [
        (
            str(row.devices),
            f"{row.max_source_rate:,.6g}",
            f"{row.bound:,.6g}",
            f"{row.relative_throughput:.1%}",
        )
        for row in found.rows
    ]
    print_table(out, ("devices", "sustain, tuples/s", "no more than", "relative"), rows, names=())
    fewest = found.fewest_devices
    if fewest is None:
        out.print(f"none of these keeps up with {found.source_rate:,.6g} tuples/s")
    else:
        devices = "1 device keeps" if fewest == 1 else f"{fewest} devices keep"
        out.print(f"{devices} up with {found.source_rate:,.6g} tuples/s")


def replacement(found: Migration, to_stderr: bool = False) -> None:
    """Print what moves, and what the moves that did not have to be gain."""
    out = console(to_stderr)
    rows = [
        (move.operator, move.source, move.target, why)
        for why, moves in (("has to", found.forced), ("", found.chosen))
        for move in moves
    ]
    if rows:
        print_table(out, ("operator", "from", "to", ""), rows, names=range(4))
    before, after = found.staying.throughput, found.result.score.throughput
    gain = f" ({after / before - 1:+.1%})" if before else ""
    out.print(
        f"{len(found.forced)} operators have to move, {len(found.chosen)} more do; "
        f"throughput {before:,.6g} -> {after:,.6g} tuples/s{gain}"
    )


def difference(found: Difference) -> None:
    """Print moves, what they carry, and what they gain."""
    out = console()
    for what, names in (("gone", found.gone), ("new", found.new)):
        if names:
            said = f"devices that are {what}: "
            out.print(said + listed(names, out.width - len(said)))
    if found.moves:
        rows = [(move.operator, move.source, move.target) for move in found.moves]
        print_table(out, ("operator", "from", "to"), rows, names=range(3))
    carried = f" of {found.memory_bytes:,.0f} bytes of memory" if found.memory_bytes else ""
    before, after = found.throughput
    gain = f", {after - before:+,.6g}" + (f" ({after / before - 1:+.1%})" if before else "")
    out.print(
        f"{len(found.moves)} moves{carried}; "
        f"throughput {before:,.6g} -> {after:,.6g} tuples/s{gain}"
    )
    rates = [score.source_rate for score in found.scores]
    models = [score.model for score in found.scores]
    if len(set(rates)) > 1 or len(set(models)) > 1:
        told = (f"{rate:,.6g} tuples/s ({of})" for rate, of in zip(rates, models, strict=True))
        out.print(f"scored at {' and at '.join(told)}")


def explanation(placement: Placement, found: Explanation, shown: int) -> None:
    """Print what makes the bottleneck, and the moves that help: so many of each."""
    out, top = console(), found.score.bottleneck
    out.print(_achieved(placement, found.score))
    if placement.problem.model != found.score.model:
        out.print(f"explained by {found.score.model}: a run of the engine shows nothing above full")
    if found.rate_factor is None:
        out.print("nothing limits: no device and no link has anything to do")
        return
    most = placement.problem.target_utilisation
    name = f"{top.kind} {name_in(out, top.name)}"
    limit = f" ({most:.1%} may be used)" if most < 1 else ""
    if not found.limited:
        out.print(f"nothing limits: {name}, the busiest, is at {top.utilisation:.1%}{limit}")
        out.print(f"up to {found.rate_factor:.4g} times the source rate would be kept up with")
    else:
        out.print(f"bottleneck {name} at {top.utilisation:.1%}{limit}")
    rows = [
        (" -> ".join(one.names), f"{one.utilisation:.1%}", f"{one.share:.1%}")
        for one in found.contributions[:shown]
    ]
    kind = "operator" if top.kind == "device" else "stream"
    print_table(out, (kind, "utilisation", "share"), rows)
    if len(found.contributions) > shown:
        out.print(f"and {len(found.contributions) - shown} that contribute less")
    if found.limited:
        _remedies(out, found, shown)


def _remedies(out: Console, found: Explanation, shown: int) -> None:
    """Print the moves that help; devices that are as good as another stand in one row."""
    if not found.every_move_tried:
        out.print("too large to try all moves: only those of units that load it most were tried")
    if not found.moves:
        out.print("no single move helps")
        return
    alike: dict[tuple[str, ...], list[ImprovingMove]] = {}
    for move in found.moves:
        key = (
            listed(move.operators),
            move.source,
            f"{move.throughput:,.6g}",
            f"+{move.gain:,.6g}",
        )
        alike.setdefault(key, []).append(move)
    rows = []
    for (who, source, after, gain), moves in list(alike.items())[:shown]:
        then = moves[0].bottleneck
        to = listed([move.target for move in moves])
        limits = f"{then.kind} {then.name} at {then.utilisation:.1%}"
        rows.append((who, source, to, after, gain, limits))
    heads = ("move", "from", "to", "throughput", "gain", "new bottleneck")
    print_table(out, heads, rows, names=(0, 1, 2, 5))
    if len(alike) > shown:
        out.print(f"and {len(alike) - shown} that help less")


def facts(found: dict[str, Any], indent: str = "") -> None:
    """Print nested facts, one a line."""
    out = console()
    for key, value in found.items():
        label = indent + key.replace("_", " ")
        if isinstance(value, dict):
            out.print(f"{label}:")
            facts(value, indent + "  ")
        elif isinstance(value, list):
            room = out.width - len(label) - 2
            out.print(f"{label}: {listed([str(item) for item in value], room)}")
        else:
            room = max(out.width - len(label) - 2, NAME_WIDTH)
            out.print(f"{label}: {name_in(out, str(value), room)}")


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
        tell("  ".join(told))
