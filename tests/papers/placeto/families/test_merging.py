"""Merging of the operations of a training step, and its backward pass."""

from streamplace import Recipe
from streamplace.papers.placeto.families.merging import merged_graph
from streamplace.papers.placeto.families.step import Step


def test_forward_passes_merge_to_the_forty_groups_of_giph() -> None:
    recipe = Recipe("enas-ptb:backward=false", 10, range(40, 41), 1)
    assert {len(recipe.graph(number).names) for number in range(10)} == {40}


def small_step() -> Step:
    """Return x -> product -> relu -> loss with its backward pass, without merging."""
    step = Step()
    x = step.add("x", "input", (2, 3), ())
    y = step.add("y", "matmul", (2, 4), (x,), 48.0, weights=12)
    z = step.add("z", "relu", (2, 4), (y,))
    step.add("loss", "loss", (1,), (z,), linear=True)
    step.add_backward()
    return step


def test_the_backward_pass_mirrors_the_forward_pass() -> None:
    graph = merged_graph(small_step(), 99, "g")
    streams = {(s.source, s.target): s.payload_bytes for s in graph.streams}
    assert set(streams) == {
        ("x", "y"), ("y", "z"), ("z", "loss"), ("loss", "loss_grad"),
        ("loss_grad", "z_grad"), ("y", "z_grad"), ("z_grad", "y_grad"), ("y_grad", "x_grad"),
        ("y_grad", "y_update"), ("x", "y_update"),
    } - {("loss", "loss_grad")}  # fmt: skip
    assert graph.instructions[graph.index["y_update"]] == 48.0


def test_merging_keeps_work_and_counts_a_tensor_once() -> None:
    step = Step()
    x = step.add("x", "input", (5,), ())
    a = step.add("a", "relu", (7,), (x,), 1.0)
    b = step.add("b", "relu", (7,), (x,), 9.0)
    c = step.add("c", "relu", (2,), (a,), 3.0)
    step.add("d", "relu", (1,), (b, c, a), 4.0)
    graph = merged_graph(step, 3, "g")
    # a joins x, and then c joins both; b and d are left
    assert list(graph.names) == ["x", "b", "d"]
    assert graph.instructions.tolist() == [9.0, 9.0, 4.0]
    ends = [(stream.source, stream.target) for stream in graph.streams]
    assert dict(zip(ends, graph.stream_payload_bytes.tolist(), strict=True)) == {
        ("x", "b"): 20.0,
        ("x", "d"): 36.0,
        ("b", "d"): 28.0,
    }
