"""What compiled code depends on, and what it does not."""

from collections import namedtuple
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.extending import intrinsic

from streamplace.sim.jit import bare, kernel
from streamplace.sim.kernels.cache import key_of
from streamplace.sim.kernels.content import content_of

types = cast("Any", numba.types)  # its attributes have no annotations

SOURCE = """
LIMIT = 3

def callee(x):
    "Return a product."
    return x * 2

def unrelated(x):
    return x + 1

def caller(x):
    return callee(x) + LIMIT
"""


def content(source: str, decorate: Any = kernel) -> str:
    """Return the content of the kernel `caller` that calls the function `callee` for kernels."""
    names: dict[str, Any] = {"__name__": "streamplace.sim.example"}
    exec(compile(source, "example.py", "exec"), names)
    names["callee"] = bare(names["callee"])
    return content_of(decorate(names["caller"]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x * 2", "x * 3"),  # of another function
        ("x * 2", "x + 2"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("callee(x) +", "LIMIT +"),
    ],
)
def test_a_change_of_what_a_kernel_uses_changes_its_content(before: str, after: str) -> None:
    assert before in SOURCE
    assert content(SOURCE.replace(before, after)) != content(SOURCE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Return a product.", "Return twice a number."),
        ("x + 1", "x + 2"),  # of a function that is not called
        ("LIMIT = 3", "\n\nLIMIT = 3  # on another line"),
    ],
)
def test_other_changes_do_not(before: str, after: str) -> None:
    assert before in SOURCE
    assert content(SOURCE.replace(before, after)) == content(SOURCE)


def test_options_of_compilation_are_part_of_the_content() -> None:
    assert content(SOURCE, bare) != content(SOURCE)


def intrinsic_of(factor: int) -> Any:
    """Return an intrinsic whose code depends on a number, all with the same name."""

    @intrinsic
    def times(_context: Any, kind: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = context.get_constant(signature.return_type, factor)
            return builder.mul(values[0], number)

        return kind(kind), write

    return times


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.uint32(3), np.uint32(4)),
        (np.uint32(3), np.int32(3)),
        (np.arange(3), np.arange(1, 4)),
        (intrinsic_of(2), intrinsic_of(3)),
        (namedtuple("Pair", "a b"), namedtuple("Pair", "b a")),
    ],
)
def test_values_that_are_not_of_python_are_part_of_the_content(one: Any, other: Any) -> None:
    def content_with(value: Any) -> str:
        def caller(x: int) -> Any:
            return x, value

        return content_of(kernel(caller))

    assert content_with(one) == content_with(one)
    assert content_with(one) != content_with(other)


def test_fields_of_arguments_are_part_of_the_key() -> None:
    """The names of their types are the same, but the kernel reads a field by its position."""

    @kernel
    def first(pair: Any) -> Any:
        return pair.a

    def key(fields: str) -> str:
        pair = types.NamedUniTuple(types.int64, 2, namedtuple("Pair", fields))
        return key_of(first, (types.Tuple((pair, types.int64)),))

    assert key("a b") == key("a b")
    assert key("a b") != key("b a")
