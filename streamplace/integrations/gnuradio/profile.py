"""Profiles of flowgraphs, from counters that ``streamplace_counters.py`` has written."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.json_text import json_lines
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Number
from streamplace.integrations.gnuradio.grc import NO_STREAMS, messages_note
from streamplace.integrations.logical_builder import Link, build_logical_graph, check_links
from streamplace.integrations.profiling.estimates import (
    Estimate,
    or_exact,
    or_unknown,
    ratio,
)
from streamplace.integrations.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.problem.logical import LogicalGraph
from streamplace.util.arrays import Floats

SENDS_NOTHING = "a sink sends nothing"
NO_THREAD = "none of its threads was found"
PER_S = 1e6  # instructions in a second at 1 MIPS
Items = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[Number, Field(le=1e12)]


class _Stream(ForeignForm):
    source: Name
    target: Name
    item_bytes: Number


class _Head(ForeignForm):
    threads: dict[Name, list[int]]
    streams: list[_Stream]
    messages: list[list[Name]]


class _Row(ForeignForm):
    at_s: Seconds
    items: list[Items | None]
    cpu_s: dict[Name, Seconds]


def fit(text: str, where: str, mips: float) -> Profile:
    """Return the profile of a flowgraph, estimated from its counters.

    An item counts as a tuple, at each input where a block takes one. The work of a block is the CPU
    time of its threads, with what GNU Radio's scheduler does in them.

    Parameters
    ----------
    mips
        Speed of a core, million instructions per second.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line in it and the fault.
    GraphError
        If the blocks do not form a stream graph.
    """
    head, rows = _read(text, where)
    out_of: dict[str, list[int]] = {}
    into: dict[str, list[int]] = {}
    for e, each in enumerate(head.streams):
        out_of.setdefault(each.source, []).append(e)
        into.setdefault(each.target, []).append(e)
    names = [name for name in head.threads if name in out_of or name in into]
    dt = np.diff([row.at_s for row in rows])
    items = [_increases([row.items[e] for row in rows]) for e in range(len(head.streams))]
    used = {name: _increases([row.cpu_s.get(name) for row in rows]) for name in head.threads}
    # what a block took at all inputs, or what a source sent on one stream
    taken = {
        name: np.sum([items[e] for e in into.get(name) or out_of[name][:1]], axis=0)
        for name in names
    }
    sources = [name for name in names if name not in into]
    if not sources:
        raise FormatError(f"{where}: streams: every block has an input, so they form a cycle")
    operators = [
        OperatorProfile(
            name,
            ratio(taken[name], dt),
            ratio(used[name], taken[name]).times(mips * PER_S)
            if head.threads[name]
            else Estimate.missing(NO_THREAD),
            _payload([head.streams[e].item_bytes for e in out_of.get(name, ())]),
        )
        for name in names
    ]
    streams = [
        StreamProfile(s.source, s.target, ratio(sent, taken[s.source]), Estimate(s.item_bytes, 0.0))
        for s, sent in zip(head.streams, items, strict=True)
    ]
    rate = ratio(np.sum([taken[name] for name in sources], axis=0), dt)
    logical = _logical(operators, streams, sources, rate)
    alone = [name for name in head.threads if name not in taken]
    cores = sum(ratio(used[name], dt).known or 0.0 for name in alone if head.threads[name])
    notes = messages_note(len(head.messages), alone, f", which use {cores:.3g} cores")
    return Profile(
        replace(logical, notes=[*notes]),
        rate,
        operators,
        streams,
        len(dt),
        float(np.sum(dt)),
    )


def _read(text: str, where: str) -> tuple[_Head, list[_Row]]:
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()  # it is being written
    found = list(json_lines(lines, where))
    if not found:
        raise FormatError(f"{where}: is empty")
    place, value = found[0]
    head = check(_Head, value, place)
    rows = [check(_Row, value, place) for place, value in found[1:]]
    check_links(len(head.streams), where)
    if not head.streams:
        raise FormatError(f"{where}: {NO_STREAMS}")
    places = [place for place, _ in found[1:]]
    for place, row in zip(places, rows, strict=True):
        if len(row.items) != len(head.streams):
            raise FormatError(f"{place}: items: must have one number per stream")
    for place, (before, row) in zip(places[1:], pairwise(rows), strict=True):
        _check_follows(before, row, place)
    for i, each in enumerate(head.streams):
        for end in (each.source, each.target):
            if end not in head.threads:
                raise FormatError(f"{where}: streams[{i}]: unknown block {end!r:.40}")
    return head, rows


def _check_follows(before: _Row, row: _Row, place: str) -> None:
    """Refuse times and counters that fall; those of a block fall when it starts again."""
    if row.at_s <= before.at_s:
        raise FormatError(f"{place}: at_s: must be later than in the line before")
    for e, (old, new) in enumerate(zip(before.items, row.items, strict=True)):
        if old is not None and new is not None and new < old:
            raise FormatError(f"{place}: items[{e}]: must not be less than in the line before")
    for name, used in row.cpu_s.items():
        if used < before.cpu_s.get(name, 0.0):
            raise FormatError(
                f"{place}: cpu_s: {name!r:.40} must not have less than in the line before"
            )


def _increases(values: Sequence[float | None]) -> Floats:
    return np.diff(np.array([np.nan if each is None else each for each in values], dtype=float))


def _payload(sizes: Sequence[float]) -> Estimate:
    """Return the size of a block's largest items, of the sizes on the streams that it sends."""
    return Estimate(max(sizes), 0.0) if sizes else Estimate.missing(SENDS_NOTHING)


def _logical(
    operators: Sequence[OperatorProfile],
    streams: list[StreamProfile],
    sources: Sequence[str],
    rate: Estimate,
) -> LogicalGraph:
    """Return the graph with what was measured; `streams` are put into its order."""
    numbered = [Link(s.source, s.target, selectivity=float(e)) for e, s in enumerate(streams)]
    logical = build_logical_graph([each.name for each in operators], numbered)
    order = logical.graph.selectivity.astype(int).tolist()
    selectivity = [streams[e].selectivity for e in order]
    instructions = [each.instructions for each in operators]
    rates = {each.name: each.rate.known for each in operators if each.name in sources}
    whole = sum(each or 0.0 for each in rates.values())
    graph, before = logical.graph.with_numbers(
        instructions=np.array([or_unknown(each) for each in instructions]),
        instructions_se=np.array([or_exact(each) for each in instructions]),
        payload_bytes=np.array([each.payload_bytes.known or 0.0 for each in operators]),
        selectivity=np.array([or_unknown(each) for each in selectivity]),
        selectivity_se=np.array([or_exact(each) for each in selectivity]),
        source_rate=rate.known or None,
        source_shares={name: (each or 0.0) / whole for name, each in rates.items()}
        if whole
        else None,
    )
    streams[:] = [streams[order[e]] for e in before.tolist()]
    return replace(logical, graph=graph)
