"""Members of a chain that feed other vertices, which Flink's REST plan does not name."""

from collections.abc import Sequence

from streamplace.integrations.flink.chain import Chain

SINK = "Sink: "
WRITER = ": Writer"
COMMITTER = ": Committer"


def senders(chain: Chain, fed: Sequence[Chain]) -> list[tuple[int, bool]]:
    """Return the member (index) that feeds each fed chain, and whether this is certain.

    A sink feeds only its own committer. A member that feeds no other member of the chain must feed
    another chain. If there is one such member and one fed chain, the answer is certain; several
    members are assumed to feed one chain each, in the order of the plan.
    """
    not_sinks = [i for i, name in enumerate(chain.names) if not is_sink(name)] or [0]
    ends = [i for i in chain.leaves if i in not_sinks] or not_sinks[-1:]
    found: list[tuple[int, bool]] = []
    used = 0
    for target in fed:
        if (writer := _writer_of(chain, target.names[0])) is not None:
            found.append((writer, True))
        else:
            found.append((ends[min(used, len(ends) - 1)], False))
            used += 1
    unambiguous = len(not_sinks) == 1 or (used == 1 and len(ends) == 1 and ends[0] in chain.leaves)
    return [(member, certain or unambiguous) for member, certain in found]


def is_sink(name: str) -> bool:
    """Return whether an operator is a sink or a part of one, judged by its name in Flink."""
    return name.startswith(SINK) or name.endswith((WRITER, COMMITTER))


def _writer_of(chain: Chain, target: str) -> int | None:
    """Return the member that is the writer of the sink whose committer is `target`."""
    writer = target.removesuffix(COMMITTER) + WRITER
    matches = target.endswith(COMMITTER) and writer in chain.names
    return chain.names.index(writer) if matches else None
