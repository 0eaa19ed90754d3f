"""Steps: stream graphs described in the order of the job, from its sources on."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from streamplace.errors import GraphError
from streamplace.problem.graph import StreamGraph
from streamplace.problem.operators import UNKNOWN, Operator, Stream
from streamplace.util.checks import check_type

_NUMBERS = count()
"""Of steps in the order of their calls, in which a graph has its operators."""


class Step:
    """An operator of a job, and the steps before and after it; `source` makes the first one.

    Each method adds an operator that reads what this one emits, and returns its step. Two calls on
    one step send every tuple to both. The methods take these arguments:

    - ``name``: the operator's name;
    - ``selectivity``: tuples that it emits on each of its streams per tuple that it processes;
      unknown by default, except that ``map`` emits one;
    - ``partitioning``: how tuples reach its instances: ``forward``, ``hash``, ``rebalance``,
      ``rescale`` or ``broadcast``; evenly by default;
    - other fields of `Operator`, such as ``instructions`` (per tuple), ``payload_bytes`` (per tuple
      emitted), ``memory_bytes`` and ``parallelism``. Instructions and payload are unknown by
      default; `place` asks for those that it needs.

    Attributes
    ----------
    operator, rate
        The operator, and the tuples/s that it offers if it is a source with a rate.
    inputs, outputs
        The steps before and after it.
    selectivity, partitioning
        Those of the streams that leave and that enter it.
    number
        Its place in the order of calls.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        inputs: Sequence["Step"] = (),
        selectivity: float = UNKNOWN,
        partitioning: str = "",
        rate: float | None = None,
        **fields: Any,
    ) -> None:
        for each in inputs:
            check_type(f"{name!r:.40}: the step before", each, Step, GraphError)
        values: dict[str, Any] = {"instructions": UNKNOWN, "payload_bytes": UNKNOWN, "type": kind}
        values |= fields
        self.operator, self.rate, self.selectivity = Operator(name, **values), rate, selectivity
        self.inputs, self.partitioning = tuple(inputs), partitioning
        self.number, self.outputs = next(_NUMBERS), list["Step"]()
        for each in inputs:
            each.outputs.append(self)

    def __repr__(self) -> str:
        return f"<Step: {self.operator.type} {self.operator.name!r}>"

    def map(self, name: str, *, selectivity: float = 1.0, **fields: Any) -> "Step":
        """Add an operator that emits one tuple per tuple."""
        return Step(name, "map", [self], selectivity, **fields)

    def filter(self, name: str, **fields: Any) -> "Step":
        """Add an operator that keeps some tuples; `selectivity` is their share."""
        share = fields.get("selectivity", 1.0)
        if isinstance(share, int | float) and share > 1:
            fault = f"must be at most 1, the share that a filter keeps (got {share:g})"
            raise GraphError(f"{name!r}: selectivity: {fault}; flat_map emits more")
        return Step(name, "filter", [self], **fields)

    def flat_map(self, name: str, **fields: Any) -> "Step":
        """Add an operator that emits any number of tuples per tuple."""
        return Step(name, "flat map", [self], **fields)

    def aggregate(self, name: str, **fields: Any) -> "Step":
        """Add an operator that combines tuples, such as a window or a count by key."""
        return Step(name, "aggregate", [self], **fields)

    def join(self, name: str, *others: "Step", **fields: Any) -> "Step":
        """Add an operator that reads what this step and others emit."""
        return Step(name, "join", [self, *others], **fields)

    def sink(self, name: str, *others: "Step", **fields: Any) -> "Step":
        """Add an operator that emits nothing, and may read what other steps emit as well."""
        return Step(name, "sink", [self, *others], **{"payload_bytes": 0.0} | fields)

    def graph(self, **settings: Any) -> StreamGraph:
        """Return the graph of all steps that are connected with this one.

        Parameters
        ----------
        settings
            Further arguments of `StreamGraph`, such as ``name`` and ``source_rate`` in tuples/s,
            which the rates of sources replace.

        Raises
        ------
        GraphError
            If the steps do not form a stream graph, or only some sources have a rate.
        """
        steps, waiting = {self}, [self]
        while waiting:
            step = waiting.pop()
            found = {*step.inputs, *step.outputs} - steps
            steps |= found
            waiting += found
        ordered = sorted(steps, key=lambda step: step.number)
        rates = {step.operator.name: step.rate for step in ordered if step.rate is not None}
        streams = [
            Stream(
                before.operator.name,
                step.operator.name,
                before.selectivity,
                partitioning=step.partitioning,
            )
            for step in ordered
            for before in step.inputs
        ]
        return StreamGraph(
            [step.operator for step in ordered],
            streams,
            **({"source_rates": rates} if rates else {}) | settings,
        )


def source(
    name: str, *, rate: float | None = None, selectivity: float = 1.0, **fields: Any
) -> Step:
    """Begin a job with an operator without inputs.

    ``source("clicks").map("parse").sink("store").graph()`` is the graph of a job; see `Step`.

    Parameters
    ----------
    name
        The operator's name.
    rate
        The tuples/s that it offers; for all sources of a job or for none.
    selectivity
        Tuples that it emits on each of its streams per tuple that it offers.
    fields
        Other fields of `Operator`, such as ``instructions`` and ``payload_bytes``, per tuple.

    Raises
    ------
    GraphError
        If a share is not valid; `Step.graph` checks the other values.
    """
    return Step(name, "source", selectivity=selectivity, rate=rate, **fields)
