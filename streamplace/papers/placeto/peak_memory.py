"""Memory that outputs occupy during a pass, and a penalty for it (Addanki et al. 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.errors import UnsuitableError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.scoring.evaluator import LEAST_LOSS, Evaluator, OtherLoss, Placements
from streamplace.util.arrays import Floats, Ints

BYTES_PER_GB = 1e9
LARGEST_LOG = 10.0  # largest logarithm of a penalised makespan, as in the released code


def penalised(evaluator: Evaluator, penalty: float, limit_gb: float) -> Evaluator:
    """Return an evaluator whose loss includes a penalty for memory; without one, the same.

    Raises
    ------
    UnsuitableError
        If there is a penalty and the objective is not a makespan.
    """
    if not penalty:
        return evaluator
    if not isinstance(evaluator, MakespanEvaluator):
        raise UnsuitableError("memory_penalty: only a makespan has a schedule of outputs to hold")
    return PenalisedEvaluator(evaluator, penalty, limit_gb)


@dataclass(frozen=True)
class PenalisedEvaluator(OtherLoss):
    """An evaluator of makespans that are longer where a device holds too much memory.

    The logarithm of its loss is that of the makespan in seconds, plus `penalty` for each GB by
    which the largest memory of a device at any time exceeds `limit_gb`; it is at most 10.
    """

    of: MakespanEvaluator
    penalty: float
    limit_gb: float

    def loss(self, devices: Placements) -> Floats:
        """Return the penalised makespan of each placement, (K,)."""
        rows = np.atleast_2d(devices)
        trace = self.of.trace(rows)
        peaks = [
            peak_bytes(self.of, row, start, finish)
            for row, start, finish in zip(rows, trace.start_s, trace.finish_s, strict=True)
        ]
        excess = np.maximum(np.array(peaks) / BYTES_PER_GB - self.limit_gb, 0.0)
        logs = np.log(np.maximum(self.of.loss(rows), LEAST_LOSS)) + self.penalty * excess
        return np.exp(np.where(excess > 0, np.minimum(logs, LARGEST_LOG), logs))


def peak_bytes(
    evaluator: MakespanEvaluator, devices: Placements, start: Floats, finish: Floats
) -> float:
    """Return the largest memory in bytes that any device holds at any time of a pass.

    The output of an operator occupies its device from its start until the last operator that reads
    it has run; a sink's output, until it has run. An operator's own memory counts throughout.

    Parameters
    ----------
    start, finish
        (V,) seconds.
    """
    tasks, graph = evaluator.tasks, evaluator.problem.graph
    output = np.zeros(tasks.operators)
    joined = np.add if graph.multicast == "none" else np.maximum
    joined.at(output, tasks.source, tasks.bits / 8.0)
    until = finish.copy()
    np.maximum.at(until, tasks.source, finish[tasks.target])
    held = np.bincount(devices, graph.memory_bytes, minlength=tasks.devices)
    peaks = [
        _peak(output[on], start[on], until[on])
        for on in (np.flatnonzero(np.asarray(devices) == d) for d in range(tasks.devices))
    ]
    return float((held + np.array(peaks)).max())


def _peak(sizes: Floats, since: Floats, until: Floats) -> float:
    """Return the largest sum of sizes at any time; what ends at a moment precedes what begins."""
    times: Floats = np.concatenate([since, until])
    changes: Floats = np.concatenate([sizes, -sizes])
    order: Sequence[int] | Ints = np.lexsort((changes, times)).astype(np.int32)
    return float(np.cumsum(changes[order]).max(initial=0.0))
