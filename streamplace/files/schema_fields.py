"""The fields of the objects of a form."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel


def fields_at(form: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the names that fields may have of the object at a place in a form.

    Parameters
    ----------
    place
        As pydantic tells it: fields, numbers in lists, keys of maps and tags of unions.
    """
    forms = [form]
    for part in place:
        inside = [each for one in forms for each in _forms_of(one, part)]
        forms = inside or _tagged(forms, part) or forms  # a number or a key leads to no other form
    return [field.alias or name for one in forms for name, field in one.model_fields.items()]


def _tagged(forms: list[type[BaseModel]], tag: int | str) -> list[type[BaseModel]]:
    """Return those forms of a union that a tag stands for."""
    return [
        one for one in forms if any(_is_tag(f.annotation, tag) for f in one.model_fields.values())
    ]


def _is_tag(annotation: Any, tag: int | str) -> bool:
    return get_origin(annotation) is Literal and tag in get_args(annotation)


def _forms_of(form: type[BaseModel], part: int | str) -> Iterator[type[BaseModel]]:
    for name, field in form.model_fields.items():
        if part in (name, field.alias):
            yield from _forms_in(field.annotation)


def _forms_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _forms_in(inner)
