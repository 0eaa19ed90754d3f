"""Simplifications of a problem of makespans: one operator, stream, device or option less."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from benchmarks.reference.schedule_problems import WORK, ScheduleForm, exact_shares

SIMPLEST: dict[str, dict[str, Any]] = {
    "settings": {"order": "fifo", "barrier": False, "inputs_everywhere": False, "batch": 1},
    "graph": {"firing": "all", "multicast": "none"},
    "network": {
        "kind": "free",
        "latency_s": 0,
        "overhead_s": 0,
        "gap_s": 0,
        "overhead_s_per_byte": 0,
        "bandwidth_mbps": 8,
    },
    "operators": {"cores": 1, "payload_bytes": 0, "instructions": WORK},
    "streams": {"selectivity": 1, "payload_bytes": 0},
    "devices": {"cores": 1, "mips": 1, "startup_s": 0, "overhead_s_per_byte": 0},
}
REMOVABLE = (
    "seconds_on",
    "requires",
    "kind",
    "source_shares",
    "bandwidth_mbps",
    "latency_s",
    "gap_s",
)
Edit = Callable[[ScheduleForm], None]


def simpler(problem: ScheduleForm) -> Iterator[ScheduleForm]:
    """Yield problems with one thing less, the largest things first; some may not be valid."""
    for edit in _edits(problem):
        candidate = deepcopy(problem)
        edit(candidate)
        _repair_shares(candidate["graph"])
        if candidate != problem:
            yield candidate


def _edits(problem: ScheduleForm) -> Iterator[Edit]:
    devices = [device["name"] for device in problem["cluster"]["devices"]]
    for operator in problem["graph"]["operators"]:
        yield partial(_remove_operator, name=operator["name"])
    for i in range(len(problem["graph"]["streams"])):
        yield partial(_remove_stream, i=i)
    for a in devices:
        for b in devices:  # two at once keep their number a power of two
            if len({a, b}) < len(devices):
                yield partial(_remove_devices, names={a, b})
    for i in range(len(problem["cluster"]["network"].get("overrides", ()))):
        yield partial(_remove_override, i=i)
    for name in problem["placement"]:
        yield partial(_move, operator=name, device=devices[0])
    for i, (kind, form) in enumerate(_objects(problem)):
        for key in SIMPLEST.get(kind, {}):
            if key in form:
                yield partial(_simplify, i=i, key=key)
        for key in REMOVABLE:
            if key in form and kind != "network":
                yield partial(_remove_option, i=i, key=key)


def _objects(problem: ScheduleForm) -> list[tuple[str, dict[str, Any]]]:
    """Return the objects with options, and what they are."""
    graph, cluster = problem["graph"], problem["cluster"]
    single = [
        ("settings", problem["settings"]),
        ("graph", graph),
        ("network", cluster["network"]),
    ]
    lists = {
        "operators": graph["operators"],
        "streams": graph["streams"],
        "devices": cluster["devices"],
        "overrides": cluster["network"].get("overrides", []),
    }
    return single + [(kind, form) for kind, forms in lists.items() for form in forms]


def _remove_operator(problem: ScheduleForm, name: str) -> None:
    graph = problem["graph"]
    if len(graph["operators"]) == 1:
        return
    graph["operators"] = [o for o in graph["operators"] if o["name"] != name]
    graph["streams"] = [s for s in graph["streams"] if name not in (s["source"], s["target"])]
    del problem["placement"][name]


def _remove_stream(problem: ScheduleForm, i: int) -> None:
    del problem["graph"]["streams"][i]


def _remove_override(problem: ScheduleForm, i: int) -> None:
    del problem["cluster"]["network"]["overrides"][i]


def _move(problem: ScheduleForm, operator: str, device: str) -> None:
    problem["placement"][operator] = device


def _simplify(problem: ScheduleForm, i: int, key: str) -> None:
    kind, form = _objects(problem)[i]
    form[key] = SIMPLEST[kind][key]


def _remove_option(problem: ScheduleForm, i: int, key: str) -> None:
    del _objects(problem)[i][1][key]


def _remove_devices(problem: ScheduleForm, names: set[str]) -> None:
    """Remove devices and their overrides; their operators move to the first that is left."""
    cluster, placement = problem["cluster"], problem["placement"]
    cluster["devices"] = [d for d in cluster["devices"] if d["name"] not in names]
    network = cluster["network"]
    if "overrides" in network:
        network["overrides"] = [
            o for o in network["overrides"] if not {o.get("from"), o.get("to")} & names
        ]
    for operator, device in placement.items():
        if device in names:
            placement[operator] = cluster["devices"][0]["name"]


def _repair_shares(graph: dict[str, Any]) -> None:
    """Share the source rate exactly in binary if the sources are not those of the shares."""
    targets = {stream["target"] for stream in graph["streams"]}
    sources = [o["name"] for o in graph["operators"] if o["name"] not in targets]
    if set(graph.get("source_shares", ())) != set(sources):
        graph.pop("source_shares", None)
        if len(sources) & (len(sources) - 1):
            graph["source_shares"] = exact_shares(sources)
