"""The command `init`: a starter graph and cluster, with comments."""

from dataclasses import dataclass
from typing import Any

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, print_json, print_note
from streamplace.errors import FormatError
from streamplace.files import write_json
from streamplace.files.writing import make_folder
from streamplace.util.text import file_in_shell

STARTERS: dict[str, dict[str, Any]] = {
    "graph.json": {
        "format": "streamplace-graph",
        "version": 1,
        "comment": "Operators, and streams between them; see 'streamplace schema graph'. "
        "firing: all (every operator runs once per tuple of the sources) or each.",
        "name": "clicks",
        "source_rate": 20000.0,
        "operators": [
            {
                "name": "clicks",
                "comment": "No stream leads here, so it is a source; source_rate is its tuples/s.",
                "instructions": 20000.0,
                "payload_bytes": 400.0,
            },
            {
                "name": "parse",
                "comment": "instructions: CPU work per tuple; payload_bytes: size of a tuple sent. "
                'seconds_on: seconds per tuple by kind of device, such as {"gpu": 0.0001}.',
                "instructions": 90000.0,
                "payload_bytes": 250.0,
            },
            {
                "name": "sessions",
                "comment": "memory_bytes matters only on devices with a memory limit.",
                "instructions": 110000.0,
                "payload_bytes": 600.0,
                "memory_bytes": 2e9,
            },
            {
                "name": "fraud-model",
                "comment": "requires: labels that its device must carry; only gpu1 carries gpu.",
                "instructions": 400000.0,
                "payload_bytes": 100.0,
                "requires": ["gpu"],
            },
            {"name": "store", "instructions": 60000.0, "payload_bytes": 0.0},
        ],
        "streams": [
            {"source": "clicks", "target": "parse"},
            {
                "source": "parse",
                "target": "sessions",
                "comment": "selectivity: tuples on this stream per tuple that parse processes.",
                "selectivity": 0.8,
            },
            {"source": "parse", "target": "fraud-model", "selectivity": 0.2},
            {"source": "sessions", "target": "store", "selectivity": 0.1},
            {"source": "fraud-model", "target": "store"},
        ],
        "constraints": {
            "comment": "Also: pins, allowed (operator: devices), exlocate (groups to separate).",
            "colocate": [["clicks", "parse"]],
        },
    },
    "cluster.json": {
        "format": "streamplace-cluster",
        "version": 1,
        "comment": "Devices and their network; see 'streamplace schema cluster'.",
        "devices": [
            {"name": "rack1", "mips": 2500.0, "cores": 1, "memory_bytes": 8e9},
            {"name": "rack2", "mips": 2500.0, "cores": 1, "memory_bytes": 8e9},
            {
                "name": "gpu1",
                "comment": "labels: what operators may require. kind: a name such as gpu, for the "
                "seconds_on of operators.",
                "mips": 2000.0,
                "cores": 2,
                "memory_bytes": 16e9,
                "labels": ["gpu"],
            },
        ],
        "network": {
            "comment": "kind: pair (a link per device pair), nic (one interface per device), "
            "egress (what a device sends shares one link) or free (no queues).",
            "kind": "nic",
            "bandwidth_mbps": 1000.0,
            "latency_s": 0.001,
        },
    },
}


@dataclass(frozen=True)
class InitOptions(options.Common):
    """The options of `init`."""

    folder: str = argument(type=param_types.FILE, default=".")


@command(InitOptions)
def init(chosen: InitOptions) -> None:
    """Write a starter graph.json and cluster.json to edit.

    Both files go into FOLDER, by default the current folder. Comments in them explain the fields.

    \b
    Examples:
    streamplace init
    streamplace init my-job
    """
    paths = {make_folder(chosen.folder) / name: value for name, value in STARTERS.items()}
    for path in paths:
        if path.exists():
            raise FormatError(f"{path}: already exists; delete it, or choose another folder")
    for path, value in paths.items():
        write_json(path, value)
    if chosen.as_json:
        print_json({"files": [str(path) for path in paths]})
    else:
        graph, cluster = map(str, paths)
        print_note(f"wrote {graph} and {cluster}; next:")
        words = f"place {file_in_shell(graph)} --cluster {file_in_shell(cluster)}"
        print_note(f"  streamplace {words} -o placement.json")
