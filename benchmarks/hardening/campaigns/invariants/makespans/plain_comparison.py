"""Comparison of schedules with those of an independent engine, the plain one."""

from math import inf

from benchmarks.hardening.campaigns.invariants.deviations import (
    largest_difference,
    relative_difference,
)
from benchmarks.reference.plain_schedule import PlainSchedule, plain_schedule
from benchmarks.reference.schedule_problems import ScheduleForm
from streamplace.scoring.makespan_score import MakespanScore

Sent = tuple[str, str, float, float]
"""Names of a message's producer and receiving device, and seconds of its start and arrival."""


def differs_from_plain(form: ScheduleForm, score: MakespanScore) -> float:
    """Return the largest relative difference of any time from that of the plain engine.

    Parameters
    ----------
    form
        The problem and the placement that was scored; the order is the one of the score.
    """
    settings = {**form["settings"], "order": score.order}
    plain = plain_schedule(form["graph"], form["cluster"], settings, form["placement"])
    pairs = [(score.makespan_s, float(plain.makespan))]
    for row in score.schedule:
        name = row["operator"]
        pairs += [
            (row["start_s"], float(plain.start[name])),
            (row["finish_s"], float(plain.finish[name])),
        ]
    found, expected = messages(score), plain_messages(plain)
    if [one[:2] for one in found] != [one[:2] for one in expected]:
        return inf
    for one, other in zip(found, expected, strict=True):
        pairs += [(one[2], other[2]), (one[3], other[3])]
    return largest_difference(relative_difference(a, b) for a, b in pairs)


def messages(score: MakespanScore) -> list[Sent]:
    """Return the messages of a score, sorted."""
    return sorted(
        (one["operator"], one["to"], one["start_s"], one["arrival_s"]) for one in score.transfers
    )


def plain_messages(plain: PlainSchedule) -> list[Sent]:
    """Return the messages of a schedule of the plain engine, sorted."""
    return sorted(
        (one.source, device, float(one.start), float(arrival))
        for one in plain.messages
        for device, arrival in one.arrival.items()
    )
