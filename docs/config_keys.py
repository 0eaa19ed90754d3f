"""Generator of the table of config keys in docs/training-keys.md.

    python -m docs.config_keys      # updates the table

The table is derived from the forms that check configs. `tests/docs` compares the two.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from streamplace.learning.policy.registry import KINDS
from streamplace.learning.training.config import ProblemsSection, RunSection
from streamplace.learning.training.stages import MemorySection, OptimiserSection, Stage, forms


def _shared(form: type[Stage]) -> type[Stage]:
    """Return the form from which another one derives, or that of all stages."""
    return next((base for base in form.__mro__[1:] if base in forms().values()), Stage)


PAGE = Path(__file__).parent / "training-keys.md"
BEGIN, END = "<!-- keys: python -m docs.config_keys -->", "<!-- end of keys -->"
TABLES: tuple[tuple[str, type[BaseModel], type[BaseModel] | None], ...] = (
    ("[[problems]]", ProblemsSection, None),
    ("[[stage]]", Stage, None),
    *((f'[[stage]], algorithm = "{name}"', form, _shared(form)) for name, form in forms().items()),
    ("[stage.memory] of reinforce", MemorySection, None),
    ("[stage.optimiser]", OptimiserSection, None),
    ("[run]", RunSection, None),
    *((f'sizes of [policy], kind = "{name}"', kind.sizes, None) for name, kind in KINDS.items()),
)
"""Heading, form, and the base form whose keys have a separate table."""


def table() -> str:
    """Return the keys of all tables as Markdown."""
    lines = ["| key | default | |", "|---|---|---|"]
    for heading, form, shared in TABLES:
        lines.append(f"| **`{heading}`** | | |")
        lines += _rows(form, shared)
    return "\n".join(lines)


def _rows(form: type[BaseModel], shared: type[BaseModel] | None) -> Iterator[str]:
    known = {} if shared is None else shared.model_fields
    for name, field in form.model_fields.items():
        inherited = name in known and field.description == known[name].description
        if not inherited and name != "algorithm":
            yield f"| `{name}` | {_default(field)} | {field.description or ''} |"


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel):
        return "see below"
    return "absent" if value is None else f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def with_table(page: str) -> str:
    """Return the page with an updated table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
