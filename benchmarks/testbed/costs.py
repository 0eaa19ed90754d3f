"""CPU costs of the network: a regression over devices that send and receive at several rates."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np


@dataclass(frozen=True)
class Sample:
    """What one device did in one run.

    Parameters
    ----------
    network_s
        CPU seconds per second that were not the work of its operators.
    messages_s
        Messages/s that it sent and received.
    bytes_s
        Bytes/s that it sent and received.
    """

    network_s: float
    messages_s: float
    bytes_s: float


@dataclass(frozen=True)
class Costs:
    """CPU time that the network costs a device which is busy all the time.

    Parameters
    ----------
    fixed_s
        CPU seconds per second, however many messages there are.
    o_s, o_s_byte
        CPU seconds to send or to receive a message: per message, and per byte.
    """

    fixed_s: float
    o_s: float
    o_s_byte: float


def fitted(samples: Sequence[Sample]) -> Costs:
    """Return the costs that fit the samples best (least squares).

    The rates and the sizes of the messages have to differ between samples.
    """
    columns = np.array([astuple(sample) for sample in samples])
    spent, messages, sizes = columns.T
    known = np.stack([np.ones(len(samples)), messages, sizes], axis=1)
    fixed, o, o_byte = np.linalg.lstsq(known, spent, rcond=None)[0].tolist()
    return Costs(fixed, o, o_byte)


def median(repetitions: Iterable[Costs]) -> Costs:
    """Return the median of each cost, or 0 if noise makes it negative."""
    return Costs(*np.maximum(0.0, np.median(_columns(repetitions), axis=0)).tolist())


def quartiles(repetitions: Iterable[Costs]) -> tuple[Costs, Costs]:
    """Return the first and the third quartile of each cost."""
    first, third = np.percentile(_columns(repetitions), [25, 75], axis=0).tolist()
    return Costs(*first), Costs(*third)


def _columns(repetitions: Iterable[Costs]) -> list[tuple[float, ...]]:
    return [astuple(costs) for costs in repetitions]
