"""What Placeto reads of a problem: costs, output sizes, and the order of message passing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from streamplace.learning.policy.encoded import SortedBatch
from streamplace.papers.placeto.network import Problems
from streamplace.papers.placeto.sizes import PlacetoSizes
from streamplace.papers.placeto.summaries import Passing, Streams
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import parts_of_pass
from streamplace.scoring.orders import mean_times, traversal_order
from streamplace.scoring.rules import rules_of
from streamplace.sim.flow import Ints
from streamplace.sim.rules import Rules
from streamplace.util.arrays import Floats


@dataclass(frozen=True, eq=False)
class PlacetoProblem:
    """A problem as Placeto reads it.

    Attributes
    ----------
    arrays
        Features and streams, as kernels take them.
    order
        (V,) the operators in the order in which a sweep visits them.
    rules
        The constraints.
    """

    problem: Problem
    arrays: Problems
    order: Ints
    rules: Rules

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.order)

    def in_order(self, order: Ints) -> "PlacetoProblem":
        """Return the problem with another order of sweeps, (V,)."""
        return replace(self, order=order)


PlacetoBatch: TypeAlias = SortedBatch[PlacetoProblem]


def encode(problem: Problem, sizes: PlacetoSizes) -> PlacetoProblem:
    """Return the features of a problem.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    graph = problem.graph
    streams = _streams(graph)
    arrays = Problems(
        numbers=_numbers(problem),
        streams=streams,
        ahead=_order_of_updates(streams.order, streams.first_in, streams.source, sizes.rounds),
        back=_order_of_updates(
            streams.order[::-1], streams.first_out, streams.target, sizes.rounds
        ),
        closest=sizes.closest,
    )
    order = traversal_order(problem, sizes.order, sizes.order_seed)
    return PlacetoProblem(problem, arrays, order, rules_of(problem.feasibility, problem.cluster))


def _numbers(problem: Problem) -> np.ndarray:
    """Return the cost and the size of the output of each operator, (V, 2), largest 1.

    Under the makespan objective, these are the mean execution time over the devices and the bits
    sent: those of all streams, or of the largest one if streams share a message. Under throughput,
    they are utilisations of an average device and an average link.
    """
    graph, costs = problem.graph, mean_times(problem)
    at_rates = problem.objective.has_rates
    of_streams = costs[1] if at_rates else parts_of_pass(problem).tasks.bits
    output = np.zeros(len(graph.names))
    joined = np.add if graph.multicast == "none" else np.maximum
    joined.at(output, graph.stream_source, of_streams)
    return np.stack([_scale(costs[0]), _scale(output)], axis=1).astype(np.float32)


def _scale(values: Floats) -> Floats:
    """Return values divided by the largest, unless that is 0."""
    largest = values.max()
    return values / largest if largest > 0.0 else values


def _streams(graph: StreamGraph) -> Streams:
    """Return the streams from both ends; two streams between the same operators count once."""
    operators = len(graph.names)
    ends = np.stack([graph.stream_source, graph.stream_target], axis=1)
    source, target = np.unique(ends, axis=0).astype(np.int32).reshape(-1, 2).T
    by_target = np.argsort(target, kind="stable")
    every = np.arange(operators + 1)
    position = np.empty(operators, np.int32)
    position[graph.order] = np.arange(operators)
    return Streams(
        order=graph.order.astype(np.int32),
        position=position,
        first_in=np.searchsorted(target[by_target], every).astype(np.int32),
        source=np.ascontiguousarray(source[by_target]),
        first_out=np.searchsorted(source, every).astype(np.int32),
        target=np.ascontiguousarray(target),
    )


def _order_of_updates(order: Ints, first: Ints, source: Ints, rounds: int) -> Passing:
    """Return the order of updates: one pass along `order`, or synchronous rounds.

    Parameters
    ----------
    first, source
        The operators that each operator hears from; see `Streams`.
    """
    operators = len(order)
    heard_by = np.split(source, first[1:-1])
    is_heard = np.zeros(operators, np.bool_)
    is_heard[source] = True
    if rounds == 0:
        slot = np.empty(operators, np.int32)
        slot[order] = np.arange(operators)
        return _slots(order, [slot[heard_by[v]] for v in order], is_heard[order], slot)
    every = np.arange(operators, dtype=np.int32)
    none: list[Ints] = [source[:0]] * operators
    later = [(heard + number * operators) for number in range(rounds) for heard in heard_by]
    sends = np.concatenate([np.tile(is_heard, rounds), np.zeros(operators, np.bool_)])
    return _slots(np.tile(every, rounds + 1), none + later, sends, every + rounds * operators)


def _slots(operator: Ints, sources: Sequence[Ints], sends: np.ndarray, last: Ints) -> Passing:
    counts = [len(one) for one in sources]
    return Passing(
        operator=np.ascontiguousarray(operator, np.int32),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        source=np.concatenate([*sources, np.zeros(0, np.int32)]).astype(np.int32),
        sends=np.ascontiguousarray(sends),
        last=last.astype(np.int32),
    )
