"""Tags of hosts of IBM Streams, which are labels of devices."""

from collections.abc import Sequence

from streamplace.problem.graph_checks import listed


def labels_note(tagged: Sequence[str]) -> list[str]:
    """Return the note about operators whose hosts must have tags; none without such operators."""
    if not tagged:
        return []
    return [
        f"{listed(tagged)}: resource tags of Streams are read as labels, in requires; devices that "
        "may run these operators need them, too"
    ]
