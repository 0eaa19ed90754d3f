"""The reader of OpenVINO's IR, on models written by hand by the rules of versions 10 and 11."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from streamplace.workflows.read_job import read_job
from tests.corpus.engine_documents.neural_networks import OPENVINO, enclosing, stateful
from tests.support.documents import edges, read_document, refused_document
from tests.support.paths import ROOT

ATTENTION = (ROOT / "tests" / "data" / "neural" / "openvino-v10.xml").read_text()


def test_a_convolution() -> None:
    found = read_document("openvino", OPENVINO)
    graph = found.graph
    assert (graph.name, graph.firing, graph.multicast) == ("tiny", "all", "device")
    assert graph.names == ("x", "conv", "pool", "out")
    assert edges(found) == [("conv", "pool"), ("pool", "out"), ("x", "conv")]
    assert graph.type == {0: "Parameter", 1: "Convolution", 2: "MaxPool", 3: "Result"}
    assert graph.output_shape == {0: (1, 3, 8, 8), 1: (1, 4, 6, 6), 2: (1, 4, 3, 3)}
    assert graph.payload_bytes.tolist() == [4 * 3 * 8 * 8, 4 * 4 * 6 * 6, 4 * 4 * 3 * 3, 0]
    assert graph.instructions.tolist() == [0, 2 * 4 * 6 * 6 * 3 * 3 * 3, 4 * 3 * 3 * 2 * 2, 0]
    assert graph.memory_bytes.tolist() == [0, 4 * 4 * 3 * 3 * 3, 0, 0]  # the weights, as read
    assert found.cluster is None


def test_constants_are_folded_even_if_they_are_computed() -> None:
    notes = read_document("openvino", OPENVINO).notes
    assert "2 constants left out; their bytes are memory of the operators that read them" in notes


def test_products_splits_and_dynamic_shapes() -> None:
    found = read_document("openvino", ATTENTION)
    graph = found.graph
    assert graph.names == ("tokens", "project", "halves", "scores", "square", "found", "result")
    assert graph.instructions.tolist()[:5] == [
        0,
        2 * (2 * 16 * 32) * 8,
        2 * 16 * 32,
        2 * (2 * 16 * 16) * 16,  # the first factor is transposed
        2 * 16 * 16,
    ]
    assert graph.memory_bytes.tolist() == [0, 4 * 32 * 8, 8, 0, 0, 0, 0]
    of_scores = graph.index["scores"]
    assert Counter(graph.stream_target.tolist())[of_scores] == 2  # two tensors of one operator
    assert Counter(graph.stream_target.tolist())[graph.index["square"]] == 1  # one, read twice
    assert graph.instructions[graph.index["found"]] == 2 * 16 * 16  # it looks at each element
    assert graph.unknown == {"payload_bytes": ["found"]}
    assert np.isnan(graph.payload_bytes[graph.index["found"]])


def test_types_without_a_rule_are_unknown_and_named() -> None:
    found = read_document("openvino", OPENVINO.replace('type="MaxPool"', 'type="Proposal"'))
    assert found.graph.unknown == {"instructions": ["pool"]}
    assert found.notes[-1] == (
        "no rule gives the work of 1 type of operators, 'Proposal'; their instructions are unknown "
        "unless a costs file states them"
    )


@pytest.mark.parametrize(
    ("precision", "size"),
    [("FP16", 2), ("BF16", 2), ("I64", 8), ("U8", 1), ("U4", 0.5), ("BOOL", 1), ("F8E4M3", 1)],
)
def test_sizes_of_elements(precision: str, size: float) -> None:
    text = OPENVINO.replace(
        '<port id="1" precision="FP32">\n        <dim>1',
        f'<port id="1" precision="{precision}">\n        <dim>1',
    )
    assert text != OPENVINO
    assert read_document("openvino", text).graph.payload_bytes[2] == 4 * 3 * 3 * size


def test_elements_of_unknown_size_are_unknown() -> None:
    text = OPENVINO.replace('precision="FP32" names', 'precision="STRING" names')
    assert read_document("openvino", text).graph.unknown == {"payload_bytes": ["x"]}


def test_random_numbers_from_constants_are_not_constant() -> None:
    text = OPENVINO.replace('type="Convert"', 'type="RandomUniform"')
    assert "w32" in read_document("openvino", text).graph.names


def test_layers_of_the_same_name_are_distinguished() -> None:
    text = OPENVINO.replace('name="pool"', 'name="conv"')
    assert read_document("openvino", text).graph.names == ("x", "conv", "conv#2", "out")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version="11"', 'version="7"', "<net>: version must be 10 or 11 (got '7'); convert the"),
        ("net", "model", "must be a <net> (got <model>)"),
        ("layers>", "lagers>", "contains no <layer>"),
        ('id="4" name', 'id="3" name', "<layer>: id '3' appears twice"),
        ('type="MaxPool"', "", "layer 'pool': <layer>: missing attribute 'type'"),
        ('from-layer="3"', 'from-layer="9"', "edge 3: layer '9' has no output port '2'"),
        ('to-port="1"', 'to-port="0"', "another edge leads to the same port"),
        (
            '<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>',
            "",
            "layer 'pool': no edge",
        ),
        ("<dim>6</dim>", "<dim>six</dim>", "a size must be a whole number (got 'six')"),
        ('kernel="2, 2"', 'kernel="2; 2"', "layer 'pool': a size must be a whole number"),
        ('type="Parameter"', 'type="Const"', "contains no operators besides constants"),
    ],
)
def test_errors_name_the_place(old: str, new: str, message: str) -> None:
    assert message in refused_document("openvino", OPENVINO.replace(old, new))


def test_a_state_is_on_one_device_and_takes_its_memory() -> None:
    """`ReadValue` and `Assign` of one `variable_id` access the same state."""
    found = read_document("openvino", stateful())
    assert found.graph.constraints.colocate == (("past", "store"),)
    memory = dict(zip(found.graph.names, found.graph.memory_bytes.tolist(), strict=True))
    assert memory == {"x": 0, "past": 4 * 8 * 4, "sum": 0, "store": 0, "out": 0}


def test_different_states_may_be_on_different_devices() -> None:
    found = read_document("openvino", stateful(write="w"))
    assert not found.graph.constraints
    assert "the size of the state 'w' is unknown" in found.notes[-1]


def test_a_state_of_unknown_size_is_named() -> None:
    """That of a cache whose length grows from pass to pass, for example."""
    found = read_document("openvino", stateful("<dim>-1</dim><dim>8</dim>"))
    assert found.graph.constraints.colocate == (("past", "store"),)
    assert found.notes[-2].startswith("the size of the state 'v' is unknown; add it to the memory")


def constant_product(precision: str, repeat: int = 1) -> str:
    """Return a model whose product reads weights that layers convert, scale and perhaps repeat."""
    weights, scales, many = (6, 4), (6, 1), (6 * repeat, 4)
    layers = [
        ("Parameter", "FP32", (1, 4), []),
        ("Const", precision, weights, []),
        ("Convert", "FP16", weights, [1]),
        ("Const", "FP16", scales, []),
        ("Multiply", "FP16", weights, [2, 3]),
        ("Convert", "FP32", weights, [4]),
        ("Concat", "FP32", many, [5] * repeat) if repeat > 1 else ("Convert", "FP32", many, [5]),
        ("MatMul", "FP32", (1, many[0]), [0, 6]),
        ("Result", "", (), [7]),
    ]

    def port(number: int, kind: str, shape: tuple[int, ...]) -> str:
        axes = "".join(f"<dim>{size}</dim>" for size in shape)
        return f'<port id="{number}" precision="{kind}">{axes}</port>'

    rows, edges_of = [], []
    for i, (kind, element, shape, read) in enumerate(layers):
        ports = "".join(port(p, layers[j][1], layers[j][2]) for p, j in enumerate(read))
        output = f"<output>{port(9, element, shape)}</output>" if element else ""
        data = '<data transpose_b="true"/>' if kind == "MatMul" else ""
        rows.append(
            f'<layer id="{i}" name="{kind}{i}" type="{kind}" version="opset1">{data}'
            f"<input>{ports}</input>{output}</layer>"
        )
        edges_of += [
            f'<edge from-layer="{j}" from-port="9" to-layer="{i}" to-port="{p}"/>'
            for p, j in enumerate(read)
        ]
    inside = f"<layers>{''.join(rows)}</layers><edges>{''.join(edges_of)}</edges>"
    return f'<net name="product" version="11">{inside}</net>'


@pytest.mark.parametrize(
    ("precision", "repeat", "expected"),
    [
        ("I8", 1, 6 * 4 + 2 * 6),
        ("U4", 1, 6 * 4 / 2 + 2 * 6),
        ("F8E4M3", 1, 6 * 4 + 2 * 6),
        ("FP16", 1, 4 * 6 * 4),
        ("I8", 2, 4 * 12 * 4),  # computed from the weights, not decompressed
    ],
)
def test_compressed_weights_stay_compressed(precision: str, repeat: int, expected: float) -> None:
    """Weights of at most 8 bits take their stored bytes and those of their scales.

    OpenVINO marks such patterns (``MarkDequantization``) and keeps them from constant folding.
    """
    graph = read_document("openvino", constant_product(precision, repeat)).graph
    assert graph.memory_bytes[graph.index["MatMul7"]] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (enclosing("TensorIterator", body=constant_product("FP32")), 4 * 6 * 4),
        (enclosing("Loop", body=constant_product("U4")), 6 * 4 / 2 + 2 * 6),
        (
            enclosing("If", then_body=constant_product("I8"), else_body=constant_product("FP32")),
            6 * 4 + 2 * 6 + 4 * 6 * 4,
        ),
        (
            enclosing("Loop", body=enclosing("Loop", body=constant_product("FP32"))),
            4 * 6 * 4,
        ),
        (enclosing("Loop", body=stateful()), 4 * 8 * 4),
    ],
)
def test_weights_and_states_inside_of_bodies_are_memory(text: str, expected: float) -> None:
    """Each constant counts as outside of bodies: as it is read, or compressed as it is stored."""
    found = read_document("openvino", text)
    memory = dict(zip(found.graph.names, found.graph.memory_bytes.tolist(), strict=True))
    assert memory == {"x": 0, "inner": expected, "y": 0}
    assert found.graph.unknown == {"instructions": ["inner"]}


def test_errors_inside_of_bodies_name_the_layer_around_them() -> None:
    text = enclosing("Loop", body=OPENVINO.replace("<dim>6</dim>", "<dim>six</dim>").strip())
    assert refused_document("openvino", text).startswith("layer 'inner': layer 'conv': a size must")


@pytest.mark.parametrize("size", ["-1", "?", "1..8"])
def test_dimensions_that_a_file_leaves_open(size: str, tmp_path: Path) -> None:
    """Shapes behind an input follow from the size that is stated, as in the file with this size."""
    fixed = OPENVINO.replace("<dim>1</dim><dim>3</dim><dim>8", "<dim>2</dim><dim>3</dim><dim>8")
    fixed = fixed.replace("<dim>1</dim><dim>4", "<dim>2</dim><dim>4")
    path = tmp_path / "model.xml"
    path.write_text(fixed.replace("<dim>2</dim>", f"<dim>{size}</dim>"))
    wanted = read_document("openvino", fixed).graph
    assert wanted.payload_bytes.tolist()[2] == 2 * 4 * 4 * 3 * 3
    unknown = read_job(path, "openvino")
    assert unknown.graph.unknown["instructions"] == ["conv", "pool"]
    assert any("'x[0]' of input 'x' is not fixed" in note for note in unknown.notes)
    for stated in (
        read_job(path, "openvino", dims={"x[0]": 2}),
        read_job(path, "openvino", inputs=["2x3x8x8"]),
    ):
        assert stated.graph == wanted
        assert not any("not fixed" in note for note in stated.notes)


def test_types_behind_which_shapes_do_not_follow_are_named(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    text = OPENVINO.replace("<dim>1</dim>", "<dim>-1</dim>")
    path.write_text(text.replace('type="Convolution"', 'type="DeformableConvolution"'))
    found = read_job(path, "openvino", dims={"x[0]": 1})
    assert found.graph.unknown["instructions"] == ["conv", "pool"]
    assert "the shapes of what 'DeformableConvolution' emits do not follow" in found.notes[-1]
