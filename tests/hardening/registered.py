"""The names of all readers, writers and wrappers that streamplace registers."""

from streamplace.execution.backends import BACKENDS
from streamplace.files.own import KINDS
from streamplace.files.placements import EXPORTERS
from streamplace.integrations.registry import MODULES, READERS, WRITERS
from streamplace.placers.registry import NAMES


def registered_names() -> dict[str, set[str]]:
    """Return kind -> names: what is imported, exported, placed, and where work runs."""
    return {
        "imported": {name for name in READERS if not name.startswith("gnuradio")},
        "exported": {name for name in WRITERS if not name.startswith("gnuradio")},
        "own files": {name.removeprefix("streamplace-") for name in KINDS},
        "placements": {*EXPORTERS},
        "code": {*MODULES},
        "placers": {*NAMES},
        "backends": {*BACKENDS},
    }
