"""Counts of evaluations: nested, per thread, and none."""

from threading import Thread

from streamplace.util.evaluation_count import count, counting


def test_nothing_counted_is_not_zero() -> None:
    with counting() as counted:
        pass
    assert counted.evaluations is None


def test_outer_blocks_count_what_inner_ones_do() -> None:
    with counting() as outer:
        count(2)
        with counting() as inner:
            count(3)
    count(7)
    assert (outer.evaluations, inner.evaluations) == (5, 3)


def test_other_threads_are_not_counted() -> None:
    with counting() as counted:
        thread = Thread(target=count, args=(4,))
        thread.start()
        thread.join()
        count(1)
    assert counted.evaluations == 1
