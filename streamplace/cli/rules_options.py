"""Options of `watch` for the rules of the controller."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click

from streamplace.cli.checks import above_0, share, wait
from streamplace.cli.param_types import NUMBER, Whole
from streamplace.control.rules import FLINK_TIMES, MAX_S, Rules
from streamplace.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
HELP = {
    "target": "Utilisation of the busiest instance that plans aim at.",
    "low": "Utilisation below which capacity is reduced.",
    "high": "Utilisation above which capacity is added.",
    "window_s": "Length of a window of measurements.",
    "agreeing": "Windows in a row that must ask for a change.",
    "stabilisation_s": "Time after a start of the job during which measurements are ignored.",
    "cool_down_s": "Time after an action without another one.",
    "scale_down_after_s": "Time for which less capacity must have been enough before it is "
    "reduced; the largest rate of this time counts.",
    "most_scale_down": "Largest share of an operator's instances that one action removes.",
    "actions_per_hour": "Largest number of actions in an hour.",
    "actions_per_day": "Largest number of actions in 24 hours.",
    "horizon_s": "Time within which an action must pay for itself.",
    "first_downtime_s": "Expected downtime of a restart until one was measured; then the longest "
    "of the last three.",
    "catch_up_s": "Time within which tuples that wait after a restart must be worked off.",
    "machine_price": "Price of a second of a machine for which the cluster file states none.",
    "delayed_tuple_price": "Price of a tuple that a restart delays, in the same unit.",
    "rollback_below": "Share of the former throughput below which an action is rolled back, once.",
    "block_s": "Time for which a plan that was rolled back is not tried again.",
    "refused_s": "The same for a plan that was refused before anything changed.",
    "savepoint_s": "Seconds for a savepoint.",
    "start_s": "Seconds for a start until all vertices run.",
    "answer_s": "Seconds to wait for each answer of the server.",
}
NAMES = {
    "target": "target-utilisation",
    "savepoint_s": "deadline",
    "start_s": "start-timeout",
    "answer_s": "timeout",
}
"""Options that other commands have too, under another name than the field."""
OTHER_NAMES = {"band": "--low, --target-utilisation, --high", "factor": "--scale"}
"""Words in messages of `Rules` that are not fields -> their options."""
SHARES = ("target", "low", "high", "most_scale_down", "rollback_below")


def option_name(field: str) -> str:
    """Return the name of the option of a field of `Rules`."""
    name = NAMES.get(field, field.removesuffix("_s"))
    return f"--{name.replace('_', '-')}"


def rules(command: Command) -> Command:
    """Add an option for every rule, and --scale."""
    scale = click.option(
        "--scale",
        type=NUMBER,
        callback=above_0,
        default=1.0,
        show_default=True,
        metavar="F",
        help="Factor on all durations except those of Flink's own steps (--deadline, "
        "--start-timeout, --timeout), for trials: 0.0667 is 15 times as fast.",
    )
    command = scale(command)
    for field in reversed(fields(Rules)):
        command = _option(field.name, field.default)(command)
    return command


def the_rules(scale: float, **chosen: Any) -> Rules:
    """Return the rules that the options describe.

    Parameters
    ----------
    chosen
        Name of a field -> value, for every field.

    Raises
    ------
    click.UsageError
        If a value is outside its range, or rules contradict each other; the message names the
        options.
    """
    try:
        return Rules(**chosen).scaled(scale)
    except UsageError as error:
        what, fault = str(error).split(":", 1)
        options = {name: option_name(name) for name in HELP} | OTHER_NAMES
        named = " ".join(options.get(word, word) for word in what.split())
        raise click.UsageError(f"{named}:{fault}") from None


def duration(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a time in seconds that is 0 or less, NaN, or longer than those of `Rules` may be."""
    if value is not None and not 0 < value <= MAX_S:
        message = f"must be above 0 and at most {MAX_S:,} s (got {value:g})"
        raise click.BadParameter(message, ctx, param)
    return value


def _option(field: str, default: Any) -> Callable[[Command], Command]:
    kinds: dict[str, Any] = {"type": NUMBER, "metavar": "S"}  # `Rules` checks durations and prices
    if field in SHARES:
        kinds |= {"callback": share, "metavar": "U"}
    elif field in FLINK_TIMES:
        kinds |= {"callback": wait}
    elif field.endswith("_price"):
        kinds |= {"metavar": "PRICE"}
    elif not field.endswith("_s"):
        kinds = {"type": Whole(1), "metavar": "N"}
    return click.option(
        option_name(field), field, default=default, show_default=True, help=HELP[field], **kinds
    )
