"""Numbers, names and columns as text."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, copysign, floor, isfinite, log10

NAME_LENGTH = 40
DIGITS = 6  # significant digits of a number
ROUNDING = 2e-9  # relative: twice that of scores, since limits are found with a tolerance too
THOUSAND = 1e3  # of a unit of time make the next one
NEGLIGIBLE = 1e-6  # the gap of a placement that CP-SAT has proven optimal may be as large
SMALLEST_SHARE = 5e-4  # less would be shown as 0.0%
HUGE_SHARE = 1e4  # a million percent, wider than columns and pages


def number(x: float) -> str:
    """Return a number to six significant digits, with commas between thousands."""
    return f"{x:,.{DIGITS}g}"


def rounded(x: float, digits: int = DIGITS) -> str:
    """Return a number as `number` does, to some significant digits."""
    return number(float(f"{x:.{digits}g}"))


def rounded_up(x: float, digits: int = DIGITS) -> str:
    """Return an upper limit as `number` does, but rounded up."""
    return _towards(1.0, x, digits)


def rounded_down(x: float, digits: int = DIGITS) -> str:
    """Return a lower limit as `number` does, but rounded down."""
    return _towards(-1.0, x, digits)


def percent_up(share: float) -> str:
    """Return an upper limit in percent with one decimal, rounded up; nothing up to a millionth."""
    return f"{ceil((share - NEGLIGIBLE) * 1e3) / 1e3:.1%}"


def percent(share: float) -> str:
    """Return a share in percent with one decimal; above 0 it is never 0%, above 1 never 100%."""
    if NEGLIGIBLE < share - 1.0 < SMALLEST_SHARE:
        return "100.1%"
    if share >= HUGE_SHARE:
        return f"{100.0 * share:.1e}%"
    return "<0.1%" if ROUNDING < share < SMALLEST_SHARE else f"{share:.1%}"


def percent_reached(share: float) -> str:
    """Return a share as `percent` does; what is below all of it is never 100%."""
    return percent(min(share, 0.999) if share < 1.0 - ROUNDING else share)


def share_of(value: float, whole: float) -> str:
    """Return the share that a value is of a whole; 100% where `number` shows both as equal."""
    return percent(1.0) if number(value) == number(whole) else percent_reached(value / whole)


def limit_beside(
    value: float | Iterable[float],
    limit: float,
    rounded: Callable[[float], str],
    shown: Callable[[float], str] = number,
) -> str:
    """Return a limit as text, which is that of the value where the two are equal.

    Parameters
    ----------
    value
        What is shown beside the limit; several values are possible.
    rounded, shown
        Return a limit that differs, and the value, as text.
    """
    values = value if isinstance(value, Iterable) else (value,)
    same = next((x for x in values if abs(limit - x) <= ROUNDING * abs(x)), None)
    return rounded(limit) if same is None else shown(same)


def _towards(direction: float, x: float, digits: int) -> str:
    text = f"{x:,.{digits}g}"
    shown = float(text.replace(",", ""))
    if not isfinite(x) or (shown - x) * direction >= -ROUNDING * abs(x):
        return text
    step = 10.0 ** (floor(log10(abs(x))) - digits + 1)
    return f"{shown + copysign(step, direction):,.{digits}g}"


def byte_count(x: float, digits: int = 3) -> str:
    """Return a number of bytes in B, kB, MB, GB or TB, to some significant digits."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if x >= factor:
            return f"{x / factor:.{digits}g} {unit}"
    return f"{x:.{digits}g} B"


def duration(seconds: float, digits: int = 3, shown: Callable[[float, int], str] = rounded) -> str:
    """Return a time in s, ms, us or ns, to some significant digits; `shown` rounds the number.

    The unit is that of the rounded number, so that 0.9999 s is "1 s"; from 1,000 s on, it stays s.
    """
    for factor, unit in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")):
        value = float(shown(seconds / factor, digits).replace(",", ""))
        text = f"{number(value)} {unit}"
        if value < THOUSAND:
            break
    return text


def quoted(name: str) -> str:
    """Return a name in quotes, cut to 40 characters, with control characters escaped."""
    return repr(name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…")


def several(names: Sequence[str], shown: int, count: int | None = None) -> str:
    """Return the first names in quotes, and the number of the others.

    Parameters
    ----------
    shown
        Number of names to show.
    count
        The number of all names; None if `names` contains all of them.
    """
    more = (len(names) if count is None else count) - shown
    return ", ".join(map(quoted, names[:shown])) + (f" and {more:,} more" if more > 0 else "")


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines: the first column left-aligned, the others right-aligned."""
    cells = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
