"""Budgets and their parts."""

from streamplace.placers.budget import Budget


def test_a_part_of_a_budget_has_what_is_left_of_its_changes() -> None:
    whole = Budget(seconds=1e9, evaluations=100)
    whole.charge(60, 1e-3)
    parts = whole.within(1.0), whole.up_to(1_000), whole.share(0.5)
    assert [part.evaluations_left() for part in parts] == [40, 40, 20]


def test_costs_of_a_part_count_for_the_whole() -> None:
    whole = Budget(evaluations=100)
    part = whole.share(0.5).up_to(20)
    part.charge(20, 1e-3)
    assert part.evaluations_left() == 0
    assert whole.evaluations_left() == 80


def test_a_part_of_a_spent_budget_is_spent() -> None:
    whole = Budget(seconds=1e9, evaluations=10)
    whole.charge(30, 1e-3)
    parts = whole.within(1.0), whole.up_to(5), whole.share(0.5)
    assert [part.left() for part in parts] == [0, 0, 0]
