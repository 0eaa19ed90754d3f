"""The names of all readers, writers and wrappers that streamplace registers."""

from streamplace.execution.backends import BACKENDS
from streamplace.files.own import KINDS
from streamplace.formats.registry import formats
from streamplace.placers.registry import NAMES
from streamplace.workflows.export import OWN


def registered_names() -> dict[str, set[str]]:
    """Return kind -> names: what is imported, exported, placed, and where work runs."""
    return {
        "imported": {
            each.name for each in formats() if each.read or each.read_bytes or each.read_cluster
        },
        "exported": {each.name for each in formats() if each.writes},
        "own files": {name.removeprefix("streamplace-") for name in KINDS},
        "placements": {*OWN},
        "code": {each.name for each in formats() if each.read_code},
        "placers": {*NAMES},
        "backends": {*BACKENDS},
    }
