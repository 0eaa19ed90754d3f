"""Plans within other texts, as people paste them."""

import json
from typing import Any

import pytest

from streamplace.engines.flink.pasted import only_plan
from streamplace.engines.flink.plan import FORMAT, read
from streamplace.errors import FormatError
from tests.corpus.engine_documents.flink import FLINK_EXECUTION, FLINK_RUNNING

TREE = """== Abstract Syntax Tree ==
LogicalSink(table=[o], fields=[k, c])
+- LogicalAggregate(group=[{0}], c=[COUNT('{"a": 1}')])

== Optimized Execution Plan ==
Sink(table=[o])
"""
PHYSICAL = "== Physical Execution Plan ==\n"
PLAN = json.dumps(FLINK_EXECUTION, indent=2)


def table(text: str, width: int, border: str = "|") -> str:
    """Return a text in a table of one column, whose longer lines are divided into rows."""
    rule = f"+{'-' * (width + 2)}+"
    lines = [
        line[at : at + width]
        for line in text.splitlines()
        for at in range(0, max(len(line), 1), width)
    ]
    rows = [f"{border} {line.ljust(width)} {border}" for line in lines]
    return "\n".join([rule, *rows, rule, "1 row in set", ""])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "\nFlink SQL> quit;\n"),
        ("$ curl -s http://localhost:8081/jobs/1/plan\n", "\n$ "),
        (TREE + PHYSICAL, "\n1 row in set {\n"),
        (TREE.replace("\n", "\r\n") + PHYSICAL, ""),
        ("INFO the plan is ", ""),
        ('{"level": "INFO"}\n', '\n{"level": "INFO"}\n'),
    ],
)
def test_lines_before_and_after_a_plan_are_skipped(before: str, after: str) -> None:
    assert read(before + PLAN + after, "x").graph == read(PLAN, "x").graph
    running = json.dumps(FLINK_RUNNING)
    assert read(before + running + after, "x").graph == read(running, "x").graph


@pytest.mark.parametrize("width", [300, 100, 41, 12, 2])
@pytest.mark.parametrize("border", ["|", "│"])
def test_plans_in_the_borders_of_a_table(width: int, border: str) -> None:
    """Rows divide names, numbers, escaped characters, and words of two characters each."""
    plan: dict[str, Any] = {
        "nodes": [
            {"id": 1, "type": 'Source: "a\\b"  c', "parallelism": 16},
            {
                "id": 2,
                "type": "Größe \t x" * 9,
                "parallelism": 1024,
                "predecessors": [{"id": 1, "ship_strategy": "REBALANCE", "side": "second"}],
            },
        ]
    }
    text = json.dumps(plan, indent=2)
    pasted = table(TREE + PHYSICAL + text, width, border)
    if width < len(PHYSICAL):  # the heading itself is divided
        pasted = table(text, width, border)
    found, expected = read(pasted, "x"), read(text, "x")
    assert (
        found.parallelism
        == expected.parallelism
        == {plan["nodes"][0]["type"]: 16} | {plan["nodes"][1]["type"]: 1024}
    )
    assert found.graph == expected.graph


def test_rows_that_are_divided_between_words() -> None:
    text = '| {"nodes": [{"id": 1, "type": "Source: my  |\n| table", "parallelism": 2}]}      |\n'
    assert read(text, "x").graph.names == ("Source: my table",)


def test_what_is_left_of_a_text_keeps_its_place() -> None:
    whole = table(TREE + PHYSICAL + PLAN, 120)
    left = only_plan(whole, "x")
    for line, kept in zip(whole.splitlines(), left.splitlines(), strict=False):
        assert kept.strip() in line
        assert not kept.strip() or line.find(kept.strip()) == len(kept) - len(kept.lstrip())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f'{TREE}{PHYSICAL}{{"nodes": [\n  {{"id": 1,, "type": "a"}}]}}\n', "line 9 column 12"),
        ('$ cat plan\n{"nodes": [{"id" 1}]}', "line 2 column 18"),
        (table('{"nodes": [\n  {"id": 1,, "type": "a"}]}', 40), "line 3 column 14"),
        ('{"nodes": [}\n$ ', "line 1 column 12"),
    ],
)
def test_faults_have_their_place_in_the_file(text: str, place: str) -> None:
    with pytest.raises(FormatError, match=f"^x: {place}: not JSON"):
        read(text, "x")


@pytest.mark.parametrize(
    "text",
    [
        TREE,
        TREE.replace("""'{"a": 1}'""", ""),
        table(TREE, 80),
        TREE + PHYSICAL + "none\n",
        "== Optimized Physical Plan ==\nSink(table=[o])\n",
    ],
)
def test_a_plan_without_json_names_the_statement_with_it(text: str) -> None:
    with pytest.raises(FormatError, match=r"^x: has no execution plan in JSON; .* JSON_EXECUTION"):
        read(text, "x")
    assert FORMAT.signs.in_text(text)


def test_only_so_many_objects_are_tried() -> None:
    """Each may reach to the end of the text."""
    with pytest.raises(FormatError, match="nested too deeply"):
        read("x\n" + '{"a":[' * 20_000, "x")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{PLAN}\n{PLAN}", PLAN.count("\n") + 2),
        (f"{PLAN}\n$ curl plan\n{json.dumps(FLINK_RUNNING)}\n", PLAN.count("\n") + 3),
        (f"{TREE}{PHYSICAL}{PLAN}\n" * 2, 2 * (TREE.count("\n") + 2) + PLAN.count("\n")),
        (table(PLAN, 80) * 2, PLAN.count("\n") + 6),
    ],
)
def test_a_second_plan_is_refused_not_left_out(text: str, line: int) -> None:
    with pytest.raises(FormatError, match=f"^x: line {line}: has another plan; save each job in"):
        read(text, "x")
