"""Names of the colocation groups that --whole-operators adds, which are in no file."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamplace.errors import StreamplaceError, reworded

if TYPE_CHECKING:
    from streamplace.problem.graph import StreamGraph

COLOCATED = re.compile(r"constraints\.colocate\[(\d+)\]")


@contextmanager
def naming_whole_operators(
    graph: "StreamGraph", groups: Sequence[Sequence[str]], *, added: bool
) -> Iterator[None]:
    """Call the added groups, the last of all, by the option in an infeasible problem's error."""
    if not added:
        yield
        return
    from streamplace.integrations.whole_operators import colocate_instances  # noqa: PLC0415 - not always needed
    from streamplace.problem.constraints import Constraints  # noqa: PLC0415

    first = len(groups) - len(colocate_instances(graph, Constraints()).colocate)

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        if not first <= number < len(groups):
            return match[0]
        owner = graph.owners[graph.index[groups[number][0]]]
        return f"--whole-operators of {owner!r}"

    try:
        yield
    except StreamplaceError as raised:
        error = raised
        if error.infeasible is not None:
            from streamplace.workflows.conflict import named  # noqa: PLC0415 - slow to load

            error = named(error)
        text = COLOCATED.sub(name, str(error))
        if text == str(error):
            raise error from None
        raise reworded(error, text) from None
