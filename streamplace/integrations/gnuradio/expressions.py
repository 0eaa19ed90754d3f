"""Numbers in flowgraphs, which are Python expressions; only plain arithmetic is computed."""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from math import isfinite

from streamplace.integrations.parsing.decimals import DECIMAL

MAX_LENGTH = 200  # characters; longer ones are no plain arithmetic
MAX_DEPTH = 50  # variables that refer to one another
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
        self._texts = texts
        self._known: dict[str, float | None] = {}

    def number(self, text: str, depth: int = 0) -> float | None:
        """Return the value of an expression; None if it is not plain arithmetic of known numbers.

        Nothing is executed: numbers, variables, ``+ - * / // % **``, ``int``, ``float`` and
        ``round`` are computed, and all else is unknown.
        """
        plain = text.strip()
        if DECIMAL.fullmatch(plain):
            value = float(plain)
            return value if isfinite(value) else None
        if not plain or len(plain) > MAX_LENGTH or depth > MAX_DEPTH:
            return None
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(plain, mode="eval")
            value = self._value(tree.body, depth)
            return value if isfinite(value) else None
        except (SyntaxError, ValueError, ArithmeticError, TypeError, MemoryError, RecursionError):
            return None

    def _value(self, node: ast.expr, depth: int) -> float:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.Name(id=name):
                return self._variable(name, depth)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._value(inner, depth)
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in BINARY:
                return BINARY[type(kind)](self._value(left, depth), self._value(right, depth))
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in CALLS:
                return float(CALLS[name](self._value(inner, depth)))
        raise ValueError("not plain arithmetic")

    def _variable(self, name: str, depth: int) -> float:
        if name not in self._known:
            self._known[name] = None  # while it is computed: a variable may refer to itself
            self._known[name] = self.number(self._texts.get(name, ""), depth + 1)
        if (found := self._known[name]) is None:
            raise ValueError("unknown variable")
        return found
