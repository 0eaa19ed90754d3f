"""Flows from counters, where members of a chain share a name, and so their metrics."""

import numpy as np
import pytest

from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.plan import running
from streamplace.formats.profiling.counters import Counters, Reading

CHAIN = "convert<br/>:- openings<br/>:  +- Map<br/>+- bids only<br/>   +- Map<br/>"
JOIN = running(  # as a Flink 2.3.0 describes `DataStream.join` on two parts of one stream
    {
        "name": "join",
        "nodes": [
            {"id": "s", "parallelism": 1, "description": "Source: bids<br/>", "inputs": []},
            {
                "id": "c",
                "parallelism": 2,
                "description": CHAIN,
                "inputs": [{"id": "s", "ship_strategy": "REBALANCE"}],
            },
            {
                "id": "w",
                "parallelism": 2,
                "description": "Window(128)<br/>+- results: Writer<br/>",
                "inputs": [
                    {"id": "c", "ship_strategy": "HASH"},
                    {"id": "c", "ship_strategy": "HASH"},
                ],
            },
        ],
    },
    "plan",
)
FIRST, SECOND = "Map", "Map#2"


def growth(openings: float, bids: float, sent: float) -> Growth:
    """Return the increases in which the filters let some tuples pass, and the maps emit some."""
    both = openings + bids
    after = Reading(
        1.0,
        {
            "s": Counters(records_in=0.0, records_out=both),
            "c": Counters(records_in=both, records_out=sent),
            "w": Counters(records_in=sent, records_out=0.0),
        },
        {
            "convert": Counters(records_in=both, records_out=both),
            "openings": Counters(records_in=both, records_out=openings),
            "bids only": Counters(records_in=both, records_out=bids),
        },
    )
    zero = Counters(records_in=0.0, records_out=0.0)
    before = Reading(0.0, dict.fromkeys(after.vertices, zero), dict.fromkeys(after.operators, zero))
    return Growth(JOIN, (before, after))


@pytest.mark.parametrize(("openings", "bids"), [(100.0, 700.0), (0.0, 700.0), (0.0, 0.0)])
@pytest.mark.parametrize("per_tuple", [1.0, 2.5])
def test_members_of_one_name_are_known_by_those_that_feed_them(
    openings: float, bids: float, per_tuple: float
) -> None:
    found = growth(openings, bids, per_tuple * (openings + bids))
    assert found.processed(FIRST).tolist() == [openings]
    assert found.processed(SECOND).tolist() == [bids]
    streams = found.logical.graph.streams
    sent = {s.source: found.sent[e] for e, s in enumerate(streams) if s.target == "Window(128)"}
    assert sent[FIRST] == pytest.approx(per_tuple * openings)
    assert sent[SECOND] == pytest.approx(per_tuple * bids)


def test_a_counter_that_is_missing_stays_unknown() -> None:
    whole = growth(100.0, 700.0, 800.0)
    without = [
        Reading(each.at_s, each.vertices, {"convert": each.operators["convert"]})
        for each in whole.readings
    ]
    assert np.isnan(Growth(JOIN, without).processed(FIRST)).all()
