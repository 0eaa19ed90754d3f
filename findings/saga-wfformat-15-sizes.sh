#!/bin/sh
# anrg-saga 2.1.0: the reader of WfFormat 1.5 gives every message the size 1, though the file has
# the sizes; in WfFormat 1.4 it reads them.
#
# A comment of `_trace_to_digraph_v15` says that 1.5 has no sizes. It has them in
# workflow.specification.files, with the ids that tasks list as inputFiles and outputFiles. So a
# message of 8 GB takes as long as one of 8 bytes in a schedule of such a workflow.
#
# Output seen (Python 3.13, x86-64; installing takes 690 MB):
#   WfFormat 1.4: files of 8 and 8,000,000,000 bytes are read as 8 and 8,000,000,000
#   WfFormat 1.5: files of 8 and 8,000,000,000 bytes are read as 1 and 1
set -eu
is_new='import sys; sys.exit(sys.version_info < (3, 12))'
for python in python3 python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9].*/bin/python3 none; do
    "$python" -c "$is_new" 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "skipped: anrg-saga 2.1.0 needs Python 3.12 or later, and there is none here" >&2
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q anrg-saga==2.1.0
"$folder/venv/bin/python" - "$folder/workflow.json" <<'PYTHON'
import json
import pathlib
import sys

from saga.schedulers.data.wfcommons import trace_to_digraph

path = pathlib.Path(sys.argv[1])
SIZES = {"small": 8, "large": 8_000_000_000}


def of_1_4():
    """Return the workflow in WfFormat 1.4: files stand in their tasks."""
    def task(name, **links):
        files = [
            {"link": link, "name": file, "sizeInBytes": SIZES[file]}
            for link, names in links.items() for file in names
        ]
        parents = ["make"] if "input" in links else []
        return {"name": name, "id": name, "type": "compute", "runtimeInSeconds": 1.0,
                "parents": parents, "children": [], "files": files}

    tasks = [task("make", output=SIZES), task("a", input=["small"]), task("b", input=["large"])]
    return {"name": "w", "schemaVersion": "1.4", "workflow": {"tasks": tasks}}


def of_1_5():
    """Return the workflow in WfFormat 1.5: files stand in the specification."""
    def task(name, inputs=(), outputs=()):
        return {"name": name, "id": name, "parents": ["make"] if inputs else [], "children": [],
                "inputFiles": list(inputs), "outputFiles": list(outputs)}

    tasks = [task("make", outputs=SIZES), task("a", ["small"]), task("b", ["large"])]
    files = [{"id": file, "sizeInBytes": size} for file, size in SIZES.items()]
    run = {"makespanInSeconds": 2.0, "executedAt": "2024-01-01T00:00:00Z",
           "tasks": [{"id": each["id"], "runtimeInSeconds": 1.0} for each in tasks]}
    return {"name": "w", "schemaVersion": "1.5",
            "workflow": {"specification": {"tasks": tasks, "files": files}, "execution": run}}


for version, workflow in (("1.4", of_1_4()), ("1.5", of_1_5())):
    path.write_text(json.dumps(workflow))
    graph = trace_to_digraph(path, "w")
    read = [graph.edges["make", name]["weight"] for name in ("a", "b")]
    print(f"WfFormat {version}: files of 8 and 8,000,000,000 bytes are read as "
          f"{read[0]:,.0f} and {read[1]:,.0f}")
    assert read == ([8, 8_000_000_000] if version == "1.4" else [1, 1]), "this has changed"
PYTHON
