"""Tables of how often one placer is as good as its rivals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import exp, log
from statistics import mean, median

LIMITS = 1 + 1e-9, 1 + 1e-3, 1 + 5e-3, 1 + 1e-2
SAME = "search"  # anneals as `auto` does, so that at equal time they differ by when they stop
AGAIN = "search again"  # a second run of `SAME` with the same seed


@dataclass(frozen=True)
class Compared:
    """The results of `auto` and its rivals on one problem, by name.

    Attributes
    ----------
    problem
        Family, kind of network, and order on devices.
    makespans_s
        None where a placer found no placement.
    seconds
        The time that each placer took.
    """

    number: int
    problem: str
    operators: int
    devices: int
    makespans_s: dict[str, float | None]
    seconds: dict[str, float]

    def ratio(self, rival: str, placer: str = "auto") -> float | None:
        """Return the makespan of a placer over that of a rival; None without both."""
        own, other = self.makespans_s[placer], self.makespans_s[rival]
        if own is None or other is None:
            return None
        return own / other if other else 1.0 + own

    def worst(self, rivals: Iterable[str]) -> float:
        """Return the largest ratio to several rivals, at least 1."""
        return max([1.0, *(r for rival in rivals if (r := self.ratio(rival)) is not None)])


def report(done: list[Compared], rivals: tuple[str, ...]) -> None:
    """Print a row per rival, and one per network, order and family for all rivals together.

    If `SAME` is a rival, print the latter without it as well, and how `auto` compares with it. If
    it was run `AGAIN`, print how it compares with itself.
    """
    done = sorted(done, key=lambda each: each.number)
    _headline("rival", "  mean ratio, largest")
    for rival in rivals:
        rows = [(r, each) for each in done if (r := each.ratio(rival)) is not None]
        worst, where = max(rows, key=lambda row: row[0])
        place = f"{where.problem} ({where.number})" if worst > LIMITS[0] else ""
        middle = exp(mean(log(row[0]) for row in rows))
        _row(rival, [row[0] for row in rows], f"  {middle:.4f}  {max(worst, 1.0):.4f} {place}")
    _by_part("every rival, by", done, rivals)
    if SAME in rivals:
        _by_part(f"all without {SAME}, by", done, tuple(n for n in rivals if n != SAME))
        print(f"\nauto beside {SAME}: {_beside([r for e in done if (r := e.ratio(SAME))])}")
        again = [e for e in done if AGAIN in e.makespans_s]
        if itself := [r for e in again if (r := e.ratio(AGAIN, SAME))]:
            _row(f"{SAME} beside itself", itself, f"  {max(itself):.4f}")
    print()
    for name in ("auto", *rivals):
        seconds = [each.seconds[name] for each in done]
        print(f"{name:28} seconds: median {median(seconds):.3f}, most {max(seconds):.3f}")


def _beside(ratios: list[float]) -> str:
    """Return on how many problems `auto` is equal, shorter and longer, and the mean ratio."""
    shorter, longer = sum(r < 1 / LIMITS[0] for r in ratios), sum(r > LIMITS[0] for r in ratios)
    counts = f"equal on {len(ratios) - shorter - longer}, shorter on {shorter}, longer on {longer}"
    return f"{counts}; mean ratio {mean(ratios):.4f}" if ratios else "no placements"


def _by_part(title: str, done: list[Compared], rivals: tuple[str, ...]) -> None:
    """Print rows for the networks, the orders, the families, and all problems."""
    print()
    _headline(title)
    parts: tuple[Callable[[Compared], str], ...] = (
        lambda each: each.problem.split(", ")[1],
        lambda each: each.problem.split(", ")[2],
        lambda each: each.problem.split(", ")[0],
        lambda _: "all",
    )
    for part in parts:
        for name in sorted({part(each) for each in done}):
            _row(name, [each.worst(rivals) for each in done if part(each) == name])


def _headline(title: str, more: str = "") -> None:
    print(f"{title:28}{'problems':>8}{'as good':>9}{'to 0.1%':>9}{'to .5%':>9}{'to 1%':>9}{more}")


def _row(name: str, ratios: list[float], more: str = "") -> None:
    shares = [sum(r <= limit for r in ratios) / len(ratios) for limit in LIMITS]
    print(f"{name:28}{len(ratios):8}" + "".join(f"{share:9.1%}" for share in shares) + more)
