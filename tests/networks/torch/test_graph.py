"""Graphs of PyTorch modules: operators, streams, work, bytes and memory, computed by hand."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from streamplace import StreamGraph
from streamplace.errors import GraphError
from streamplace.networks.torch.graph import from_module, read_program
from streamplace.networks.torch.program import export
from tests.support.long import long_after
from tests.support.torch_modules import (
    CASES,
    Branching,
    Conditional,
    Flexible,
    Net,
    Printing,
    PrintingAfter,
    Selection,
    Tied,
    case,
)

FLOAT = 4  # bytes


def numbers(graph: StreamGraph) -> dict[str, tuple[float, float, float]]:
    """Return instructions, payload and memory by operator."""
    return {o.name: (o.instructions, o.payload_bytes, o.memory_bytes) for o in graph.operators}


def payloads(graph: StreamGraph) -> dict[tuple[str, str], float | None]:
    """Return the bytes of each stream by its ends."""
    return {(stream.source, stream.target): stream.payload_bytes for stream in graph.streams}


def test_a_chain_of_layers() -> None:
    graph = from_module(*case("net"))
    a, relu, b = 3 * 5 * FLOAT, 3 * 5 * FLOAT, 3 * 4 * FLOAT
    assert numbers(graph) == {
        "a.addmm": (2 * 3 * 6 * 5, a, a + (6 * 5 + 5) * FLOAT),
        "relu": (3 * 5, relu, relu),
        "b.addmm": (2 * 3 * 5 * 4, b, b + (5 * 4 + 4) * FLOAT),
    }
    assert payloads(graph) == {("a.addmm", "relu"): a, ("relu", "b.addmm"): relu}
    assert graph.firing == "all"
    assert graph.name == "Net"
    assert [o.type for o in graph.operators] == ["addmm", "relu", "addmm"]
    assert [o.meta_op for o in graph.operators] == ["a", "", "b"]
    assert [o.output_shape for o in graph.operators] == [(3, 5), (3, 5), (3, 4)]
    assert [graph.names[v] for v in graph.sources] == ["a.addmm"]


def test_images() -> None:
    graph = from_module(*case("images"))
    full, half = 2 * 8 * 100, 2 * 8 * 25  # elements
    pool = "pool.max_pool2d_with_indices"
    norm = "norm._native_batch_norm_legit_no_training"
    weights = (8 * 3 * 9 + 8) * FLOAT
    assert numbers(graph) == {
        "conv.convolution": (2 * full * 3 * 9, full * FLOAT, full * FLOAT + weights),
        norm: (full, full * FLOAT, (full + 4 * 8) * FLOAT),
        pool: (4 * half, half * FLOAT, half * (FLOAT + 8)),  # nothing reads the indices
        "short.convolution": (2 * half * 3, half * FLOAT, (half + 8 * 3) * FLOAT),
        "add": (half, half * FLOAT, half * FLOAT),
    }
    assert payloads(graph) == {
        ("conv.convolution", norm): full * FLOAT,
        (norm, pool): full * FLOAT,
        (pool, "add"): half * FLOAT,
        ("short.convolution", "add"): half * FLOAT,
    }
    assert {graph.names[v] for v in graph.sources} == {"conv.convolution", "short.convolution"}


def test_attention_is_one_operator() -> None:
    graph = from_module(*case("attention"))
    found = numbers(graph)
    work = 2 * 2 * 2 * 5 * 5 * (4 + 4)  # batch, heads, lengths, sizes of keys and values
    assert found["scaled_dot_product_attention"][0] == work
    thirds = payloads(graph)["inner.addmm", "scaled_dot_product_attention"]
    assert thirds == 2 * 5 * 24 * FLOAT
    assert list(found) == ["inner.addmm", "scaled_dot_product_attention", "outer.addmm"]


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_is_one_product_whatever_the_order_of_its_input_in_memory(
    bias: bool,
) -> None:
    model, x = nn.Linear(3, 4, bias=bias), torch.randn(2, 3, 5)
    model.register_forward_pre_hook(lambda _, inputs: (inputs[0].transpose(1, 2),))
    graph = from_module(model, (x,))
    assert [o.type for o in graph.operators if o.instructions > 2 * 3 * 5] == [
        "addmm" if bias else "mm"
    ]
    assert graph.operators[-1].output_shape == (10, 4)
    assert graph.memory_bytes.sum() < 2 * (3 * 4 + 4 + 10 * (3 + 4)) * FLOAT  # no copied weights


def test_checks_of_factorisations_are_no_operators() -> None:
    graph = from_module(*case("inverse"))
    matrix = 4 * 4 * FLOAT
    assert list(graph.names) == ["linalg_inv_ex", "add", "_linalg_solve_ex", "add_1"]
    assert {name: each[1] for name, each in numbers(graph).items()} == dict.fromkeys(
        graph.names, matrix
    )  # the status that a check reads is not sent to another operator
    assert payloads(graph) == {
        ("linalg_inv_ex", "add_1"): matrix,
        ("add", "_linalg_solve_ex"): matrix,
        ("_linalg_solve_ex", "add_1"): matrix,
    }


def test_streams_carry_the_parts_that_are_read() -> None:
    graph = from_module(*case("views"))
    third = 4 * 4 * FLOAT
    assert payloads(graph) == {
        ("relu", "mul"): 2 * third,
        ("relu", "add"): third,
        ("mul", "add"): third,
    }
    assert numbers(graph)["relu"] == (48, 3 * third, 3 * third)


def test_repeated_data_are_sent_once() -> None:
    class Repeats(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.relu(x)
            return y.expand(4, 5) * y.expand(4, 5).clone() + y.t().t()

    graph = from_module(Repeats(), (torch.randn(4, 1),))
    assert {size for (source, _), size in payloads(graph).items() if source == "relu"} == {16}


def test_a_shared_parameter_counts_once_and_is_named() -> None:
    module, inputs = case("tied")
    logical = read_program(export(module, inputs), "tied")
    memory = {name: each[2] for name, each in numbers(logical.graph).items()}
    assert memory == {"words.embedding": (3 * 4 + 10 * 4) * FLOAT, "out.mm": 3 * 10 * FLOAT}
    (note,) = logical.notes
    assert "'out.weight'" in note or "'words.weight'" in note
    assert read_program(export(*case("net")), "net").notes == []


def test_the_work_of_other_libraries_is_unknown_and_a_note_names_them() -> None:
    @torch.library.custom_op("streamplace_tests::twist", mutates_args=())
    def twist(x: torch.Tensor) -> torch.Tensor:
        return x.flip(0).clone()

    @twist.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    class Twisted(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = twist(x) + 1
            return result

    logical = read_program(export(Twisted(), (torch.ones(3, 4),)), "Twisted")
    assert logical.graph.unknown == {"instructions": ["streamplace_tests.twist"]}
    assert logical.graph.instructions[1] == 3 * 4
    (note,) = logical.notes
    assert note == (
        "no rule gives the work of 1 type of operators, 'streamplace_tests.twist'; their "
        "instructions are unknown unless a costs file states them"
    )


def test_types_of_elements_count() -> None:
    module = Net().to(torch.float64).eval()
    double = numbers(from_module(module, (torch.randn(3, 6, dtype=torch.float64),)))
    single = numbers(from_module(*case("net")))
    for name, (work, *sizes) in single.items():
        assert double[name] == (work, *(2 * size for size in sizes))


def test_names_are_unique() -> None:
    class Repeats(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.layer(self.layer(self.layer(x)))
            return result

    graph = from_module(Repeats(), (torch.randn(3, 6),))
    assert list(graph.names) == ["layer.addmm", "layer.addmm_1", "layer.addmm_2"]
    assert len({*from_module(nn.LSTM(4, 5), (torch.randn(6, 4),)).names}) > 50


def test_operators_without_inputs_are_sources() -> None:
    class Positions(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.arange(4)

    graph = from_module(Positions(), (torch.randn(4),))
    assert payloads(graph) == {("arange", "add"): 4 * 8}


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(1, 5), st.booleans())
def test_products_have_the_work_that_pytorch_counts(
    sizes: list[int], batch: int, images: bool
) -> None:
    pairs = pairwise(sizes)
    layers = [nn.Conv2d(a, b, 3) if images else nn.Linear(a, b) for a, b in pairs]
    shape = (batch, sizes[0], 9, 8) if images else (batch, sizes[0])
    module, x = nn.Sequential(*layers), torch.randn(shape)
    with FlopCounterMode(display=False) as counter:
        module(x)
    assert from_module(module, (x,)).instructions.sum() == counter.get_total_flops()


@pytest.mark.parametrize("name", long_after(4, CASES))
def test_the_batch_scales_work(name: str) -> None:
    """All modules but those of square matrices process the rows of their input independently."""
    if name in ("modes", "views", "inverse"):
        return
    module, (x,) = case(name)
    once, twice = (from_module(module, (y,)) for y in (x, torch.cat([x, x])))
    assert once.names == twice.names
    assert twice.instructions == pytest.approx(2 * once.instructions)
    assert twice.payload_bytes == pytest.approx(2 * once.payload_bytes)


@pytest.mark.parametrize(
    ("module", "inputs", "expected"),
    [
        (Branching(), (torch.ones(3),), "its control flow depends on the data"),
        (Conditional(), (torch.ones(3),), "it contains 'cond', whose work depends on the data"),
        (Flexible(), (torch.ones(1, 1, 16, 16),), "'flex_attention', which calls another graph"),
        (Selection(), (torch.ones(3),), "a shape depends on the data"),
        (Printing(), (torch.eye(3),), "it contains 'aten._print.default', which has a side effect"),
        (PrintingAfter(), (torch.eye(3),), "it contains 'aten._print.default', which has a side"),
        (nn.Identity(), (torch.ones(3),), "it computes nothing"),
        (nn.Flatten(), (torch.ones(3, 2),), "it computes nothing"),
        (Net(), (torch.ones(3, 7),), "does not run on inputs of shape 3x7: RuntimeError: mat1"),
        (Net(), (torch.ones(3, 6), 1), "does not run on inputs of shape 3x6, int: TypeError"),
        (Tied(), (torch.ones(3),), "does not run on inputs of shape 3: RuntimeError"),
    ],
)
def test_modules_that_are_no_graph(
    module: nn.Module, inputs: tuple[Any, ...], expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(GraphError, match=r"^.+$") as error:
        from_module(module, inputs)
    assert expected in str(error.value)
    assert capfd.readouterr() == ("", "")


class Recurrent(nn.Module):
    """A module that keeps a state in a buffer, and has a table that it only reads."""

    state: torch.Tensor
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(2, 3))
        self.register_buffer("table", torch.ones(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a product with the new state."""
        self.state.mul_(0.5).add_(x)
        return torch.relu(self.state) * self.table + torch.tanh(self.table)


def test_operators_of_a_buffer_that_a_pass_changes_are_colocated() -> None:
    """The state stays on one device; constants may be on several."""
    graph = from_module(Recurrent().eval(), (torch.zeros(2, 3),))
    assert graph.constraints.colocate == (("mul", "add"),)
    assert ("add", "relu") in payloads(graph)
    assert numbers(graph)["mul"][2] == 2 * 2 * 3 * FLOAT  # the buffer and the result
