"""Event sets in tables that grow."""

from streamplace.sim.engine.event_sets import NOTHING, make_sets, more_sets


def test_more_event_sets_can_be_added() -> None:
    sets, totals, lists = make_sets(4, 2, 1)
    more, more_totals = more_sets(sets, totals, lists)
    free, i = set(), int(lists[-1]["head"])
    while i != NOTHING:
        free.add(i)
        i = int(more["after"][i])
    assert free == set(range(8))
    assert lists[-1]["tail"] == 8
    assert more_totals.shape == (8, 1)
