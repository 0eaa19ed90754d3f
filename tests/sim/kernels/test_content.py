"""What compiled code depends on, and what it does not."""

from typing import Any

import pytest

from sim.jit import bare, kernel
from sim.kernels.content import content_of

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
    names: dict[str, Any] = {"__name__": "sim.example"}
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
