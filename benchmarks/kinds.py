"""Where code asks for the kind of an objective, instead of asking the objective itself."""

import ast
from collections.abc import Iterable
from pathlib import Path

from benchmarks.messages import names_in

FLAG = "is_pass"
TESTS = {"isinstance", "issubclass"}
KINDS = {
    *("Objective", "PassObjective", "Throughput", "Makespan", "TotalCost"),
    *("ThroughputEvaluator", "MakespanEvaluator", "TotalCostEvaluator", "ValueEvaluator"),
    *("ThroughputScore", "MakespanScore", "TotalCostScore", "ValueScore"),
    *("Result", "MakespanResult", "ValueResult", "Explanation", "ScoreExplanation"),
    *("RelativeThroughput", "RatioMeasure"),
}
"""Classes of which there is one for each kind of objective."""


def is_kind_test(node: ast.AST) -> bool:
    """Return whether a part of code names `is_pass`, or tests the class of such a kind.

    A test is a call of `isinstance` or `issubclass`, or a comparison with a class.
    """
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=name):
            return name == FLAG
        case ast.Call(func=ast.Name(id=name), args=[_, kind]) if name in TESTS:
            return not KINDS.isdisjoint(names_in([kind]))
        case ast.Compare(left=left, ops=[*_], comparators=others):
            sides = [left, *others]
            calls = [each for each in sides if isinstance(each, ast.Call)]
            named = {"type"} & names_in([each.func for each in calls])
            return bool(named) and not KINDS.isdisjoint(names_in(sides))
    return False


def kind_tests(paths: Iterable[Path]) -> list[str]:
    """Return the lines of files that test the kind of an objective, as ``file:line``."""
    return [
        f"{path}:{line}"
        for path in paths
        for line in sorted(
            {
                getattr(node, "lineno", 0)
                for node in ast.walk(ast.parse(path.read_text()))
                if is_kind_test(node)
            }
        )
    ]
