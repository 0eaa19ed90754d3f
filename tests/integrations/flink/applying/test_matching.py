"""Names of operators in placements and in plans."""

from streamplace.integrations.flink.applying.matching import matched


def test_names_in_plans_and_own_names() -> None:
    in_job = ["Source: src", "count", "out: Writer", "Sink: old"]
    assert matched(["Source: src", "count", "out", "old", "x"], in_job) == {
        "Source: src": "Source: src",
        "count": "count",
        "out": "out: Writer",
        "old": "Sink: old",
    }


def test_numbers_of_sql_go_on_from_job_to_job() -> None:
    before = ["[10]:Sink(t)", "[2]:Calc(a)", "[9]:Calc(a)", "Agg[3]"]
    after = ["[20]:Sink(t)", "[12]:Calc(a)", "[19]:Calc(a)", "Agg[13]"]
    assert matched(before, after) == dict(zip(before, after, strict=True))


def test_numbers_of_sql_are_not_names() -> None:
    """The same number is another operator if the planner went on counting."""
    before, after = ["[2]:Calc(a)", "[3]:Calc(a)"], ["[3]:Calc(a)", "[4]:Calc(a)"]
    assert matched(before, after) == {"[2]:Calc(a)": "[3]:Calc(a)", "[3]:Calc(a)": "[4]:Calc(a)"}
