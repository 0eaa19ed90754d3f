"""Gradients of a weight that many decoding steps share."""

import weakref

import pytest
import torch
from torch import Tensor

from streamplace.papers.ni2020.products import SharedWeight

STEPS, ROWS, INPUTS, OUTPUTS = 5, 3, 7, 4


@pytest.fixture
def leaves() -> list[Tensor]:
    """A weight, a bias and the first inputs, in double precision."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((INPUTS, OUTPUTS), (ROWS, OUTPUTS), (ROWS, INPUTS))
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [x.requires_grad_() for x in drawn]


def recurrent(leaves: list[Tensor], *, shared: bool, counted: int = STEPS) -> Tensor:
    """Return a loss of the first `counted` products, each of which reads the one before it."""
    weight, bias, inputs = leaves
    whole = weight * 2.0
    product = SharedWeight(whole).product if shared else None
    loss = torch.zeros((), dtype=torch.float64)
    for step in range(STEPS):
        out = product(bias, inputs) if product else torch.addmm(bias, inputs, whole)
        inputs = torch.cat([torch.tanh(out), inputs[:, OUTPUTS:]], dim=1)
        if step < counted:
            loss = loss + out.square().sum()
    return loss


@pytest.mark.parametrize("counted", [1, 3, STEPS])
def test_gradients_are_those_of_separate_products(leaves: list[Tensor], counted: int) -> None:
    plain, shared = (recurrent(leaves, shared=s, counted=counted) for s in (False, True))
    assert shared.item() == plain.item()
    for found, expected in zip(
        torch.autograd.grad(shared, leaves), torch.autograd.grad(plain, leaves), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_gradient_of_a_second_pass_is_the_same(leaves: list[Tensor]) -> None:
    loss = recurrent(leaves, shared=True)
    first = torch.autograd.grad(loss, leaves, retain_graph=True)
    second = torch.autograd.grad(loss, leaves)
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other, rtol=0.0, atol=0.0)


def test_frozen_weight_keeps_nothing(leaves: list[Tensor]) -> None:
    weight, bias, inputs = leaves
    products = SharedWeight(weight.detach())
    first = products.product(bias, inputs)
    joined = torch.cat([first, inputs[:, OUTPUTS:]], dim=1)
    kept = weakref.ref(joined)
    torch.autograd.grad(products.product(bias, joined).sum(), [bias, inputs])
    del products, first, joined
    assert kept() is None


def test_product_without_gradients(leaves: list[Tensor]) -> None:
    with torch.no_grad():
        assert not recurrent(leaves, shared=True).requires_grad
