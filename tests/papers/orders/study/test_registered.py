"""Published counts in the plan of the study of traversal orders."""

from streamplace.papers.orders.study.registered import (
    FULL,
    GRAPHS,
    WINS,
)


def test_published_counts_sum_to_the_number_of_graphs() -> None:
    assert set(WINS) == {(f, d) for f in FULL.families for d in (3, 5, 8)}
    assert all(sum(wins) == GRAPHS for rows in WINS.values() for wins in rows)
