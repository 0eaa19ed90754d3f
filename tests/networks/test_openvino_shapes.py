"""Shapes of OpenVINO's layers that follow from stated sizes."""

from collections.abc import Mapping, Sequence

import pytest

from streamplace.networks.openvino_shapes import Known, Template, shape_of

NO_PADS = {"strides": "2, 2", "dilations": "1, 1", "pads_begin": "0, 0", "pads_end": "0, 0"}


@pytest.mark.parametrize(
    ("kind", "inputs", "template", "attributes", "expected"),
    [
        ("Add", [(2, 5, 8), (8,)], (None, None, 8), {}, (2, 5, 8)),
        ("Relu", [(2, 5)], (None, 5), {}, (2, 5)),
        ("Relu", [(2, 5)], (None, 6), {}, None),  # the file says otherwise
        ("Relu", [None], (None, 5), {}, None),
        ("Reshape", [(2, 5, 8), (3,)], (None, 40), {}, (2, 40)),
        ("Reshape", [(2, 5, 8), (3,)], (None, None, 4), {}, None),
        ("Transpose", [(2, 5, 8), (3,)], (8, 5, None), {}, (8, 5, 2)),
        ("Transpose", [(2, 5, 8), (3,)], (None, None, 8), {}, None),  # 2x5x8 or 5x2x8
        ("Transpose", [(5, 5, 8), (3,)], (None, None, 8), {}, (5, 5, 8)),
        ("MatMul", [(2, 5, 8), (4, 8)], (None, None, 4), {"transpose_b": "true"}, (2, 5, 4)),
        ("MatMul", [(2, 8, 5), (2, 8, 3)], (None,) * 3, {"transpose_a": "1"}, (2, 5, 3)),
        ("MatMul", [(8,), (8, 4)], (None,), {}, None),
        ("Concat", [(2, 5), (2, 3)], (None, None), {"axis": "-1"}, (2, 8)),
        ("Concat", [(2, 5), (2, 3)], (None, None), {}, None),
        ("Gather", [(1000, 64), (2, 5), ()], (None, None, 64), {}, (2, 5, 64)),
        ("Split", [(2, 9), ()], (None, 3), {}, (2, 3)),
        ("Split", [(6, 9), ()], (None, 9), {}, None),
        ("ReduceMean", [(2, 5, 8), (1,)], (None, 1, 8), {"keep_dims": "true"}, (2, 1, 8)),
        ("ReduceMean", [(2, 5, 8), (1,)], (None, 8), {}, None),  # 2x8 or 5x8
        ("ReduceMean", [(2, 2, 8), (1,)], (None, 8), {}, (2, 8)),
        ("Convolution", [(2, 3, 9, 9), (4, 3, 3, 3)], (None, 4, None, 4), NO_PADS, (2, 4, 4, 4)),
        (
            "Convolution",
            [(2, 3, 9, 8), (4, 3, 3, 3)],
            (None, 4, None, None),
            NO_PADS | {"auto_pad": "same_upper"},
            (2, 4, 5, 4),
        ),
        (
            "MaxPool",
            [(2, 3, 8, 8)],
            (None, 3, None, None),
            NO_PADS | {"kernel": "3,3", "rounding_type": "ceil"},
            (2, 3, 4, 4),
        ),
        (
            "MaxPool",
            [(2, 3, 8, 8)],
            (None,) * 4,
            NO_PADS | {"kernel": "2,2", "strides": "0,0"},
            None,
        ),
        ("NonMaxSuppression", [(2, 5)], (None, 3), {}, None),
    ],
)
def test_a_shape_is_taken_where_only_one_is_possible(
    kind: str,
    inputs: Sequence[Known | None],
    template: Template,
    attributes: Mapping[str, str],
    expected: Known | None,
) -> None:
    assert shape_of(kind, inputs, template, attributes) == expected
