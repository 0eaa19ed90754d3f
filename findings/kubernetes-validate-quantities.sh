#!/bin/sh
# kubernetes-validate 1.37.0: a manifest with a CPU request of "two", -1 replicas, a label with a
# space, a name in capitals, or a selector that does not select its own pods is valid, in strict
# mode.
#
# The schemas that Kubernetes publishes state types, not forms: a quantity is any text or number, a
# label any text, a count any whole number. An API server refuses all five. Strict mode only refuses
# unknown fields. What such a validator passes may still be refused when it is applied.
#
# Output seen (Python 3.11):
#   as it should be: valid
#   CPU request "two": valid
#   -1 replicas: valid
#   label "a b": valid
#   name "Not A Name": valid
#   selector of other pods: valid
#   field "cpus": refused
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q kubernetes-validate==1.37.0
"$folder/venv/bin/python" - <<'PYTHON'
import copy

import kubernetes_validate

labels = {"app": "job"}
requests = {"cpu": "500m"}
container = {"name": "c", "image": "i", "resources": {"requests": requests}}
good = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "job", "labels": dict(labels)},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": dict(labels)},
        "template": {"metadata": {"labels": dict(labels)}, "spec": {"containers": [container]}},
    },
}


def is_valid(path: str, key: str, value: object) -> bool:
    """Return whether the manifest is valid with a value at the end of a path such as a.0.b."""
    manifest = copy.deepcopy(good)
    place = manifest
    for step in path.split("."):
        place = place[int(step) if step.isdigit() else step]
    place[key] = value
    try:
        kubernetes_validate.validate(manifest, "1.37", strict=True)
    except kubernetes_validate.ValidationError:
        return False
    return True


pod = "spec.template.spec.containers.0.resources"
for what, path, key, value, expected in (
    ("as it should be", "spec", "replicas", 1, True),
    ('CPU request "two"', f"{pod}.requests", "cpu", "two", True),
    ("-1 replicas", "spec", "replicas", -1, True),
    ('label "a b"', "metadata.labels", "app", "a b", True),
    ('name "Not A Name"', "metadata", "name", "Not A Name", True),
    ("selector of other pods", "spec.selector.matchLabels", "app", "other", True),
    ('field "cpus"', pod, "cpus", 2, False),
):
    valid = is_valid(path, key, value)
    print(f"{what}: {'valid' if valid else 'refused'}")
    assert valid == expected, "this has changed"
PYTHON
