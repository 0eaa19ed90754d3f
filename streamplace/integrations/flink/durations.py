"""Durations as Flink's configuration states them."""

import re

from streamplace.errors import UsageError

_TEXT = re.compile(r"(\d+)\s*([^\d\s]*)", re.ASCII)
_UNITS = {
    1e-9: "ns nano nanos nanosecond nanoseconds",
    1e-6: "µs micro micros microsecond microseconds",
    1e-3: "ms milli millis millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "m min minute minutes",
    3600.0: "h hour hours",
    86_400.0: "d day days",
}
_SECONDS = {label: seconds for seconds, labels in _UNITS.items() for label in labels.split()}


def seconds_of(text: str) -> float:
    """Return the seconds of a duration, such as ``1 min``; a number alone is milliseconds.

    Raises
    ------
    UsageError
        If the text is not a whole number with one of Flink's units.
    """
    found = _TEXT.fullmatch(text.strip().lower())
    if found is None or (seconds := _SECONDS.get(found[2] or "ms")) is None:
        raise UsageError(f"must be a whole number with a unit, such as 60 s (got {text!r:.40})")
    return int(found[1]) * seconds
