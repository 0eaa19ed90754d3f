"""Modules that run by a placement."""

from functools import cache

import pytest
import torch
from torch import Tensor, nn

from streamplace.errors import GraphError, UsageError
from streamplace.integrations.torch.graph import from_module
from streamplace.integrations.torch.placed import PlacedModule
from tests.support.gpus import needs_gpu, run_on_gpu

INPUT = torch.linspace(-1, 1, 12).reshape(3, 4)
IN_TURNS = """
import torch
from torch import nn
from streamplace.integrations.torch.graph import from_module
from streamplace.integrations.torch.placed import PlacedModule

layers = nn.Linear(1024, 4096), nn.Sigmoid(), nn.Linear(4096, 1024), nn.Tanh()
module, x = nn.Sequential(*layers).eval(), torch.randn(4096, 1024)
names = from_module(module, (x,)).names
where = {name: "gpu" if i % 2 == 0 else "cpu" for i, name in enumerate(names)}
placed = PlacedModule(module, (x,), where, {"cpu": "cpu", "gpu": "cuda"})
with torch.no_grad():
    for _ in range(3):
        torch.testing.assert_close(placed(x).cpu(), module(x), atol=1e-2, rtol=1e-2)
"""


class Branches(nn.Module):
    """Two branches of one product, a buffer, a tensor that is made on the way, and two results."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Shapes: (3, 4) -> (3, 4), {"sum": (3, 4)}."""
        y = self.first(x)
        left, right = y.chunk(2, dim=1)
        mixed = torch.cat([right, left], dim=1) + torch.arange(4)
        return self.second(y) + self.shift, {"sum": mixed + y}


@cache
def operators() -> tuple[str, ...]:
    """Return the names of the operators of `Branches`."""
    return from_module(Branches().eval(), (INPUT,)).names


@pytest.fixture
def module() -> Branches:
    torch.manual_seed(0)
    return Branches().eval()


def assignment(elsewhere: str = "") -> dict[str, str]:
    """Place operators whose name contains a text on device b, and all others on a."""
    return {name: "b" if elsewhere and elsewhere in name else "a" for name in operators()}


def test_results_are_those_of_the_module(module: Branches) -> None:
    placed = PlacedModule(module, (INPUT,), assignment(), {"a": "cpu"})
    for value in (INPUT, 2 * INPUT):
        own, named = module(value)
        first, second = placed(value)
        torch.testing.assert_close(first, own)
        assert second.keys() == {"sum"}
        torch.testing.assert_close(second["sum"], named["sum"])


@needs_gpu
def test_the_processor_waits_for_results_of_a_gpu() -> None:
    run_on_gpu(IN_TURNS)


@pytest.mark.parametrize("elsewhere", ["second.addmm", "arange"])
def test_operators_run_on_their_devices(module: Branches, elsewhere: str) -> None:
    # on PyTorch's device meta, tensors have no data and cannot return to the CPU
    where = assignment(elsewhere)
    after = {"second.addmm": ("add_1",), "arange": ("add", "add_2")}[elsewhere]
    for name in where:
        if name in after:
            where[name] = "b"
    placed = PlacedModule(module, (INPUT,), where, {"a": "cpu", "b": "meta"})
    own, named = placed(INPUT)
    assert [own.device.type, named["sum"].device.type] == (
        ["meta", "cpu"] if elsewhere == "second.addmm" else ["cpu", "meta"]
    )


def test_parameters_move_once_and_other_tensors_in_each_call(module: Branches) -> None:
    where = assignment("second.addmm") | {"add_1": "b"}
    placed = PlacedModule(module, (INPUT,), where, {"a": "cpu", "b": "meta"})
    placed(INPUT)
    kept = dict(placed._copies)
    assert kept
    assert all(
        "second" in str(node) or "shift" in str(node) or "permute" in str(node) for node, _ in kept
    )
    placed(INPUT)
    assert all(placed._copies[at] is copy for at, copy in kept.items())


def test_a_placement_of_another_module_is_refused(module: Branches) -> None:
    where = assignment()
    with pytest.raises(GraphError, match=r"no device for 'first\.addmm' of this module"):
        PlacedModule(
            module, (INPUT,), {n: d for n, d in where.items() if n != "first.addmm"}, {"a": "cpu"}
        )
    with pytest.raises(GraphError, match="operators that this module lacks: 'third'"):
        PlacedModule(module, (INPUT,), where | {"third": "a"}, {"a": "cpu"})


def test_devices_that_are_missing_or_cannot_be_used_are_refused(module: Branches) -> None:
    where = assignment("second")
    with pytest.raises(UsageError, match="no device of PyTorch for 'b'; devices has 'a'"):
        PlacedModule(module, (INPUT,), where, {"a": "cpu"})
    with pytest.raises(UsageError, match="PyTorch cannot use 'nowhere' for 'b': "):
        PlacedModule(module, (INPUT,), where, {"a": "cpu", "b": "nowhere"})


def test_other_shapes_are_refused_in_one_line(module: Branches) -> None:
    placed = PlacedModule(module, (INPUT,), assignment(), {"a": "cpu"})
    with pytest.raises(GraphError, match=r"^it does not run on inputs of shape 2x3: [^\n]*$"):
        placed(torch.zeros(2, 3))
