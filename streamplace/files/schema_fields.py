"""Fields and union tags at the places in a form, as pydantic names them."""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Place: TypeAlias = tuple[int | str, ...]
"""A path of fields, list indices, map keys and tags of discriminated unions."""


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
