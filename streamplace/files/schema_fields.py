"""Parts of forms: fields at a place, numbers with units, and rows that are checked by column."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from streamplace.errors import UsageError
from streamplace.util.units import kind_at, parsed

Place: TypeAlias = tuple[int | str, ...]
"""A path of fields, list indices, map keys and tags of discriminated unions."""
_ABSENT = object()


def fields_at(form: type[BaseModel], place: Place) -> list[str]:
    """Return the names of the fields that the object at a place in a form may have."""
    inside: Any = form
    for part in place:
        inside, _ = _step(inside, part)
    models = _models_in(inside)
    return [field.alias or name for one in models for name, field in one.model_fields.items()]


def without_tags(form: type[BaseModel], place: Place) -> Place:
    """Return a place without the tags of unions, which are not part of a file's paths."""
    inside: Any = form
    kept = []
    for part in place:
        inside, is_tag = _step(inside, part)
        if not is_tag:
            kept.append(part)
    return tuple(kept)


def _step(annotation: Any, part: int | str) -> tuple[Any, bool]:
    """Return the type of a part of a value (Any if unknown), and whether the part is a tag."""
    name = _discriminator(annotation)
    for model in _models_in(annotation):
        if name is None and (field := _field(model, part)) is not None:
            found = field.annotation
            return (Annotated[found, field] if field.discriminator else found), False
        if name is not None and _is_tag(model.model_fields[name], part):
            return model, True
    if isinstance(part, int):
        return next(_arguments_of(annotation, list), Any), False
    return next(_arguments_of(annotation, dict), Any), False


def _discriminator(annotation: Any) -> str | None:
    """Return the name of the field that holds the tag, if this is a union with tags."""
    metadata = getattr(annotation, "__metadata__", ())
    named = (each.discriminator for each in metadata if isinstance(each, FieldInfo))
    return next((name for name in named if isinstance(name, str)), None)


def _field(model: type[BaseModel], part: int | str) -> FieldInfo | None:
    fields = model.model_fields.items()
    return next((field for name, field in fields if part in (name, field.alias)), None)


def _is_tag(field: FieldInfo, part: int | str) -> bool:
    return get_origin(field.annotation) is Literal and part in get_args(field.annotation)


def _members(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, or the type itself, without annotations."""
    if get_origin(annotation) is Annotated:
        yield from _members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    for member in _members(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            yield member


def _arguments_of(annotation: Any, container: type) -> Iterator[Any]:
    """Yield the types of the values in a list or a map."""
    for member in _members(annotation):
        if get_origin(member) is container:
            yield get_args(member)[-1]


def without_units(value: Any, error: ValidationError) -> Any:
    """Return a copy of a JSON value in which numbers with units are plain numbers.

    Only fields whose names have a unit, such as ``memory_bytes``, are changed. The value itself is
    returned if there is nothing to change.

    Parameters
    ----------
    error
        What pydantic found in the value.
    """
    found: list[tuple[Place, float]] = []
    for fault in error.errors(include_url=False):
        place = _place_in(value, fault["loc"])
        kind = kind_at(place)
        text = fault["input"]
        if fault["type"] == "float_type" and kind and isinstance(text, str) and text[-1:].isalpha():
            with suppress(UsageError):
                found.append((place, parsed(text, kind)))
    plain = deepcopy(value) if found else value
    for place, number in found:
        inside: Any = plain
        for part in place[:-1]:
            inside = inside[part]
        inside[place[-1]] = number
    return plain


def _place_in(value: Any, place: Place) -> Place:
    """Return a place without the names of types in unions, which are no part of the value."""
    kept: list[int | str] = []
    for part in place:
        if isinstance(value, dict):
            is_inside = part in value
        else:
            is_inside = isinstance(value, list) and isinstance(part, int)
        if is_inside:
            kept.append(part)
            value = cast("Any", value)[part]
    return tuple(kept)


class RowColumns:
    """The values of rows by field.

    A column takes pydantic a tenth of the time that an object for each row takes, and less memory.

    Parameters
    ----------
    form
        The form of a row.
    rows
        JSON objects.

    Raises
    ------
    ValidationError
        If a row does not match the form. Its places are not those of the rows.
    ValueError
        If a row is no object, has an unknown field, or lacks a field.

    Attributes
    ----------
    fields
        The required fields, and those that a row states.
    """

    def __init__(self, form: type[BaseModel], rows: Sequence[Any]) -> None:
        if {*map(type, rows)} - {dict}:
            raise ValueError("a row is no object")
        self._form, self.count = form, len(rows)
        self._values: dict[str, list[Any]] = {}
        self._where: dict[str, Sequence[int]] = {}
        used = set[str]().union(*rows)
        if used - form.model_fields.keys():
            raise ValueError("a row has an unknown field")
        self.fields = used | {n for n, f in form.model_fields.items() if f.is_required()}
        for name in self.fields:
            self._read(name, [row.get(name, _ABSENT) for row in rows])

    def _read(self, name: str, values: list[Any]) -> None:
        stated: Sequence[int] = range(self.count)
        if any(value is _ABSENT for value in values):
            if self._form.model_fields[name].is_required():
                raise ValueError("a row lacks a field")
            stated = [i for i, value in enumerate(values) if value is not _ABSENT]
            values = [values[i] for i in stated]
        self._where[name] = stated
        self._values[name] = _of_list(self._form, name).validate_python(values)

    def stating(self, name: str) -> Sequence[int]:
        """Return the indices of the rows that state a field."""
        return self._where.get(name, ())

    def stated(self, name: str) -> Mapping[int, Any]:
        """Return the values of a field by the index of the rows that state it."""
        return dict(zip(self.stating(name), self._values.get(name, ()), strict=True))

    def all_of(self, name: str) -> list[Any]:
        """Return the values of a field in all rows, with its default where it is not stated."""
        if len(self.stating(name)) == self.count:
            return self._values.get(name, [])
        found = [self._form.model_fields[name].get_default()] * self.count
        for i, value in self.stated(name).items():
            found[i] = value
        return found


@cache
def _of_list(form: type[BaseModel], name: str) -> TypeAdapter[list[Any]]:
    """Return what checks a list of the values of a field."""
    field = form.model_fields[name]
    value = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(list[value], config={"strict": True})  # type: ignore[valid-type]


def columns_or_faults(form: type[BaseModel]) -> Callable[[Any, Callable[[Any], Any]], RowColumns]:
    """Return the validator of a list of rows, for pydantic's `WrapValidator`.

    The rows are checked one by one only where the columns have a fault, which then has its place.
    """

    def validated(rows: Any, one_by_one: Callable[[Any], Any]) -> RowColumns:
        if isinstance(rows, list) and rows:
            with suppress(ValidationError, ValueError):
                return RowColumns(form, rows)
        one_by_one(rows)
        return RowColumns(form, rows)

    return validated
