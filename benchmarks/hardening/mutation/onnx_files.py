"""Mutations of ONNX models, most of which are valid protocol buffers with wrong content."""

import random
from collections.abc import Iterator
from typing import Any

from benchmarks.hardening.mutation.text_files import BYTE_FAULTS, Fault

NUMBERS = (-1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63))
TEXTS = ("", "x", "conv_out", "y", "w", "If", "Conv", "Loop", "nobody", "a\nb", "\u2028", "ai.onnx")
CHANGES = 3  # fields of a model that change at once, at most


def _fields(message: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every message in a model with each of its fields that are set."""
    for field, value in message.ListFields():
        yield message, field
        if field.message_type is not None:
            for inner in value if hasattr(value, "append") or hasattr(value, "add") else (value,):
                yield from _fields(inner)


def _changed_field(data: bytes, rng: random.Random) -> bytes:
    """Change, remove or repeat some fields of a model."""
    import onnx  # noqa: PLC0415 - an extra

    try:
        model = onnx.load_model_from_string(data)
        for _ in range(rng.randint(1, CHANGES)):
            _change(*rng.choice([*_fields(model)]), rng)
        return bytes(model.SerializeToString(deterministic=True))
    except Exception:  # an earlier mutation has made it invalid, or the value does not fit
        return data


def _change(message: Any, field: Any, rng: random.Random) -> None:
    value = getattr(message, field.name)
    several = hasattr(value, "append") or hasattr(value, "add")
    if rng.random() < 0.25:
        message.ClearField(field.name)
    elif several:
        i = rng.randrange(len(value))
        if field.message_type is not None or rng.random() < 0.5:
            if rng.random() < 0.5:
                del value[i]
            else:
                value.extend([value[i]])
        else:
            value[i] = _other(value[i], rng)
    elif field.message_type is None:
        setattr(message, field.name, _other(value, rng))
    else:
        message.ClearField(field.name)


def _other(value: object, rng: random.Random) -> object:
    if isinstance(value, str):
        return rng.choice(TEXTS)
    if isinstance(value, bytes):
        return rng.randbytes(rng.randrange(9))
    return rng.choice(NUMBERS)


ONNX_FAULTS: tuple[Fault, ...] = (*BYTE_FAULTS, *(_changed_field,) * (2 * len(BYTE_FAULTS)))
