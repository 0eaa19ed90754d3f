"""Requests of a restart as data, refusals of them, and names of operators in plans."""

from streamplace.engines.flink.applying.preflight import names_in_plan
from streamplace.engines.flink.applying.requests import (
    Program,
    Request,
    check,
    plan,
    planned,
    run,
    successor,
)


def test_a_program_is_started_as_before_with_a_mapping() -> None:
    program = Program("org.example.Job", ("1000", "a b"))
    asked = run("1_job.jar", program, "a=pe0\n", {}, "file:/s", "abc")
    assert (asked.method, asked.path) == ("POST", "/jars/1_job.jar/run")
    assert asked.body == {
        "entryClass": "org.example.Job",
        "programArgsList": ["1000", "a b"],
        "flinkConfiguration": {"streamplace.mapping": "a=pe0\n"},
        "savepointPath": "file:/s",
        "jobId": "abc",
        "allowNonRestoredState": False,
    }
    assert "flinkConfiguration" not in run("j", Program(), None, {}, "file:/s", "abc").body
    kept = run("j", Program(), None, {"a.b": "c"}, "file:/s", "abc")
    assert kept.body["flinkConfiguration"] == {"a.b": "c"}


def test_checks_do_not_start_a_job() -> None:
    for asked in (check("j", Program(), "a=b"), plan("j", Program(), "a=b")):
        assert asked.path == "/jars/j/plan"
    asked = plan("j", Program(), "a=b").body["flinkConfiguration"]
    chaining = "pipeline.operator-chaining"  # in Flink 1.17, which ignores the other name
    assert asked[chaining] == asked[f"{chaining}.enabled"] == "false"
    assert chaining not in plan("j", Program(), "a=b", chains=True).body["flinkConfiguration"]


def test_ids_follow_from_what_is_continued() -> None:
    ids = {
        successor(job, savepoint, attempt, rollback)
        for job in ("a", "b")
        for savepoint in ("file:/s", "file:/t")
        for attempt in (0, 1)
        for rollback in (False, True)
    }
    assert len(ids) == 16
    assert successor("a", "file:/s", 0) in ids
    assert all(len(id_) == 32 and int(id_, 16) for id_ in ids)


def test_an_ended_job_is_not_stopped() -> None:
    found = planned("a", "j", Program(), "x=pe0", None, {}, "file:/d", "file:/s")
    assert not any("/stop" in request.path for request in found)
    assert found[2].body["jobId"] == successor("a", "file:/s", 0)
    first, *_, last = planned("a", None, Program(), "x=pe0", None, {}, "file:/d", None)
    assert (first.path, last.method) == ("/jars/upload", "DELETE")


def test_a_request_is_one_line() -> None:
    assert str(Request("POST", "/x", {"a": "é\n"}, "why")) == 'POST /x {"a": "é\\n"}  # why'
    assert str(Request("GET", "/x", None, "why")) == "GET /x  # why"


def test_names_in_plans_and_own_names() -> None:
    in_job = ["Source: src", "count", "out: Writer", "Sink: old"]
    assert names_in_plan(["Source: src", "count", "out", "old", "x"], in_job) == {
        "Source: src": "Source: src",
        "count": "count",
        "out": "out: Writer",
        "old": "Sink: old",
    }


def test_numbers_of_sql_go_on_from_job_to_job() -> None:
    before = ["[10]:Sink(t)", "[2]:Calc(a)", "[9]:Calc(a)", "Agg[3]"]
    after = ["[20]:Sink(t)", "[12]:Calc(a)", "[19]:Calc(a)", "Agg[13]"]
    assert names_in_plan(before, after) == dict(zip(before, after, strict=True))


def test_numbers_of_sql_are_not_names() -> None:
    """The same number is another operator if the planner went on counting."""
    before, after = ["[2]:Calc(a)", "[3]:Calc(a)"], ["[3]:Calc(a)", "[4]:Calc(a)"]
    assert names_in_plan(before, after) == {
        "[2]:Calc(a)": "[3]:Calc(a)",
        "[3]:Calc(a)": "[4]:Calc(a)",
    }
