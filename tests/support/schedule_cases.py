"""Small problems of makespans written as text."""

import re
from typing import Any

from benchmarks.reference.plain_schedule import PlainSchedule, plain_schedule
from benchmarks.reference.schedule_problems import ScheduleForm

OPERATOR = re.compile(r"(\w+):([\d.]+)(?:x(\d+))?(?:@(\d+))?")
STREAM = re.compile(r"(\w+)>(\w+)(?::([\d.]+))?(?:\*([\d.]+))?")
SETTINGS = {"order": "fifo", "barrier": False, "inputs_everywhere": False, "batch": 1}
GRAPH = {"firing": "all", "multicast": "none"}
NETWORK = {
    "kind": "free",
    "bandwidth_mbps": 8,
    "latency_s": 0,
    "overhead_s": 0,
    "gap_s": 0,
    "overrides": [],
}


def schedule_form(
    operators: str,
    streams: str = "",
    *,
    devices: list[dict[str, Any]] | int = 2,
    network: dict[str, Any] | None = None,
    **options: Any,
) -> ScheduleForm:
    """Return a problem from text.

    Parameters
    ----------
    operators
        Such as ``"a:2 b:6x3@1"``: name, seconds on one core, cores (1), and device index (0).
    streams
        Such as ``"a>b:2 b>c:0.5*0.25"``: ends, seconds of transfer (0), and selectivity (1).
    devices
        Fields of devices of 1 MIPS with names d0, d1, …, or their number.
    network
        Fields that differ from `NETWORK`.
    options
        Settings and fields of the graph that differ from `SETTINGS` and `GRAPH`.
    """
    rows = [{}] * devices if isinstance(devices, int) else devices
    graph: dict[str, Any] = {"operators": [], "streams": [], **GRAPH}
    placement = {}
    for text in operators.split():
        name, seconds, cores, device = _parsed(OPERATOR, text)
        operator: dict[str, Any] = {"name": name, "instructions": float(seconds) * 1e6}
        graph["operators"].append(operator | ({"cores": int(cores)} if cores else {}))
        placement[name] = f"d{device or 0}"
    for text in streams.split():
        source, target, seconds, selectivity = _parsed(STREAM, text)
        stream: dict[str, Any] = {"source": source, "target": target}
        stream["payload_bytes"] = float(seconds or 0) * 1e6
        graph["streams"].append(
            stream | ({"selectivity": float(selectivity)} if selectivity else {})
        )
    settings = SETTINGS | {key: options.pop(key) for key in SETTINGS if key in options}
    return {
        "graph": graph | options,
        "cluster": {
            "devices": [
                {"name": f"d{d}", "mips": 1, "cores": 1, **row} for d, row in enumerate(rows)
            ],
            "network": NETWORK | (network or {}),
        },
        "settings": settings,
        "placement": placement,
    }


def schedule_of(operators: str, streams: str = "", **options: Any) -> PlainSchedule:
    """Return the plain engine's schedule of a problem written as text; see `schedule_form`."""
    return plain_schedule(**schedule_form(operators, streams, **options))


def starts(operators: str, streams: str = "", **options: Any) -> dict[str, float]:
    """Return the start of each operator of a problem written as text; see `schedule_form`."""
    return {
        name: float(time) for name, time in schedule_of(operators, streams, **options).start.items()
    }


def _parsed(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot parse {text!r}")
    return match.groups()
