"""The fields of the objects of a form."""

from collections.abc import Iterator
from typing import Any, get_args

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
        forms = inside or forms  # what is no field leads into no other form
    return [field.alias or name for one in forms for name, field in one.model_fields.items()]


def _forms_of(form: type[BaseModel], part: int | str) -> Iterator[type[BaseModel]]:
    for name, field in form.model_fields.items():
        if part in (name, field.alias):
            yield from _forms_in(field.annotation)


def _forms_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _forms_in(inner)
