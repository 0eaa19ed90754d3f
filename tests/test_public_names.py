"""The public names, which are loaded when they are first used."""

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import streamplace as sp


def test_every_public_name_exists() -> None:
    assert [name for name in sp.__all__ if not hasattr(sp, name)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'streamplace' has no attribute 'nothing'"):
        _ = sp.nothing


def test_no_public_name_is_loaded_before_its_use() -> None:
    code = "import sys, streamplace; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def names_in_help(function: Callable[..., Any]) -> set[str]:
    """Return the names under ``Parameters`` of a docstring."""
    _, _, text = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n(?=\w+\n-+\n)", text)[0].splitlines()
    heads = [line for line in section if line and not line.startswith(" ")]
    return {name for head in heads for name in head.split(", ")}


@pytest.mark.parametrize("name", sp.__all__)
def test_the_help_of_a_function_has_all_its_keywords(name: str) -> None:
    function = getattr(sp, name)
    if inspect.isclass(function):
        return
    parameters = inspect.signature(function).parameters.values()
    every = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY or name == "place"]
    assert [each for each in every if each not in names_in_help(function)] == []


def test_the_example_of_place_runs() -> None:
    parser, place = doctest.DocTestParser(), sp.place
    test = parser.get_doctest(inspect.getdoc(place) or "", {"sp": sp}, "place", None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
