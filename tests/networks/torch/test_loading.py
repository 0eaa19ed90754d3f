"""Example inputs of modules: their text, and the tensors that it stands for."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import UsageError
from streamplace.networks.torch.loading import DTYPES, InputSpec, tensors_of

SHAPES = st.lists(st.integers(1, 99), max_size=4)


@given(SHAPES, st.sampled_from(DTYPES))
def test_text_is_parsed(shape: list[int], dtype: str) -> None:
    sizes = "x".join(map(str, shape)) or "scalar"
    assert InputSpec.parse(f"{sizes}:{dtype}") == InputSpec(tuple(shape), dtype)
    assert InputSpec.parse(sizes) == InputSpec(tuple(shape), "float32")


@given(st.text(alphabet="0123456789x:-. flotint6482sca\nr") | st.text())
def test_other_text_is_refused_in_one_line(text: str) -> None:
    try:
        spec = InputSpec.parse(text)
    except UsageError as error:
        message = str(error)
        assert message.startswith("--input: ")
        assert "\n" not in message
    else:
        assert all(spec.shape)
        assert spec.dtype in DTYPES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "such as 1x3x224x224"),
        ("3x", "(got '3x')"),
        ("3X4", "(got '3X4')"),
        ("-1", "(got '-1')"),
        ("٣", "(got '٣')"),
        ("0", "at least 1 (got '0')"),
        ("1:float", "unknown type 'float'; did you mean"),
        ("1:", "unknown type ''"),
        ("9999999x9999999", "at most 1,099,511,627,776"),
    ],
)
def test_faults(text: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        InputSpec.parse(text)
    assert expected in str(error.value)


def test_tensors() -> None:
    specs = [InputSpec((2, 3)), InputSpec((4,), "int64"), InputSpec((), "bool")]
    x, y, z = tensors_of(specs, seed=1)
    assert (x.shape, x.dtype) == ((2, 3), torch.float32)
    assert x.std() > 0
    assert (y.tolist(), y.dtype) == ([1, 1, 1, 1], torch.int64)
    assert z.item() is True
    assert torch.equal(x, tensors_of(specs, seed=1)[0])
    assert not torch.equal(x, tensors_of(specs, seed=2)[0])
    for dtype in DTYPES:
        assert tensors_of([InputSpec((2,), dtype)])[0].dtype == getattr(torch, dtype)
