"""Quantities of Kubernetes, such as ``500m`` or ``16Gi``, as numbers."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_QUANTITY = re.compile(
    r"([-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}))([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d{1,2})?",
    re.ASCII,
)
_UNITS = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "Ki": 2.0**10}
_UNITS |= {each: 1e3 ** (i + 2) for i, each in enumerate("MGTPE")}
_UNITS |= {f"{each}i": 2.0 ** (10 * (i + 2)) for i, each in enumerate("MGTPE")}


def number_of(value: Any) -> Any:
    """Return the number that a quantity stands for.

    Raises
    ------
    ValueError
        If the text is no quantity.
    """
    if not isinstance(value, str):
        return value
    if (found := _QUANTITY.fullmatch(value.strip())) is None:
        raise ValueError(f"must be a quantity such as 500m or 16Gi (got {value!r:.40})")
    unit = found[2] or ""
    return float(found[1]) * (_UNITS[unit] if unit in _UNITS else float(f"1{unit}"))


Quantity = Annotated[float, BeforeValidator(number_of), Field(ge=0, allow_inf_nan=False)]
