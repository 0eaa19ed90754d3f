"""The JSON Schemas of streamplace's formats."""

from typing import Any

from streamplace.files.job_forms import JobsForm
from streamplace.files.scene_schema import SceneForm
from streamplace.files.schema import ClusterForm, Form, GraphForm, PlacementForm

FORMS: dict[str, type[Form]] = {
    "graph": GraphForm,
    "cluster": ClusterForm,
    "placement": PlacementForm,
    "scene": SceneForm,
    "jobs": JobsForm,
}


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one of `FORMS`."""
    return FORMS[kind].model_json_schema(by_alias=True)
