"""Hand-written executions of workflows in WfFormat."""

import json
from typing import Any

DIVIDED: dict[str, Any] = {
    "name": "maps",
    "schemaVersion": "1.5",
    "runtimeSystem": {"name": "Pegasus", "version": "5.0"},
    "workflow": {
        "specification": {
            "tasks": [
                {
                    "name": "cut",
                    "id": "cut_1",
                    "parents": [],
                    "children": ["draw_2", "draw_3"],
                    "inputFiles": ["world.tif"],
                    "outputFiles": ["tiles.bin", "legend.txt"],
                },
                {
                    "name": "draw",
                    "id": "draw_2",
                    "parents": ["cut_1"],
                    "children": ["join_4"],
                    "inputFiles": ["tiles.bin"],
                    "outputFiles": ["north.png"],
                },
                {
                    "name": "draw",
                    "id": "draw_3",
                    "parents": ["cut_1"],
                    "children": ["join_4"],
                    "inputFiles": ["tiles.bin", "legend.txt"],
                    "outputFiles": ["south.png"],
                },
                {
                    "name": "join",
                    "id": "join_4",
                    "parents": ["draw_2", "draw_3"],
                    "children": [],
                    "inputFiles": ["north.png", "south.png"],
                    "outputFiles": ["map.png"],
                },
            ],
            "files": [
                {"id": "world.tif", "sizeInBytes": 900_000_000},
                {"id": "tiles.bin", "sizeInBytes": 500_000_000},
                {"id": "legend.txt", "sizeInBytes": 2000},
                {"id": "north.png", "sizeInBytes": 30_000_000},
                {"id": "south.png", "sizeInBytes": 40_000_000},
                {"id": "map.png", "sizeInBytes": 60_000_000},
            ],
        },
        "execution": {
            "makespanInSeconds": 31.5,
            "executedAt": "2026-01-05T10:00:00Z",
            "tasks": [
                {"id": "cut_1", "runtimeInSeconds": 4.0, "machines": ["left"]},
                {
                    "id": "draw_2",
                    "runtimeInSeconds": 10.0,
                    "coreCount": 2,
                    "memoryInBytes": 1_000_000,
                    "machines": ["left"],
                    "command": {"program": "draw", "arguments": ["--north"]},
                },
                {"id": "draw_3", "runtimeInSeconds": 9.0, "machines": ["right"]},
                {"id": "join_4", "runtimeInSeconds": 2.5, "machines": ["left", "right"]},
            ],
            "machines": [
                {
                    "nodeName": "left",
                    "system": "linux",
                    "architecture": "x86_64",
                    "memoryInBytes": 64_000_000_000,
                    "cpu": {"coreCount": 4, "speedInMHz": 2400, "vendor": "AMD"},
                },
                {"nodeName": "right", "architecture": "x86_64", "cpu": {"coreCount": 4}},
            ],
        },
    },
}
"""Version 1.5: two tasks read the same file, and one task ran on two machines."""
UNDIVIDED: dict[str, Any] = {
    "name": "maps",
    "schemaVersion": "1.4",
    "wms": {"name": "Makeflow", "version": "7.1"},
    "workflow": {
        "makespanInSeconds": 20.0,
        "executedAt": "2020-01-05T10:00:00Z",
        "machines": [
            {"nodeName": "left", "cpu": {"count": 4, "speed": 2400, "vendor": "AMD"}},
            {"nodeName": "right", "cpu": {"count": 4, "speed": 1200, "vendor": "AMD"}},
        ],
        "tasks": [
            {
                "name": "cut_ID1",
                "id": "ID1",
                "type": "compute",
                "parents": [],
                "children": ["draw_ID2"],
                "files": [
                    {"name": "world.tif", "sizeInBytes": 900, "link": "input"},
                    {"name": "tiles.bin", "sizeInBytes": 500, "link": "output"},
                ],
                "runtimeInSeconds": 4.0,
                "machine": "left",
            },
            {
                "name": "draw_ID2",
                "id": "ID2",
                "type": "compute",
                "parents": ["cut_ID1"],
                "files": [
                    {"name": "tiles.bin", "sizeInBytes": 500, "link": "input"},
                    {"name": "map.png", "sizeInBytes": 30, "link": "output"},
                ],
                "runtimeInSeconds": 10.0,
                "cores": 1.5,
                "machine": "right",
            },
        ],
    },
}
"""Version 1.4: tasks hold their files, run times and machines."""
WFFORMAT, WFFORMAT_1_4 = json.dumps(DIVIDED), json.dumps(UNDIVIDED)
