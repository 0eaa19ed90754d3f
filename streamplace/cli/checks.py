"""Checks of the values of options."""

import re
from math import inf

import click

MAX_WAIT_S = 10**8  # longer waits overflow the timers of some systems
ZEROS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")  # such as 20,000, if a part of it is 0
GROUPED = re.compile(r"[1-9](,\d{3})+")  # a number with commas, such as 1,500


def file_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty file name, which usually comes from an unset variable in a script."""
    if value == "":
        raise click.BadParameter("must not be empty", ctx, param)
    return value


def checked_id(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an id without any characters, which would ask for the list of all."""
    if value is not None and not value.strip():
        raise click.BadParameter("must not be empty", ctx, param)
    return value


def rates(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, ...] | None:
    """Parse R or R,R2,… into rates in tuples/s."""
    if value is None:
        return None
    try:
        found = tuple(float(part) for part in value.split(","))
    except ValueError:
        message = f"must be one rate or several, such as 1e4 or 1e4,2e4 (got {value!r})"
        raise click.BadParameter(message, ctx, param) from None
    parts = [part.strip() for part in value.split(",")]
    joined = ",".join(parts)
    if GROUPED.fullmatch(joined) or (ZEROS.fullmatch(joined) and 0.0 in found):
        asked = f"did you mean {''.join(parts)}?"
        if all(found):
            asked += f" for rates as they are, write {parts[0]}.0,{','.join(parts[1:])}"
        message = f"looks like one rate with commas (got {value!r}); {asked}"
        raise click.BadParameter(message, ctx, param)
    if not all(0 < rate < inf for rate in found):
        raise click.BadParameter(f"rates must be finite and above 0 (got {value!r})", ctx, param)
    return found


def at_least_0(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a number that is negative, infinite or NaN."""
    if value is not None and not 0 <= value < inf:
        raise click.BadParameter(f"must be finite and at least 0 (got {value:g})", ctx, param)
    return value


def above_0(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a number that is 0 or less, infinite or NaN."""
    if value is not None and not 0 < value < inf:
        raise click.BadParameter(f"must be finite and above 0 (got {value:g})", ctx, param)
    return value


def wait(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuse a time in seconds that is negative, NaN or too long for the system's timers."""
    if not 0 <= value <= MAX_WAIT_S:
        must = f"must be 0 to {MAX_WAIT_S:,} s"
        raise click.BadParameter(f"{must} (got {value:g})", ctx, param)
    return value


def share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a share that is not above 0 and at most 1."""
    if value is not None and not 0 < value <= 1:
        raise click.BadParameter(f"must be above 0 and at most 1 (got {value:g})", ctx, param)
    return value


def probability(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a probability that is not above 0 and below 1."""
    if value is not None and not 0 < value < 1:
        raise click.BadParameter(f"must be above 0 and below 1 (got {value:g})", ctx, param)
    return value
