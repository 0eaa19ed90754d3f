"""Files of streamplace, recognised where another kind of file is expected."""

import json
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

KINDS = {
    "streamplace-graph": "a graph",
    "streamplace-cluster": "a cluster, which --cluster takes",
    "streamplace-placement": "a placement, which simulate, explain, diff, export and report take",
    "streamplace-scene": "a scene, which simulate --scene reads",
    "streamplace-jobs": "a file of jobs, which place --job-file reads",
    "streamplace-trace": "a trace, which simulate --trace writes",
    "constraints": "an object of constraints, which --constraints reads",
}
"""Kind of file, by its field ``format`` if it has one -> what it is."""
CONFIG = "a training configuration, which train --config reads"
FIELDS = (  # fields by which a kind of file is recognised, and the kind
    ({"policy", "stage"}, CONFIG),
    ({"policy", "sampling"}, CONFIG),  # of version 0.2
    ({"step", "epoch", "reward"}, "the log of a training run, whose folder curves reads"),
    ({"step", "epoch", "loss"}, "the log of a training run, whose folder curves reads"),
    ({"jobs", "assignment", "placer"}, "the result of place --job-file"),
    ({"jobs"}, KINDS["streamplace-jobs"]),
    ({"dataset", "graphs", "rows"}, "the result of compare"),
    ({"properties", "type"}, "a JSON Schema"),
    (
        {"taskmanagers"},
        "Flink's answer about TaskManagers; profile flink URL --cluster-out FILE writes a cluster",
    ),
    ({"operators"}, KINDS["streamplace-graph"]),
    ({"devices"}, KINDS["streamplace-cluster"]),
    ({"assignment"}, KINDS["streamplace-placement"]),
)
RULES = {"pins", "colocate", "exlocate", "allowed", "apart_groups", "comment"}
"""The fields of constraints, of which a file may have any."""
EXPECTED = {
    "GraphForm": "a graph",
    "ClusterForm": "a cluster",
    "PlacementForm": "a placement, which 'streamplace place' writes",
    "SceneForm": "a scene",
    "JobsForm": "a file of jobs",
    "ConstraintsForm": "the object that a graph has in 'constraints', such as {\"pins\": {…}}",
    "CostsForm": "a file of costs",
    "TrainConfig": "a training configuration",
}
"""Name of a form -> what it describes."""


def kind_of(value: Any) -> str | None:
    """Return what the JSON value of a file of streamplace is; None if it is not known to be one."""
    if not isinstance(value, dict):
        return None
    if "format" in value:
        return KINDS.get(str(value["format"]))
    if value and value.keys() <= RULES:
        return KINDS["constraints"]
    return next((kind for fields, kind in FIELDS if fields <= value.keys()), None)


def other_kind(form: "type[BaseModel]", value: dict[str, Any]) -> str:
    """Return what an object is, and what is expected in its place."""
    found = kind_of(value) or f"of the format {value['format']!r:.80}"
    return f"is {found}; expected {EXPECTED.get(form.__name__, 'another kind of file')}"


def fault_of_lines(error: JSONDecodeError) -> str:
    """Return what a text of a JSON value per line is; empty for another fault in JSON."""
    is_next = error.msg == "Extra data" and error.colno == 1 and error.lineno > 1
    if not (is_next and error.doc[error.pos] in "{["):
        return ""
    if kind_of(json.loads(error.doc[: error.pos])) != KINDS["streamplace-graph"]:
        return "has a JSON value per line; expected a single one"
    takers = "compare, train and info take datasets, whose names end in .jsonl"
    return f"is a dataset, a graph per line; expected a single JSON value; {takers}"
