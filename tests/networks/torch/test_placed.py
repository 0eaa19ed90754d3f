"""Modules that run by a placement."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from streamplace.errors import GraphError, UsageError
from streamplace.networks.torch.graph import from_module
from streamplace.networks.torch.placed import PlacedModule
from tests.support.gpus import needs_gpu, run_on_gpu
from tests.support.long import long_after
from tests.support.torch_modules import CASES, Counter, Inverse, case

INPUT = torch.linspace(-1, 1, 12).reshape(3, 4)
IN_TURNS = """
import torch
from torch import nn
from streamplace.networks.torch.graph import from_module
from streamplace.networks.torch.placed import PlacedModule

layers = nn.Linear(1024, 4096), nn.Sigmoid(), nn.Linear(4096, 1024), nn.Tanh()
module, x = nn.Sequential(*layers).eval(), torch.randn(4096, 1024)
names = from_module(module, (x,)).names
where = {name: "gpu" if i % 2 == 0 else "cpu" for i, name in enumerate(names)}
placed = PlacedModule(module, (x,), where, {"cpu": "cpu", "gpu": "cuda"})
with torch.no_grad():
    for _ in range(3):
        torch.testing.assert_close(placed(x).cpu(), module(x), atol=1e-2, rtol=1e-2)
"""
COUNTING = """
import torch
from streamplace.networks.torch.graph import from_module
from streamplace.networks.torch.placed import PlacedModule
from tests.support.torch_modules import Counter

module, other, x = Counter(), Counter(), torch.ones(2)
where = {name: "gpu" for name in from_module(module, (x,)).names}
placed = PlacedModule(module, (x,), where, {"gpu": "cuda"})
for _ in range(3):
    for result, expected in zip(placed(x), other(x)):
        assert result.is_cuda
        torch.testing.assert_close(result.cpu(), expected)
torch.testing.assert_close(dict(module.named_buffers()), dict(other.named_buffers()))
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


def on_processor(module: nn.Module, *inputs: Any) -> PlacedModule:
    """Return a module all of whose operators are placed on the processor."""
    names = from_module(module, inputs).names
    return PlacedModule(module, inputs, dict.fromkeys(names, "a"), {"a": "cpu"})


class Called(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        """Shapes: those of the function."""
        return self.function(*inputs)


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


@pytest.mark.parametrize("name", long_after(4, CASES))
def test_every_case_returns_what_the_module_returns(name: str) -> None:
    module, inputs = case(name)
    with torch.no_grad():
        torch.testing.assert_close(on_processor(module, *inputs)(*inputs), module(*inputs))


def test_other_shapes_are_refused(module: Branches) -> None:
    placed = PlacedModule(module, (INPUT,), assignment(), {"a": "cpu"})
    with pytest.raises(GraphError, match=r"^input 'x': must be a tensor 3x4:float32, [^\n]*$"):
        placed(torch.zeros(2, 3))


def test_a_value_that_the_graph_keeps_as_a_constant_is_refused() -> None:
    x = torch.ones(2)
    placed = on_processor(Called(lambda x, n: x * n), x, 3)
    assert placed(x, 3).tolist() == [3, 3]
    with pytest.raises(GraphError, match=r"must be 3, as in the example inputs \(got 5\)"):
        placed(x, 5)


def test_an_input_that_is_an_example_twice_remains_two_inputs() -> None:
    weight = nn.Parameter(torch.ones(2))
    module = Called(lambda a, b, c: a - b + c)
    module.weight = weight
    x, y = torch.ones(2), torch.full((2,), 3.0)
    assert on_processor(module, x, x, weight)(y, x, y).tolist() == [5, 5]


def test_buffers_change_as_in_the_module() -> None:
    module, other = Counter(), Counter()
    x = torch.tensor([1.0, 2.0])
    placed = on_processor(module, x)
    for value in (x, 2 * x, -x):
        torch.testing.assert_close(placed(value), other(value))
        torch.testing.assert_close(dict(module.named_buffers()), dict(other.named_buffers()))


def test_changing_buffers_move_in_every_call() -> None:
    module, x = Counter(), torch.ones(2)
    where = dict.fromkeys(from_module(module, (x,)).names, "a")
    first = next(name for name in where if name.startswith("mul"))  # reads the old buffer
    before = next(name for name in where if name.startswith("add"))
    where |= {first: "b", before: "b"}
    placed = PlacedModule(module, (x,), where, {"a": "cpu", "b": "meta"})
    placed(x)
    assert not placed._copies


@needs_gpu
def test_changing_buffers_move_to_a_gpu_in_every_call() -> None:
    run_on_gpu(COUNTING)


def test_normalisation_is_trained_as_by_the_module() -> None:
    torch.manual_seed(0)
    module, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    x = torch.randn(5, 3)
    placed = on_processor(module, x)
    for factor in (1.0, 2.0, 3.0):
        for each in (placed, other):
            (factor * each(factor * x)).square().sum().backward()
    torch.testing.assert_close(module.state_dict(), other.state_dict())
    for own, expected in zip(module.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(own.grad, expected.grad)


def test_parameters_change_as_in_the_module() -> None:
    class Decaying(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                self.weight.mul_(0.5)
            return x * self.weight

    module, x = Decaying(), torch.ones(2)
    placed = on_processor(module, x)
    assert [placed(x).tolist() for _ in range(3)] == [[0.5] * 2, [0.25] * 2, [0.125] * 2]
    assert module.weight.tolist() == [0.125] * 2


def moved(x: Tensor, named: dict[str, Tensor]) -> Tensor:
    """Change both inputs in place; the results read old and new values."""
    old = x.clone()
    x.add_(1)
    named["y"][0] = x.sum()
    return old * 10 + x


def test_inputs_change_as_in_the_module() -> None:
    placed = on_processor(Called(moved), torch.zeros(2), {"y": torch.zeros(2)})
    mine, its = ((torch.ones(2), {"y": torch.ones(2)}) for _ in range(2))
    for _ in range(2):
        torch.testing.assert_close(placed(*mine), moved(*its))
        torch.testing.assert_close(mine, its)


def test_changed_inputs_that_share_memory_are_refused() -> None:
    placed = on_processor(Called(moved), torch.zeros(2), {"y": torch.zeros(2)})
    x = torch.ones(3)
    with pytest.raises(GraphError, match=r"range of memory overlaps that of .* pass a copy$"):
        placed(x[:2], {"y": x[1:]})
    assert x.tolist() == [1, 1, 1]
    y = torch.ones(4)
    placed(y[:2], {"y": y[2:]})  # apart
    assert y.tolist() == [2, 2, 4, 1]


def test_a_singular_matrix_is_an_error_as_in_the_module() -> None:
    placed = on_processor(Inverse(), torch.eye(3))
    with pytest.raises(GraphError, match=r"of shape 3x3: _LinAlgError: [^\n]*singular"):
        placed(torch.zeros(3, 3))


def test_a_call_that_fails_leaves_nothing_for_the_next() -> None:
    module, x = Called(lambda x: (x + 1, torch.linalg.inv(x.clone()))), torch.eye(3)
    names = from_module(module, (x,)).names
    where = dict.fromkeys(names, "a") | {names[0]: "b"}
    placed = PlacedModule(module, (x,), where, {"a": "cpu", "b": "meta"})
    with pytest.raises(GraphError, match="singular"):
        placed(torch.zeros(3, 3))
    assert not placed._copies
