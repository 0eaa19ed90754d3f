"""Hand-written executions of workflows in WfFormat, and abstract ones in DAX."""

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
DAX = """<?xml version="1.0" encoding="UTF-8"?>
<!-- generated: 2012-01-05 -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="maps" jobCount="3">
  <job id="ID0" namespace="maps" name="cut" version="1.0" runtime="4.5">
    <uses file="world.tif" link="input" register="true" size="900000000"/>
    <uses file="tiles.bin" link="output" register="true" size="500000000"/>
  </job>
  <job id="ID1" namespace="maps" name="draw" version="1.0" runtime="10">
    <uses file="tiles.bin" link="input" size="500000000"/>
    <uses file="north.png" link="output" size="30000000"/>
  </job>
  <job id="ID2" namespace="maps" name="draw" version="1.0" runtime="9.25">
    <uses file="tiles.bin" link="input" size="500000000"/>
  </job>
  <child ref="ID1"><parent ref="ID0"/></child>
  <child ref="ID2"><parent ref="ID0"/></child>
</adag>
"""
DAX_3 = """<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6" name="diamond">
  <file name="f.a"><metadata key="size" type="int">1024</metadata></file>
  <job id="ID01" name="preprocess">
    <argument>-i <file name="f.a"/></argument>
    <profile namespace="pegasus" key="runtime">60</profile>
    <uses name="f.a" link="input"/><uses name="f.b" link="inout" size="2048"/>
    <uses name="tool" link="none"/>
  </job>
  <dax id="ID02" file="rest.dax"><uses name="f.b" link="input"/></dax>
  <child ref="ID02"><parent ref="ID01" edge-label="then"/></child>
</adag>
"""
