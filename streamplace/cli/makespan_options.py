"""Options of commands that can score placements by their makespan."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamplace.cli.param_types import NUMBER, Choice, Whole
from streamplace.errors import ProblemError
from streamplace.problem.makespan import (
    MAX_BATCH,
    MAX_REPEATS,
    ORDERS,
    PUBLISHED,
    Makespan,
    PublishedName,
)
from streamplace.problem.order_names import ORDERS as TRAVERSAL_ORDERS

if TYPE_CHECKING:
    from streamplace.problem.objective import Objective
    from streamplace.problem.placement import Placement
    from streamplace.scoring.score import Score

Command = TypeVar("Command", bound=Callable[..., Any])
Scored = TypeVar("Scored")


class DeviceOrder(Choice):
    """The order on a device; the error for a traversal order says where that belongs."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the placers' option for a traversal order, or else the closest choice."""
        if value not in TRAVERSAL_ORDERS:
            return super().get_invalid_choice_message(value, ctx)
        return (
            f"{value!r} is a traversal order, an option of placers: --placer policy:order={value}"
        )


OPTIONS = (
    click.option(
        "--batch",
        type=Whole(1, MAX_BATCH),
        metavar="N",
        help="Makespan: source tuples in one pass.  [default: 1]",
    ),
    click.option(
        "--order",
        type=DeviceOrder(ORDERS),
        help="Makespan: order in which a device starts its operators: as they become runnable "
        "(fifo), by HEFT's upward rank (b-level), by topological order (topological), in exactly "
        "that order (sequence), or the best of the first three (any).  [default: fifo]",
    ),
    click.option(
        "--barrier/--no-barrier",
        default=None,
        help="Makespan: operators start only when all operators that are fewer hops from the "
        "sources have ended.",
    ),
    click.option(
        "--inputs-everywhere/--no-inputs-everywhere",
        default=None,
        help="Makespan: the output of sources is on every device, at no cost.",
    ),
    click.option(
        "--noise",
        type=NUMBER,
        metavar="S",
        help="Makespan: multiply times by uniform draws from 1 - S to 1 + S.  [default: 0]",
    ),
    click.option(
        "--repeats",
        type=Whole(1, MAX_REPEATS),
        metavar="N",
        help="Makespan: passes with different noise over which to take the mean.  [default: 1]",
    ),
)
BARE = "makespan"
"""The value of --objective that keeps the settings of a stored makespan."""
NAMES: tuple[str, ...] = ("batch", "order", "barrier", "inputs_everywhere", "noise", "repeats")

ALSO_NEEDING = ("semantics", "gantt")
"""Further options that only makespans have, on some commands."""


def options(command: Command) -> Command:
    """Add the options of the makespan objective."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


semantics = click.option(
    "--semantics",
    type=Choice(PUBLISHED),
    help="Makespan: send messages as GiPH, Placeto or DOPPLER does, on any cluster; speeds and "
    "bandwidths stay.",
)


def with_settings(
    objective: "Objective | None",
    values: dict[str, Any],
    seed: int = 0,
    stored: "Objective | None" = None,
    *,
    is_bare: bool = False,
    keeps_order: bool = True,
) -> "Objective | None":
    """Return an objective with the options of makespans, which `options` adds.

    Parameters
    ----------
    objective
        The objective that --objective names; None without the option.
    values
        Values by option; None for options that are left out.
    seed
        Seed of the noise.
    stored
        The objective of a placement, which counts where --objective is left out.
    is_bare
        Whether --objective is `BARE`, which keeps the settings of `stored`.
    keeps_order
        Whether ``--order any`` means the order of the placement.

    Raises
    ------
    click.UsageError
        If there is such an option and the objective is not a makespan, or if its value is invalid.
    """
    changed = {name: values[name] for name in chosen(values)}
    base = stored if objective is None else objective
    if not isinstance(base, Makespan):
        needing = [*changed, *(name for name in ALSO_NEEDING if values.get(name) is not None)]
        if needing:
            option = needing[0].replace("_", "-")
            raise click.UsageError(f"--{option} requires --objective makespan")
        return objective
    if is_bare and isinstance(stored, Makespan):
        base = stored
    if keeps_order and changed.get("order") == "any" and base is stored:
        del changed["order"]  # the placement's own order
    if "noise" in changed:
        changed["seed"] = seed
    try:
        return replace(base, **changed)
    except ProblemError as error:
        option = str(error).partition(":")[0]
        if option not in changed:
            raise
        raise click.UsageError(f"--{option.replace('_', '-')}{str(error)[len(option) :]}") from None


def with_settings_of_start(
    objective: "Objective | None",
    values: dict[str, Any],
    seed: int,
    old: "Placement | None",
    *,
    is_bare: bool,
) -> "Objective | None":
    """Return an objective with the options of makespans, for a placement that starts from `old`.

    Settings that no option specifies are those of `old`, if it has a makespan. The result is None
    without any option. See `with_settings`.
    """
    if objective is None and not chosen(values):
        return None
    stored = None if old is None else old.problem.objective
    return with_settings(objective, values, seed, stored, is_bare=is_bare, keeps_order=False)


def chosen(values: dict[str, Any]) -> list[str]:
    """Return the names of the options of makespans that are set."""
    return [name for name in NAMES if values.get(name) is not None]


def require(objective: "Objective", option: str) -> None:
    """Refuse an option unless the objective is a makespan.

    Raises
    ------
    click.UsageError
        If it is another one.
    """
    if not isinstance(objective, Makespan):
        raise click.UsageError(f"--{option} requires --objective makespan")


def refuse(objective: "Objective", option: str) -> None:
    """Refuse an option if the objective is a makespan.

    Raises
    ------
    click.UsageError
        If it is one.
    """
    if isinstance(objective, Makespan):
        raise click.UsageError(f"--{option} supports only throughput, not objective 'makespan'")


def refuse_rates(
    objective: "Objective | None", values: dict[str, Any], whose: str = "--objective makespan"
) -> None:
    """Refuse source rates, model and target utilisation if the objective is a makespan.

    Parameters
    ----------
    values
        Values of --source-rate, --model and --target-utilisation by the name of the argument.
    whose
        Where the makespan comes from.

    Raises
    ------
    click.UsageError
        If the objective is a makespan and one of the values is not None.
    """
    if isinstance(objective, Makespan):
        for name, value in values.items():
            if value is not None:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option}: cannot be combined with {whose}")


def under_semantics(placement: "Placement", name: PublishedName) -> "Placement":
    """Return the same assignment with the messages of a published system; see `published`."""
    from streamplace.problem.placement import Placement  # noqa: PLC0415 - slow to load
    from streamplace.problem.problem import Problem  # noqa: PLC0415
    from streamplace.problem.published import with_published_semantics  # noqa: PLC0415

    problem = placement.problem
    require(problem.objective, "semantics")
    graph, cluster = with_published_semantics(problem.graph, problem.cluster, name)
    constraints, objective = problem.constraints, problem.objective
    changed = Problem(graph, cluster, objective=objective, constraints=constraints)
    return Placement(changed, placement.devices)


def naming_semantics(score: Scored, name: PublishedName | None) -> Scored:
    """Return a score, or a result with a score, that names the published system in its header."""
    from streamplace.scoring.makespan_score import MakespanScore  # noqa: PLC0415 - slow to load
    from streamplace.workflows.makespan_result import MakespanResult  # noqa: PLC0415

    changed: Any = score
    if isinstance(score, MakespanScore):
        changed = replace(score, semantics=name)
    elif isinstance(score, MakespanResult):
        changed = replace(score, score=replace(score.score, semantics=name))
    return changed  # type: ignore[no-any-return]  # it has the type of `score`


def draw(path: str, placement: "Placement", score: "Score") -> None:
    """Write a picture of a schedule."""
    from streamplace.plots.gantt import draw_schedule  # noqa: PLC0415 - loads matplotlib
    from streamplace.scoring.makespan_score import MakespanScore  # noqa: PLC0415

    if isinstance(score, MakespanScore):
        draw_schedule(path, placement, score)
