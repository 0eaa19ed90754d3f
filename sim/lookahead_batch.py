"""Problems of one-step lookahead, concatenated into one batch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.messages import Copies
from streamplace.sim.work import class_work

Bools = NDArray[np.bool_]


class LookaheadBatch(NamedTuple):
    """P concatenated problems; operators and devices are numbered from 0 within each."""

    first_operator: Ints  # (P + 1,)
    first_device: Ints  # (P + 1,)
    first_link: Ints  # (P + 1,)
    nic: Bools  # (P,)
    reference: Floats  # (P,) utilisation
    unit: Floats  # (P,) utilisation that counts as 1 in the "…, offered" features
    work: Floats  # (V,) instructions/s
    operator_cores: Floats  # (V,) cores of its device that each operator can use
    first_end: Ints  # (V + 1,) index of each operator's first stream end
    other: Ints  # (2E,) the operator at the other end
    stream: Ints  # (2E,)
    outward: Bools  # (2E,) whether the stream is outgoing
    tuples: Floats  # (E,) tuples/s
    bits: Floats  # (E,) bits per tuple
    traffic: Floats  # (E,) utilisation of an average link
    capacity: Floats  # (D,) instructions/s
    cores: Floats  # (D,)
    kind: Ints  # (D,) devices of one kind are interchangeable
    bandwidth: Floats  # (D,) see `CANDIDATE_FEATURES`
    gap_s: Floats  # (L,)
    seconds_per_bit: Floats  # (L,)
    overhead_s: Floats  # (L,)
    uplinked: Bools  # (P,) whether groups of devices share links
    up: Ints  # (D,) the uplink of each device's group, numbered within the problem; -1 for none
    down: Ints  # (D,) the same for downlinks
    class_of: Ints  # (D,) class of each device
    first_work: NDArray[np.int64]  # (V,) index of the operator's work on class 0, -1 if not timed
    class_work: Floats  # instructions/s by class of devices; see `streamplace.sim.work`
    egress: Bools  # (P,)
    multicast: Ints  # (P,)
    overhead_s_per_bit: Floats  # (D,)
    shared: Copies  # streams by producer, numbered over all problems; consumers within each
    leader: Ints  # (V,) an operator that stands for its colocation group, which shares a device
    first_allowed: NDArray[np.int64]  # (V,) index of the operator's mask of devices in `allowed`
    allowed: Bools
    needs: Floats  # (V, K) counts of each limit that operators take, such as bytes of memory
    room: Floats  # (D, K) counts of each limit that devices have


class LookaheadProblem(NamedTuple):
    """One problem of a batch."""

    flow: Flow
    unit: float  # utilisation that counts as 1 in the "…, offered" features
    kind: Ints  # (D,)
    leader: Ints  # (V,)
    row_of: Ints  # (V,) index of each operator's mask
    allowed: Bools  # (M, D)
    needs: Floats  # (V, K)
    room: Floats  # (D, K)


def collate(problems: Sequence[LookaheadProblem]) -> LookaheadBatch:
    """Concatenate problems into a batch."""
    flows = [problem.flow for problem in problems]
    operators = _starts([flow.operators for flow in flows])
    streams = _starts([len(flow.source) for flow in flows])
    masks = _starts([problem.allowed.size for problem in problems])
    ends = [flow.ends for flow in flows]
    reference = np.array([lowest_utilisation(flow) for flow in flows])
    tables = [class_work(flow) for flow in flows]
    first_ends = [first[:-1] + 2 * streams[i] for i, (first, _, _, _) in enumerate(ends)]
    return LookaheadBatch(
        first_operator=operators,
        first_device=_starts([flow.devices for flow in flows]),
        first_link=_starts([len(flow.gap_s) for flow in flows]),
        nic=np.array([flow.nic for flow in flows]),
        reference=reference,
        unit=np.array([problem.unit for problem in problems]),
        work=np.concatenate([flow.work for flow in flows]),
        operator_cores=np.concatenate([flow.operator_cores for flow in flows]),
        first_end=np.concatenate([*first_ends, 2 * streams[-1:]]).astype(np.int32),
        other=np.concatenate([other for _, other, _, _ in ends]),
        stream=np.concatenate(
            [stream + streams[i] for i, (_, _, stream, _) in enumerate(ends)]
        ).astype(np.int32),
        outward=np.concatenate([outward for _, _, _, outward in ends]),
        tuples=np.concatenate([flow.stream_tuples for flow in flows]),
        bits=np.concatenate([flow.bits for flow in flows]),
        traffic=np.concatenate([flow.traffic for flow in flows]),
        capacity=np.concatenate([flow.capacity for flow in flows]),
        cores=np.concatenate([flow.cores for flow in flows]),
        kind=np.concatenate([problem.kind for problem in problems]).astype(np.int32),
        bandwidth=np.concatenate([_bandwidth(flow) for flow in flows]),
        gap_s=np.concatenate([flow.gap_s for flow in flows]),
        seconds_per_bit=np.concatenate([flow.seconds_per_bit for flow in flows]),
        overhead_s=np.concatenate([flow.overhead_s for flow in flows]),
        uplinked=np.array([flow.uplinks > 0 for flow in flows]),
        up=np.concatenate([_or_none(flow.up, flow.devices) for flow in flows]),
        down=np.concatenate([_or_none(flow.down, flow.devices) for flow in flows]),
        class_of=np.concatenate([flow.class_of for flow in flows]),
        first_work=_first_work(tables),
        class_work=np.concatenate([table.ravel() for table in tables]),
        egress=np.array([flow.egress for flow in flows]),
        multicast=np.array([flow.multicast for flow in flows], dtype=np.int32),
        overhead_s_per_bit=np.concatenate([flow.overhead_s_per_bit for flow in flows]),
        shared=_shared(flows, streams),
        leader=np.concatenate([problem.leader for problem in problems]).astype(np.int32),
        first_allowed=np.concatenate(
            [
                masks[i] + problem.row_of.astype(np.int64) * problem.flow.devices
                for i, problem in enumerate(problems)
            ]
        ),
        allowed=np.concatenate([problem.allowed.ravel() for problem in problems]),
        needs=_padded([problem.needs for problem in problems]),
        room=_padded([problem.room for problem in problems]),
    )


def _starts(lengths: Sequence[int]) -> Ints:
    return np.cumsum([0, *lengths]).astype(np.int32)


def _padded(tables: Sequence[Floats]) -> Floats:
    """Return tables of different widths as one; added columns are 0, which exceeds no limit."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate(
        [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables]
    ).astype(np.float64)


def _first_work(tables: Sequence[Floats]) -> NDArray[np.int64]:
    """Return the index of each operator's row in flat tables, (V,); -1 where there is no column."""
    rows, start = [], 0
    for table in tables:
        count, classes = table.shape
        own = start + np.arange(count, dtype=np.int64) * classes
        rows.append(own if classes else np.full(count, -1, np.int64))
        start += table.size
    return np.concatenate(rows)


def _shared(flows: Sequence[Flow], first_stream: Ints) -> Copies:
    """Return the streams of several flows by producer; only those with multicast have any."""
    firsts, streams, start = [], [], 0
    for i, flow in enumerate(flows):
        own = flow.first_out[:-1] if len(flow.first_out) else np.zeros(flow.operators, np.int32)
        firsts.append(start + own)
        streams.append(first_stream[i] + flow.out_stream)
        start += len(flow.out_stream)
    return Copies(
        np.concatenate([*firsts, [start]]).astype(np.int32),
        np.concatenate(streams).astype(np.int32),
        np.concatenate([flow.target for flow in flows]),
        np.concatenate([flow.stream_tuples for flow in flows]),
        np.concatenate([flow.stream_bits for flow in flows]),
    )


def _or_none(links: Ints, devices: int) -> Ints:
    return links if len(links) else np.full(devices, -1, np.int32)


def _bandwidth(flow: Flow) -> Floats:
    """Return seconds per bit of each device's links over the mean of all, (D,); 1 if all are 0."""
    per_bit = flow.seconds_per_bit[: flow.own_links].reshape(-1, flow.devices)
    if flow.nic:
        own = per_bit.mean(axis=0)
    else:
        own = (per_bit.sum(axis=0) + per_bit.sum(axis=1) - 2 * np.diag(per_bit)) / (
            2 * max(1, flow.devices - 1)
        )
    mean = own.mean()
    return own / mean if mean > 0 else np.ones(flow.devices)
