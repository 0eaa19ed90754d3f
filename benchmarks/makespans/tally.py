"""Tables of how often one placer is as good as its rivals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

ROUNDING, CLOSE = 1 + 1e-9, 1 + 1e-3
SAME = "search"  # anneals as `auto` does, so that at equal time they differ by when they stop


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

    def ratio(self, rival: str) -> float | None:
        """Return the makespan of `auto` over that of a rival; None without both."""
        own, other = self.makespans_s["auto"], self.makespans_s[rival]
        if own is None or other is None:
            return None
        return own / other if other else 1.0 + own

    def worst(self, rivals: Iterable[str]) -> float:
        """Return the largest ratio to several rivals, at least 1."""
        return max([1.0, *(r for rival in rivals if (r := self.ratio(rival)) is not None)])


def report(done: list[Compared], rivals: tuple[str, ...]) -> None:
    """Print a row per rival, and one per network, order and family for all rivals together."""
    done = sorted(done, key=lambda each: each.number)
    print(f"{'rival':28}{'problems':>8}{'as good':>9}{'to 0.1%':>9}  largest ratio")
    for rival in rivals:
        rows = [(r, each) for each in done if (r := each.ratio(rival)) is not None]
        worst, where = max(rows, key=lambda row: row[0])
        place = f"{where.problem} ({where.number})" if worst > ROUNDING else ""
        ratios = [row[0] for row in rows]
        print(f"{rival:28}{len(rows):8}{_shares(ratios)}  {max(worst, 1.0):.4f} {place}")
    print(f"\n{'every rival, by':28}{'problems':>8}{'as good':>9}{'to 0.1%':>9}")
    parts: tuple[Callable[[Compared], str], ...] = (
        lambda each: each.problem.split(", ")[1],
        lambda each: each.problem.split(", ")[2],
        lambda each: each.problem.split(", ")[0],
        lambda _: "all",
    )
    for part in parts:
        for name in sorted({part(each) for each in done}):
            ratios = [each.worst(rivals) for each in done if part(each) == name]
            print(f"{name:28}{len(ratios):8}{_shares(ratios)}")
    others = [name for name in rivals if name != SAME]
    print(f"{'all, without ' + SAME:28}{len(done):8}{_shares([row.worst(others) for row in done])}")
    for name in ("auto", *rivals):
        seconds = [each.seconds[name] for each in done]
        print(f"{name:28} seconds: median {median(seconds):.3f}, most {max(seconds):.3f}")


def _shares(ratios: list[float]) -> str:
    good, close = (sum(r <= limit for r in ratios) / len(ratios) for limit in (ROUNDING, CLOSE))
    return f"{good:9.1%}{close:9.1%}"
