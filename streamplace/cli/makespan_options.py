"""Options of commands that can score placements by their makespan."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from streamplace.cli.command import option
from streamplace.cli.inputs import the_objective
from streamplace.cli.param_types import NUMBER, Choice, Whole
from streamplace.errors import ProblemError
from streamplace.problem.makespan import (
    MAX_BATCH,
    MAX_REPEATS,
    ORDERS,
    PUBLISHED,
    PublishedName,
    with_published_semantics,
)
from streamplace.problem.objective import Objective
from streamplace.problem.objectives import ORDERS as TRAVERSAL_ORDERS
from streamplace.problem.objectives import name_of_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.score import Score
from streamplace.util.extras import load_drawing

DRAW = "streamplace.pictures.gantt:draw_schedule"
"""Draws a schedule; it loads matplotlib."""


class DeviceOrder(Choice):
    """The order on a device; the error for a traversal order says where that belongs."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the placers' option for a traversal order, or else the closest choice."""
        if value not in TRAVERSAL_ORDERS:
            return super().get_invalid_choice_message(value, ctx)
        return (
            f"{value!r} is a traversal order, an option of placers: --placer policy:order={value}"
        )


@dataclass(frozen=True)
class MakespanSettings:
    """The options that are fields of a makespan; None where one is left out."""

    batch: int | None = option(
        "--batch",
        type=Whole(1, MAX_BATCH),
        metavar="N",
        help="Makespan: source tuples in one pass.  [default: 1]",
    )
    order: str | None = option(
        "--order",
        type=DeviceOrder(ORDERS),
        help="Makespan: order on a device.  [default: fifo]\fOperators start as they "
        "become runnable (fifo), by HEFT's upward rank (b-level), by topological order "
        "(topological), in exactly that order (sequence), or the best of the first three (any).",
    )
    barrier: bool | None = option(
        "--barrier/--no-barrier",
        default=None,
        help="Makespan: operators start layer by layer.\fAn operator starts once all that are "
        "fewer hops from the sources have ended.",
    )
    inputs_everywhere: bool | None = option(
        "--inputs-everywhere/--no-inputs-everywhere",
        default=None,
        help="Makespan: outputs of sources are everywhere.\fSending them costs nothing.",
    )
    noise: float | None = option(
        "--noise",
        type=NUMBER,
        metavar="S",
        help="Makespan: noise of times, a share.  [default: 0]\fTimes are multiplied by "
        "uniform draws from 1 - S to 1 + S.",
    )
    repeats: int | None = option(
        "--repeats",
        type=Whole(1, MAX_REPEATS),
        metavar="N",
        help="Makespan: passes with noise.  [default: 1]\fThe makespan is their mean.",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """Option -> value, for the options that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def semantics() -> Any:
    """Return the option --semantics."""
    return option(
        "--semantics",
        type=Choice(PUBLISHED),
        help="Makespan: messages as in a published system.\fThey are sent so on any cluster; "
        "speeds and bandwidths stay.",
    )


@dataclass(frozen=True)
class Asked:
    """The objective that options ask for.

    Parameters
    ----------
    kind
        The objective that --objective names; None without the option.
    settings
        The options of makespans.
    seed
        Seed of the noise.
    is_bare
        Whether --objective is a name without options, which keeps the settings of a stored
        objective of the same name.
    needing
        Further options in use that only makespans have, such as "gantt".
    """

    kind: Objective | None
    settings: MakespanSettings
    seed: int
    is_bare: bool
    needing: Sequence[str] = ()

    @classmethod
    def of(
        cls, objective: str | None, settings: MakespanSettings, seed: int, *needing: str
    ) -> "Asked":
        """Return what --objective, the options of makespans and --seed ask for."""
        return cls(the_objective(objective), settings, seed, ":" not in (objective or ":"), needing)

    def over(
        self, stored: Objective | None = None, *, keeps_order: bool = True
    ) -> Objective | None:
        """Return the objective with the options of makespans; None: `stored` stays as it is.

        Parameters
        ----------
        stored
            The objective of a placement, which counts where --objective is left out.
        keeps_order
            Whether ``--order any`` means the order of the placement.

        Raises
        ------
        click.UsageError
            If there is such an option and the objective is not a makespan, or if its value is
            invalid.
        """
        changed = self.settings.chosen
        base = stored if self.kind is None else self.kind
        if base is None or not base.is_pass:
            for name in (*changed, *self.needing):
                raise click.UsageError(f"--{name.replace('_', '-')} requires --objective makespan")
            return self.kind
        if self.is_bare and stored is not None and type(stored) is type(base):
            base = stored
        if keeps_order and changed.get("order") == "any" and base is stored:
            del changed["order"]  # the placement's own order
        if "noise" in changed:
            changed["seed"] = self.seed
        try:
            return replace(base, **changed)
        except ProblemError as error:
            if error.fault.option not in changed:
                raise
            error.update(option=f"--{error.fault.option.replace('_', '-')}")
            raise click.UsageError(str(error)) from None

    def from_start(self, old: Placement | None) -> Objective | None:
        """Return the objective of a placement that starts from `old`; None without any option.

        Settings that no option specifies are those of `old`, if it has a makespan.
        """
        if self.kind is None and not self.settings.chosen:
            return None
        stored = None if old is None else old.problem.objective
        return self.over(stored, keeps_order=False)


def require(objective: Objective, option: str) -> None:
    """Refuse an option unless the objective is about one pass.

    Raises
    ------
    click.UsageError
        If it is another one.
    """
    if not objective.is_pass:
        raise click.UsageError(f"--{option} requires --objective makespan")


def refuse(objective: Objective, option: str) -> None:
    """Refuse an option if the objective has no source rates.

    Raises
    ------
    click.UsageError
        If it has none.
    """
    if not objective.has_rates:
        name = name_of_objective(objective)
        raise click.UsageError(f"--{option} supports only throughput, not objective {name!r}")


def refuse_rates(
    objective: Objective | None, values: dict[str, Any], whose: str | None = None
) -> None:
    """Refuse source rates, model and target utilisation if the objective has no source rates.

    Parameters
    ----------
    values
        Values of --source-rate, --model and --target-utilisation by the name of the argument.
    whose
        Where the objective comes from; None: the option --objective.

    Raises
    ------
    click.UsageError
        If the objective has no source rates and one of the values is not None.
    """
    if objective is not None and not objective.has_rates:
        whose = whose or f"--objective {name_of_objective(objective)}"
        for name, value in values.items():
            if value is not None:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option}: cannot be combined with {whose}")


def under_semantics(placement: Placement, name: PublishedName) -> Placement:
    """Return the same assignment with the messages of a published system; see `published`."""
    problem = placement.problem
    require(problem.objective, "semantics")
    graph, cluster = with_published_semantics(problem.graph, problem.cluster, name)
    constraints, objective = problem.constraints, problem.objective
    changed = Problem(graph, cluster, objective=objective, constraints=constraints)
    return Placement(changed, placement.devices)


def draw(path: str, placement: Placement, score: Score) -> None:
    """Write a picture of the schedule of a pass; see `require`."""
    load_drawing(DRAW)(path, placement, score)
