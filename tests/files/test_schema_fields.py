"""Fields at a place in a form (a pydantic model of a file), and places without union tags."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from streamplace.files.schema import PlacementForm
from streamplace.files.schema_fields import Place, fields_at, without_tags


class Cat(BaseModel, extra="forbid"):
    """One member of a union."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel, extra="forbid"):
    """The other member of the union."""

    kind: Literal["dog"]
    owner: str = Field("", alias="belongs_to")


class House(BaseModel, extra="forbid"):
    """A form with a union in a field, and with a map whose keys may equal a tag."""

    colour: Literal["cat", "red"] = "red"
    pet: Cat | Dog | None = Field(None, discriminator="kind")
    rooms: dict[str, list[Cat]] = {}


@pytest.mark.parametrize(
    ("value", "place", "fields"),
    [
        ({"pet": {"kind": "cat", "lives": "x"}}, ("pet", "lives"), []),
        ({"pet": {"kind": "dog", "name": 1}}, ("pet", "name"), ["kind", "belongs_to"]),
        ({"pet": {"kind": "dog", "belongs_to": 1}}, ("pet", "belongs_to"), []),
        (
            {"rooms": {"cat": [{"kind": "cat", "n": 1}]}},
            ("rooms", "cat", 0, "n"),
            ["kind", "lives"],
        ),
        ({"rooms": {"cat": 3}}, ("rooms", "cat"), []),
        ({"dog": 3}, ("dog",), ["colour", "pet", "rooms"]),
    ],
)
def test_union_tags_are_removed_from_places(value: object, place: Place, fields: list[str]) -> None:
    with pytest.raises(ValidationError) as refused:
        House.model_validate(value)
    (fault,) = refused.value.errors()
    assert without_tags(House, fault["loc"]) == place
    if fields:
        assert fields_at(House, fault["loc"][:-1]) == fields


def test_fields_of_nested_forms() -> None:
    operator = fields_at(PlacementForm, ("problem", "graph", "operators", 3))
    assert operator[:3] == ["comment", "name", "instructions"]
    assert "pins" in fields_at(PlacementForm, ("problem", "constraints"))
