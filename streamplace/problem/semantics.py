"""What a graph says about how its operators fire and how messages are shared."""

from typing import Any, Literal, get_args

from streamplace.errors import GraphError

Firing = Literal["each", "all"]
Multicast = Literal["none", "device", "all"]


def check_semantics(firing: object, multicast: object) -> None:
    """Raise GraphError unless both are known."""
    for what, value, kind in (("firing", firing, Firing), ("multicast", multicast, Multicast)):
        _check(what, value, kind)


def _check(what: str, value: object, kind: Any) -> None:
    *first, last = get_args(kind)
    if value not in (*first, last):
        raise GraphError(f"{what}: must be {', '.join(first)} or {last} (got {value!r:.40})")
