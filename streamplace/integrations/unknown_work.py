"""Notes on operators whose work no rule gives."""

from collections.abc import Iterable

from streamplace.problem.graph_checks import listed
from streamplace.util.text import counted


def unknown_work(types: Iterable[str]) -> list[str]:
    """Return a note that names types of operators without a rule, if there are any."""
    found = sorted(set(types))
    if not found:
        return []
    return [
        f"no rule gives the work of {counted(len(found), 'type')} of operators, {listed(found)}; "
        "their instructions are unknown unless --costs states them"
    ]
