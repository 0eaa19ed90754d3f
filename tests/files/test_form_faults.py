"""Messages about JSON values that do not match a form, and the fields at a place of it."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from streamplace.errors import FormatError
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from
from streamplace.files.reading import check
from streamplace.files.schema import PlacementForm
from streamplace.files.schema_fields import Place, fields_at, without_tags
from streamplace.learning.training import read_config
from tests.corpus.documents import CLUSTER, GRAPH
from tests.support.errors import fault_of

OPERATOR: dict[str, Any] = {"name": "a", "instructions": 1}


class Kinds(BaseModel, extra="forbid", strict=True):
    """A form with one field for each kind of message."""

    flag: bool = False
    text: str = Field("", max_length=3, pattern="^a*$")
    count: int = Field(4, ge=2, le=1_000_000, multiple_of=2)
    share: float = Field(0.5, gt=0, lt=1e30)
    few: list[float] = Field([], max_length=2)
    pair: list[int] = Field([1, 2], min_length=2)
    word: Literal["one", "two"] = "one"
    nothing: None = None
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"flag": 1}, "flag: must be true or false (got 1)"),
        ({"text": None}, "text: must be a string (got null)"),
        ({"text": "aaaa"}, "text: must have at most 3 characters (got 'aaaa')"),
        ({"text": "b"}, "text: must match ^a*$ (got 'b')"),
        ({"count": "x"}, "count: must be a whole number (got 'x')"),
        ({"count": 1.5}, "count: must be a whole number (got 1.5)"),
        ({"count": 0}, "count: must be at least 2 (got 0)"),
        ({"count": 2_000_000}, "count: must be at most 1,000,000 (got 2000000)"),
        ({"count": 3}, "count: must be a multiple of 2 (got 3)"),
        ({"share": 0}, "share: must be greater than 0 (got 0)"),
        ({"share": 1e31}, "share: must be less than 1e+30 (got 1e+31)"),
        ({"share": []}, "share: must be a number (got a list)"),
        ({"share": False}, "share: must be a number (got false)"),
        ({"share": 10**400}, f"share: is too large (got 1{'0' * 38}…)"),
        ({"few": [1, 2, 3]}, "few: must have at most 2 values (got 3)"),
        ({"few": {"a": 1}}, "few: must be a list (got an object)"),
        ({"pair": [1]}, "pair: needs at least 2 values (got 1)"),
        ({"word": "three"}, "word: must be 'one' or 'two' (got 'three')"),
        ({"nothing": 0}, "nothing: must be null (got 0)"),
        ({"tags": "a"}, "tags: must be a list (got 'a')"),
        ({"flga": True}, "unknown field 'flga'; did you mean 'flag'?"),
        (
            {"flag": 1, "count": 0, "few": 0},
            "flag: must be true or false (got 1); count: must be at least 2 (got 0); "
            "few: must be a list (got 0)",
        ),
    ],
)
def test_messages_about_each_kind_of_field(value: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        check(Kinds, value, "x")
    assert fault_of(caught.value, "x") == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"operators": []}, "operators: needs at least one operator"),
        ({"operatrs": [OPERATOR]}, "unknown field 'operatrs'; did you mean 'operators'?"),
        ({"operators": [OPERATOR], "rate": 5}, "unknown field 'rate'; did you mean 'source_rate'?"),
        ({"operators": [OPERATOR], "edges": []}, "unknown field 'edges'; did you mean 'streams'?"),
        ({"operators": [OPERATOR], "count": 3}, "unknown field 'count'"),
        ({"streams": []}, "missing field 'operators'"),
        ({"operators": [{"name": "a"}]}, "operators[0]: missing field 'instructions'"),
        (
            {"operators": [{**OPERATOR, "instructions": "5e3"}]},
            "operators[0].instructions: must be a number, without quotes (got '5e3')",
        ),
        (
            {"operators": [{"name": "a", "instruction": 1, "colour": 2}]},
            "operators[0]: unknown field 'instruction'; did you mean 'instructions'?; "
            "operators[0]: unknown field 'colour'",
        ),
        (
            {"operators": [OPERATOR], "constraints": {"pins": {"": "d0"}}},
            "constraints.pins: key '': must not be empty",
        ),
    ],
)
def test_messages_about_graphs(value: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        graph_from(value, "graph.json")
    assert fault_of(caught.value, "graph.json") == message


def test_a_message_about_missing_devices() -> None:
    with pytest.raises(FormatError, match=r"^x: devices: needs at least one device$"):
        cluster_from({**CLUSTER, "devices": []}, "x")


def test_a_bad_key_and_its_bad_value_are_two_faults() -> None:
    faults = "pins: key '': must not be empty; constraints.pins.: must not be empty"
    with pytest.raises(FormatError, match=f"{faults}$"):
        graph_from({**GRAPH, "constraints": {"pins": {"": ""}}}, "x")


def test_many_faults_of_a_kind_are_one_phrase() -> None:
    wrong = {"name": "a", "instruction": 1, "colour": 2, "payload_bytes": "9 inches"}
    with pytest.raises(FormatError) as caught:
        graph_from({"operators": [OPERATOR, *[wrong] * 22]}, "x")
    misspelt, payload, colour = fault_of(caught.value, "x").split("; operators")
    known = "; did you mean 'instructions'?"
    assert misspelt == f"operators[1] and 21 more: unknown field 'instruction'{known}"
    assert payload.startswith("[1].payload_bytes and 21 more: must be a number, or have a unit")
    assert payload.endswith("(got '9 inches')")
    assert colour == "[1] and 21 more: unknown field 'colour'"


def test_two_faults_of_a_kind_have_both_their_places() -> None:
    wrong = {**OPERATOR, "colour": 2}
    with pytest.raises(FormatError) as caught:
        graph_from({"operators": [wrong, wrong]}, "x")
    faults = "operators[0]: unknown field 'colour'; operators[1]: unknown field 'colour'"
    assert fault_of(caught.value, "x") == faults


def test_kinds_of_faults_beyond_the_twentieth_are_counted() -> None:
    wrong = [{**OPERATOR, f"colour_{i}": 2} for i in range(30)]
    with pytest.raises(FormatError) as caught:
        graph_from({"operators": wrong}, "x")
    *listed, last = fault_of(caught.value, "x").split("; ")
    assert listed[-1] == "operators[19]: unknown field 'colour_19'"
    assert len(listed) == 20
    assert last == "and 10 more faults"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[[problems]]",
            "[problems]",
            "problems: must be a list of tables: write [[problems]], not",
        ),
        ("[[stage]]", "[stage]", "stage: must be a list of tables: write [[stage]], not [stage]"),
        ("[[stage]]", "[[stages]]", "stages: write [[stage]], not [[stages]]"),
    ],
)
def test_messages_about_tables_of_configs(old: str, new: str, message: str, tmp_path: Any) -> None:
    text = '[policy]\nkind = "device-scorer"\n[[problems]]\n'
    text += '[[stage]]\nalgorithm = "reinforce"\nepochs = 1\n'
    file = tmp_path / "config.toml"
    file.write_text(text)
    read_config(str(file))
    file.write_text(text.replace(old, new))
    with pytest.raises(FormatError) as caught:
        read_config(str(file))
    assert fault_of(caught.value, file).startswith(message)


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
