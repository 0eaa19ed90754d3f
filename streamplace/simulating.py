"""Score a placement, whichever way one has it: as a placement, a result, or operator -> device."""

from collections.abc import Iterable, Mapping
from typing import overload

from streamplace import score
from streamplace.cluster import Cluster
from streamplace.errors import UsageError
from streamplace.given import need
from streamplace.graph import StreamGraph
from streamplace.models import Model
from streamplace.placement import Placement
from streamplace.problem import Problem
from streamplace.score import Score
from streamplace.solve import Result


@overload
def simulate(
    placement: Placement | Result,
    *,
    cluster: Cluster | str | None = None,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
) -> Score: ...
@overload
def simulate(
    placement: StreamGraph,
    assignment: Mapping[str, str],
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
) -> Score: ...
def simulate(
    placement: Placement | Result | StreamGraph,
    assignment: Mapping[str, str] | None = None,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
) -> Score:
    """Return what a placement achieves.

    Parameters
    ----------
    placement
        A placement, or what `place` returned; what is not told comes from its problem. Or a graph.
    assignment
        Of a graph: operator name -> device name.
    cluster, source_rate, model, target_utilisation
        As for `place`. Devices of another cluster go by name.

    Raises
    ------
    UsageError
        If a graph has no assignment, or a placement another one.
    StreamplaceError
        Whatever is wrong with the problem, or if it cannot be simulated.
    """
    if isinstance(placement, StreamGraph):
        if assignment is None:
            raise UsageError("simulate: a graph needs an assignment, operator -> device")
        problem = Problem(
            placement,
            cluster,
            source_rate=source_rate,
            model=model or "bottleneck",
            target_utilisation=1.0 if target_utilisation is None else target_utilisation,
        )
        return score.simulate(Placement.of(problem, assignment))
    if assignment is not None:
        raise UsageError("simulate: a placement has an assignment already; a graph takes one")
    placed = placement.placement if isinstance(placement, Result) else placement
    instead = "a Result or a StreamGraph will do too; sp.read_placement reads files"
    need("simulate: placement", placed, Placement, UsageError, instead)
    if all(told is None for told in (cluster, source_rate, model, target_utilisation)):
        return score.simulate(placed)
    own = placed.problem
    problem = Problem(
        own.graph,
        own.cluster if cluster is None else cluster,
        source_rate=own.source_rates if source_rate is None else source_rate,
        constraints=own.constraints,
        model=model or own.model,
        target_utilisation=(
            own.target_utilisation if target_utilisation is None else target_utilisation
        ),
    )
    return score.simulate(Placement.of(problem, placed.assignment))
