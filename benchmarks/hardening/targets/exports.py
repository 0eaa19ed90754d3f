"""Writers of other programs' formats, with what they need to read."""

import json
import shlex
from typing import Any

from benchmarks.hardening.targets.consumers import InconsistencyError
from streamplace.engines.flink.deployment import SLOTS, base_document, patched
from streamplace.engines.ray import options
from streamplace.files.reading import read_text
from streamplace.formats.yaml import parse_yaml, to_yaml
from streamplace.problem.placement import Placement


def read_deployment(path: str) -> dict[str, Any]:
    """Return the document that ``export --to flink-deployment --patch`` changes."""
    return base_document(read_text(path), path)


def patch_deployment(base: dict[str, Any]) -> None:
    """Change a document; raise InconsistencyError if the change is lost."""
    change = {"spec": {"flinkConfiguration": {SLOTS: "3"}}}
    found = parse_yaml(to_yaml([patched(base, change)]), "written")
    if found["spec"]["flinkConfiguration"][SLOTS] != "3":
        raise InconsistencyError("a change that is lost")


def use_ray_options(placement: Placement) -> None:
    """Write options for Ray; raise InconsistencyError if an actor or a resource is lost."""
    found = json.loads(options.write(placement))
    offers = {name: f"--resources={json.dumps({name: 1})}" for name in placement.pes}
    starts = {name: shlex.split(command) for name, command in found["nodes"].items()}
    if starts != {name: ["ray", "start", offer] for name, offer in offers.items()}:
        raise InconsistencyError("a resource that is lost")
    rows = [each for row in found["actors"].values() for each in row]
    actors = {each["name"]: [*each["resources"]] for each in rows}
    if actors != {name: [device] for name, device in placement.assignment.items()}:
        raise InconsistencyError("an actor that is lost")
