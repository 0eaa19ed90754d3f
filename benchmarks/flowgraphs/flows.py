"""Flowgraphs of the kinds of GNU Radio's examples: a filter bank, and a receiver chain."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

BRANCHES = (40, 80, 160, 320)  # taps of the filters of the bank
ITEMS = 2**20  # in the file that the receiver reads again and again
COMPLEX_BYTES = 8


def filter_bank() -> dict[str, Any]:
    """Return a source that feeds filters of unequal lengths, each with a detector."""
    rows: list[tuple[str, str, dict[str, str]]] = [
        ("noise", "analog_fastnoise_source_x", {"type": "complex", "samples": "2**16"})
    ]
    ends = []
    for i, taps in enumerate(BRANCHES):
        rows += [
            (f"filter_{i}", "fir_filter_xxx", _filter("ccf", 4, taps)),
            (f"power_{i}", "blocks_complex_to_mag_squared", {}),
            (f"sink_{i}", "blocks_null_sink", {"type": "float"}),
        ]
        ends += [("noise", f"filter_{i}"), (f"filter_{i}", f"power_{i}")]
        ends += [(f"power_{i}", f"sink_{i}")]
    return _flowgraph("filter_bank", rows, ends)


def receiver(recorded: Path) -> dict[str, Any]:
    """Return a receiver of frequency modulation that reads recorded samples from a file."""
    tuned = {"center_freq": "1e5", "samp_rate": "1e6", **_filter("ccf", 4, 200)}
    rows: list[tuple[str, str, dict[str, str]]] = [
        ("recorded", "blocks_file_source", {"file": str(recorded), "type": "complex"}),
        ("tuned", "freq_xlating_fir_filter_xxx", tuned),
        ("demodulated", "analog_quadrature_demod_cf", {"gain": "1"}),
        ("audio", "fir_filter_xxx", _filter("fff", 2, 400)),
        ("louder", "blocks_multiply_const_vxx", {"type": "float", "const": "2"}),
        ("sink", "blocks_null_sink", {"type": "float"}),
    ]
    names = [name for name, _, _ in rows]
    return _flowgraph("receiver", rows, list(pairwise(names)))


def write_samples(path: Path) -> None:
    """Write the file that the receiver reads."""
    path.write_bytes(bytes(COMPLEX_BYTES * ITEMS))


def _filter(kind: str, decimation: int, taps: int) -> dict[str, str]:
    return {"type": kind, "decim": str(decimation), "taps": f"[1 / {taps}] * {taps}"}


def _flowgraph(
    name: str, rows: Sequence[tuple[str, str, dict[str, str]]], ends: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    options = {"id": name, "title": name, "generate_options": "no_gui", "output_language": "python"}
    options |= {"run_options": "run", "run": "True", "catch_exceptions": "True"}
    return {
        "options": {"parameters": options, "states": _states()},
        "blocks": [
            {"name": each, "id": kind, "parameters": {"affinity": "", **more}, "states": _states()}
            for each, kind, more in rows
        ],
        "connections": [[source, "0", target, "0"] for source, target in ends],
        "metadata": {"file_format": 1},
    }


def _states() -> dict[str, Any]:
    return {"state": "enabled", "coordinate": [8, 8], "rotation": 0}
