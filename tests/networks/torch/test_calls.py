"""Inputs of calls of exported modules: which are accepted, and what the others are refused for."""

from collections import OrderedDict
from math import nan
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from streamplace.errors import GraphError
from streamplace.networks.torch.program import Program, export

X = torch.ones(3, 4)


class Scaled(nn.Module):
    """Tensors in a dictionary and a list, a number, and a text."""

    def forward(self, x: Tensor, more: dict[str, list[Tensor]], scale: float, mode: str) -> Tensor:
        """Shapes: those of the inputs, which are equal."""
        return (x - more["a"][0] + more["b"][0]) * scale if mode == "on" else x


@pytest.fixture(scope="module")
def program() -> Program:
    return export(Scaled(), (X, {"a": [X + 1], "b": [X + 2]}, 0.0, "on"))


def test_inputs_of_the_same_form_are_accepted(program: Program) -> None:
    a, b = X + 3, X + 4
    found = program.arguments((X, {"a": [a], "b": [b]}, 0.0, "on"))
    assert [type(value) for value in found.values()] == [Tensor, Tensor, Tensor, float, str]
    # the order of keys does not matter, as for the module
    reordered = program.arguments((X, OrderedDict(b=[b], a=[a]), 0.0, "on"))
    assert all(reordered[name] is value for name, value in found.items())


MORE = {"a": [X], "b": [X]}


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((), r"^number of inputs: must be 4, as in the example inputs \(got 0\)$"),
        ((X, MORE, 0.0), r"must be 4, .* \(got 3\)$"),
        ((X, MORE, 0.0, "on", X), r"must be 4, .* \(got 5\)$"),
        ((X[:2], MORE, 0.0, "on"), r"'x': must be a tensor 3x4:float32, .* tensor 2x4:float32\)"),
        ((X[0], MORE, 0.0, "on"), r"\(got a tensor 4:float32\); create another object"),
        ((X.double(), MORE, 0.0, "on"), r"\(got a tensor 3x4:float64\)"),
        (([*range(99)], MORE, 0.0, "on"), r"'x': must be a tensor .* \(got \[0, 1, .*…\)"),
        (([X, X], MORE, 0.0, "on"), r"'x': must be a tensor .* \(got \[tensor\(.*\)"),
        ((None, MORE, 0.0, "on"), r"'x': must be a tensor .* \(got None\)"),
        ((X, {"a": [X]}, 0.0, "on"), r"input 2: must be nested as .* expected 2, but got 1\);"),
        ((X, {"a": [X], "c": [X]}, 0.0, "on"), r"input 2: .*missing key"),
        ((X, {"a": [X], "b": X}, 0.0, "on"), r"input 2: must be nested as"),
        ((X, {"a": [X], "b": [X[0]]}, 0.0, "on"), r"'more_b_0': .* \(got a tensor 4:float32\)"),
        ((X, MORE, 1.0, "on"), r"'scale': must be 0.0, .* \(got 1.0\)"),
        ((X, MORE, -0.0, "on"), r"'scale': must be 0.0, .* \(got -0.0\)"),
        ((X, MORE, 0, "on"), r"'scale': must be 0.0, .* \(got 0\)"),
        ((X, MORE, X, "on"), r"'scale': must be 0.0, .* \(got a tensor 3x4:float32\)"),
        ((X, MORE, 0.0, "off"), r"'mode': must be 'on', .* \(got 'off'\)"),
    ],
)
def test_inputs_of_another_form_are_refused(
    program: Program, inputs: tuple[Any, ...], expected: str
) -> None:
    with pytest.raises(GraphError, match=expected) as error:
        program.arguments(inputs)
    assert "\n" not in str(error.value)


def test_values_that_are_equal_as_constants_are_accepted() -> None:
    program = export(Scaled(), (X, MORE, nan, "on"))
    program.arguments((X, MORE, float("nan"), "on"))
    program = export(Scaled(), (X, MORE, 2.0, "on"))
    program.arguments((X, MORE, np.float64(2.0), "on"))


def test_axes_of_any_size_are_accepted() -> None:
    x = torch.ones(3, 4)
    torch._dynamo.mark_dynamic(x, 0)
    program = export(nn.ReLU(), (x,))
    program.arguments((torch.ones(7, 4),))
    with pytest.raises(GraphError, match=r"\(got a tensor 7x5:float32\)"):
        program.arguments((torch.ones(7, 5),))
