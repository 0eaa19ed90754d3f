"""Sizes that users state where a file leaves them open."""

import pytest

from streamplace.errors import UsageError
from streamplace.formats.sizes import Input, Sizes, open_dimensions, shape_from

INPUTS = [Input("ids", ["batch", "length"]), Input("image", ["batch", 3, None]), Input("any", None)]


def test_shapes() -> None:
    assert shape_from("1x3x224") == ((1, 3, 224), None)
    assert shape_from("scalar:int64") == ((), "int64")


@pytest.mark.parametrize("text", ["", "1x", "1,3", "0x3", "1x3 "])
def test_texts_that_are_no_shapes(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--input: "):
        shape_from(text)


def test_shapes_state_dimensions_and_fit_each_other() -> None:
    stated = Sizes(["2x5", "2x3x7", "4"])
    assert stated.of(INPUTS, "f") == (
        {"batch": 2, "length": 5, "image[2]": 7},
        {"ids": (2, 5), "image": (2, 3, 7), "any": (4,)},
    )


def test_dimensions_of_other_tensors_may_be_stated() -> None:
    assert Sizes(dims={"found": 100}).of(INPUTS, "f", {"found"}) == ({"found": 100}, {})


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (Sizes(dims={"bach": 1}), "no dimension is named 'bach'; the file has 'batch', 'length', "),
        (Sizes(["2x5"]), "the file has 3 inputs, 'ids', 'image', 'any', so it is given 3 times or"),
        (Sizes(["2x5", "1x3x7", "4"]), "input 'image': 'batch' is 2 (got 1)"),
        (Sizes(["2x5", "2x4x7", "4"]), "input 'image': 'image[1]' is 3 (got 4)"),
        (Sizes(["2x5", "2x3x7", "4"], {"length": 6}), "input 'ids': 'length' is 6 (got 5)"),
        (Sizes(["2", "2x3x7", "4"]), "input 'ids': has 2 dimensions (got '2')"),
        (Sizes(["2x5:int64", "2x3x7", "4"]), "the file states the type of its elements; leave out"),
    ],
)
def test_sizes_that_do_not_fit(sizes: Sizes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        sizes.of(INPUTS, "f")
    assert str(caught.value).startswith("f: --")
    assert message in str(caught.value)


def test_what_is_still_open_is_named_with_the_option_that_states_it() -> None:
    unranked, named = open_dimensions(INPUTS, Sizes(dims={"batch": 1}))
    assert "does not state the shape of input 'any'" in unranked
    assert "dimensions 'length', 'image[2]' of input 'ids', 'image' are not fixed" in named
    assert named.endswith("as in --dim length=1 --dim 'image[2]=1'")
    assert open_dimensions([Input("x", [1, 2])], Sizes()) == []
    assert open_dimensions(INPUTS, Sizes(["2x5", "2x3x7", "4"])) == []
