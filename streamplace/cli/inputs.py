"""What commands read: clusters, placements and objectives, and whose choice an error is about."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import click

from streamplace.cli.command import print_note
from streamplace.cli.options import ClusterChoice, InstanceForm, LostDevices
from streamplace.cli.param_types import names_in
from streamplace.errors import (
    ClusterError,
    FormatError,
    InfeasibleError,
    OtherGraphError,
    ProblemError,
    RuleDeviceError,
    StreamplaceError,
    UnknownDeviceError,
    UsageError,
    located,
)
from streamplace.files import read_cluster, read_clusters, read_constraints
from streamplace.files.assignments import assignment_from, is_assignment, read_placement_json
from streamplace.files.placements import placement_from
from streamplace.files.reading import STDIO, name_of
from streamplace.files.stored_objectives import objective_in
from streamplace.placers.goal import goal_of
from streamplace.problem.assumptions import idle_groups
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import in_form
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.losses import Losses
from streamplace.problem.objective import Objective
from streamplace.problem.objectives import make_objective
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.suspect_units import suspect_unit
from streamplace.util.text import counted, printable

COUNTED = re.compile(r"\d+x[\d.x, ]+")


class Constrainable(Protocol):
    """What can have other constraints, such as `Jobs`."""

    def with_constraints(self, rules: Constraints) -> Self:
        """Return the same under these constraints."""
        ...


Stated = TypeVar("Stated", bound=Constrainable)


def the_cluster(chosen: ClusterChoice) -> Cluster | None:
    """Return the cluster that the options describe; None without either option."""
    if chosen.cluster_file is not None and chosen.devices is not None:
        raise click.UsageError("cannot combine --cluster with --devices")
    if chosen.devices is not None:
        try:
            return Cluster.parse(chosen.devices)
        except ClusterError as error:
            error.update(option="--devices")
            if os.path.exists(chosen.devices):
                error.advise("--cluster takes files")
            raise
    file = chosen.cluster_file
    if file is not None and COUNTED.fullmatch(file) and not os.path.exists(file):
        raise UsageError(f"--cluster: {file!r} is no file; write --devices {file}")
    return None if file is None else read_cluster(file)


def names_of_inputs(
    graph: str | None, cluster: str | None, constraints: str | None
) -> dict[str, str]:
    """Return the names, without folders, of the files that options name, for a placement file."""
    files = {"graph": graph, "cluster": cluster, "constraints": constraints}
    named = {what: file for what, file in files.items() if file is not None and file != STDIO}
    return {what: printable(Path(name_of(file)).name) for what, file in named.items()}


def print_assumed(chosen: ClusterChoice) -> None:
    """Print that the default cluster was assumed, unless an option describes one."""
    if chosen.cluster_file is None and chosen.devices is None:
        print_note(
            "no cluster: 5 devices of 2500 MIPS (5x2500) assumed; --cluster FILE sets others"
        )


def print_suspect(
    graph: StreamGraph,
    cluster: Cluster | None,
    rate: float | None,
    score: ThroughputScore | None,
) -> None:
    """Print which number of a graph or cluster is far from usual ones.

    Parameters
    ----------
    cluster, rate
        None: the default cluster, and the source rate of the graph.
    score
        See `suspect_unit`.
    """
    rate = graph.source_rate if rate is None else rate
    if rate is not None:
        print_note(suspect_unit(graph, Cluster.of(cluster), rate, score))


def read_list(file: str, graphs: int, remedy: str = "") -> list[Cluster]:
    """Read the clusters of a file, one per graph.

    Parameters
    ----------
    graphs
        The number of graphs; 0: any number of clusters will do.
    remedy
        What to do if the numbers differ.

    Raises
    ------
    FormatError
        If the file cannot be read, or the numbers differ.
    """
    clusters = read_clusters(file)
    if graphs and len(clusters) != graphs:
        expected = f"expected {counted(graphs, 'cluster')}, one per graph (got {len(clusters):,})"
        raise FormatError(f"{name_of(file)}: {expected}{remedy}")
    return clusters


def the_losses(chosen: LostDevices) -> Losses:
    """Return the lost and slow devices that the options name."""
    lost = names_in(chosen.without)
    if not all(lost):
        raise click.UsageError(f"--without: expected device names (got {chosen.without!r})")
    shares: dict[str, float] = {}
    for part in names_in(chosen.slow):
        name, equals, text = part.rpartition("=")
        try:
            share = float(text)
        except ValueError:
            share = nan
        if not equals or not 0 < share <= 1:
            expected = "expected NAME=SHARE with a share above 0, at most 1, such as rack2=0.5"
            raise click.UsageError(f"--slow: {expected} (got {part!r})")
        if name in shares:
            raise click.UsageError(f"--slow: names {name!r:.80} twice")
        shares[name] = share
    return Losses(lost, shares)


def the_constraints(file: str | None) -> Constraints | None:
    """Return the constraints of --constraints, and say which constrain nothing; None without it."""
    if file is None:
        return None
    found = read_constraints(file)
    if not found:
        print_note(f"{name_of(file)}: constrains nothing; it replaces all other constraints")
    for sentence in idle_groups(found):
        print_note(f"{name_of(file)}: {sentence}")
    return found


def after_losses(
    chosen: LostDevices,
    cluster: Cluster | None,
    constraints: Constraints | None,
    graph: StreamGraph,
    where: str,
) -> tuple[Cluster | None, Constraints | None]:
    """Return the cluster and the constraints that the lost and slow devices leave.

    Parameters
    ----------
    constraints
        Those of options; None: the graph's.
    where
        The file that errors about constraints name.
    """
    if not (lost := the_losses(chosen)):
        return cluster, constraints
    with located(where):
        rules = graph.constraints if constraints is None else constraints
        return lost.left(Cluster.of(cluster), rules)


def constrained(jobs: Stated, file: str | None) -> Stated:
    """Return jobs under the constraints of --constraints; without it, as they are."""
    constraints = the_constraints(file)
    if constraints is None:
        return jobs
    with located(name_of(str(file))):
        return jobs.with_constraints(constraints)


def the_objective(text: str | None) -> Objective | None:
    """Return the objective that --objective names; None without the option."""
    return None if text is None else make_objective(text)


def latency_limit(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return QUANTITY=TIME, the value of --max-latency; refuse another one."""
    if value is None:
        return None
    try:
        goal_of(max_latency=value)
    except UsageError as error:
        fault = replace(error.fault, option="")  # click names it
        raise click.BadParameter(str(fault), ctx, param) from None
    return value


def graph_of(found: LogicalGraph, form: InstanceForm) -> StreamGraph:
    """Return the graph to write; notes say what --logical and --fold do not keep."""
    graph, notes = in_form(found, form.name)
    for note in notes:
        print_note(note)
    return graph


def placement_of_graph(
    value: Any,
    where: str,
    objective_of: Callable[[Objective | None], Objective | None],
    **settings: Any,
) -> tuple[Placement, str]:
    """Read a placement of a graph; the graph may have other numbers than when it was placed.

    Return it, and a note in that case, else an empty text.

    Parameters
    ----------
    value
        The JSON value of a placement file; see `read_placement_json`.
    where
        The name of the file.
    objective_of
        Function from the objective of the file, if it has one, to the objective to use.
    settings
        Other arguments of `read_placement`, with the graph among them.
    """
    objective = objective_of(objective_in(value))
    read = partial(placement_from, value, where, objective=objective, **settings)
    try:
        return read(), ""
    except OtherGraphError:
        note = f"{where}: placed for other numbers of the same operators; used by name"
        return read(by_name=True), note


def current_placement(file: str, objective: Objective | None) -> Placement | Mapping[str, str]:
    """Read the current placement; a file without a problem holds only operator -> device.

    Parameters
    ----------
    objective
        Replaces that of the file, unless one of them is a makespan: the current placement is then
        read under its own, since it need not have what the other one requires.
    """
    value = read_placement_json(file)
    if is_assignment(value):
        return assignment_from(value, name_of(file))
    stored = objective_in(value)
    if objective is not None and stored is not None:
        objective = objective if stored.has_rates and objective.has_rates else None
    return placement_from(value, name_of(file), objective=objective)


def whole_placement(
    value: Any,
    where: str,
    objective_of: Callable[[Objective | None], Objective | None],
    beside: Any = None,
) -> Placement:
    """Read a placement with its own graph; for other parameters, see `placement_of_graph`.

    Parameters
    ----------
    beside
        JSON value of the file that it is compared with, whose objective the error for a file
        without a graph uses.
    """
    stored = objective_in(value)
    if beside is not None and is_assignment(value):
        stored = objective_in(beside)
    objective = objective_of(stored)
    if stored is None or stored.has_rates or objective is None or not objective.has_rates:
        return placement_from(value, where, objective=objective)
    placement = placement_from(value, where)
    with located(where):
        return under_objective(placement, objective)


def under_objective(placement: Placement, objective: Objective) -> Placement:
    """Return the same assignment under another objective.

    Raises
    ------
    ProblemError
        If the objective requires a source rate and neither it nor the placement has one.
    """
    problem = placement.problem
    if objective.needs_rate and problem.graph.source_rate is None and not problem.objective.rates:
        raise ProblemError(
            "the placement has no source rate, which throughput requires; use "
            "'streamplace simulate' with its graph, --objective throughput and --source-rate"
        )
    return Placement(problem.with_objective(objective), placement.devices)


@contextmanager
def naming_the_default(
    used: bool,
    options: str = "--cluster FILE",
    which: str = "the default 5x2500",
    *,
    only_names: bool = False,
) -> Iterator[None]:
    """Add to an error that the devices are the default ones, which may be what is wrong.

    Such errors are those of unknown devices and, unless `only_names`, of infeasible problems.

    Parameters
    ----------
    used
        Whether no option specifies the devices.
    options
        The options that specify them.
    which
        What the default devices are.
    """
    try:
        yield
    except StreamplaceError as error:
        of_devices = isinstance(error, RuleDeviceError | UnknownDeviceError)
        of_rules = isinstance(error, InfeasibleError) or error.infeasible
        if used and (of_devices or (of_rules and not only_names)):
            sources = "import --cluster-out and generate --clusters write clusters"
            error.advise(f"the devices are {which}: set {options} ({sources})")
        raise
