"""Numbers in flowgraphs, which are Python expressions; only plain arithmetic is computed."""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from math import isfinite

from streamplace.integrations.parsing.decimals import DECIMAL

MAX_LENGTH = 200  # characters; longer ones are no plain arithmetic
BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
CALLS: dict[str, Callable[[float], float]] = {"int": int, "float": float, "round": round}


class Variables:
    """The variables of a flowgraph.

    Parameters
    ----------
    texts
        Variable -> its expression.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        trees = {name: _parsed(text) for name, text in texts.items()}
        order = TopologicalSorter({name: _names(tree) for name, tree in trees.items()})
        self._known: dict[str, float] = {}
        with suppress(CycleError):  # variables outside cycles, and not behind one, still follow
            order.prepare()
        while ready := order.get_ready():
            for name in ready:
                if (value := self._computed(trees.get(name))) is not None:
                    self._known[name] = value
            order.done(*ready)

    def number(self, text: str) -> float | None:
        """Return the value of an expression; None if it is not plain arithmetic of known numbers.

        Nothing is executed: numbers, variables, ``+ - * / // % **``, ``int``, ``float`` and
        ``round`` are computed, and all else is unknown.
        """
        return self._computed(_parsed(text))

    def _computed(self, tree: ast.expr | None) -> float | None:
        try:
            value = self._value(tree)
            return value if isfinite(value) else None
        except (KeyError, ValueError, ArithmeticError, TypeError, MemoryError, RecursionError):
            return None

    def _value(self, node: ast.expr | None) -> float:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.Name(id=name):
                return self._known[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._value(inner)
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in BINARY:
                return BINARY[type(kind)](self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in CALLS:
                return float(CALLS[name](self._value(inner)))
        raise ValueError("not plain arithmetic")


def _parsed(text: str) -> ast.expr | None:
    """Return the tree of an expression; None if there is none, or it is too long."""
    plain = text.strip()
    if DECIMAL.fullmatch(plain):
        return ast.Constant(float(plain))
    if not plain or len(plain) > MAX_LENGTH:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _names(tree: ast.expr | None) -> set[str]:
    """Return the variables in an expression."""
    nodes = ast.walk(tree) if tree else ()
    return {each.id for each in nodes if isinstance(each, ast.Name)}
