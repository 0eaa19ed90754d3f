"""Who in a chain sends to other vertices: Flink's REST plan tells only that the chain does."""

from collections.abc import Sequence

from streamplace.integrations.flink.chain import Chain

SINK = "Sink: "
WRITER = ": Writer"
COMMITTER = ": Committer"


def senders(chain: Chain, fed: Sequence[Chain]) -> list[tuple[int, bool]]:
    """Return, for each chain that is fed, which member feeds it, and whether that is certain.

    Sinks feed nobody but the committer of theirs. A member that feeds no other of the chain must
    feed something else, so one such member is certain to feed the one chain that is fed, and of
    several each is taken to feed one, in the order of the document.
    """
    able = [i for i, name in enumerate(chain.names) if not is_sink(name)] or [0]
    ends = [i for i in chain.leaves if i in able] or able[-1:]
    found: list[tuple[int, bool]] = []
    taken = 0
    for target in fed:
        if (writer := _writer_of(chain, target.names[0])) is not None:
            found.append((writer, True))
        else:
            found.append((ends[min(taken, len(ends) - 1)], False))
            taken += 1
    clear = len(able) == 1 or (taken == 1 and len(ends) == 1 and ends[0] in chain.leaves)
    return [(member, certain or clear) for member, certain in found]


def is_sink(name: str) -> bool:
    """Return whether an operator is (a part of) a sink, by what Flink calls it."""
    return name.startswith(SINK) or name.endswith((WRITER, COMMITTER))


def _writer_of(chain: Chain, target: str) -> int | None:
    """Return the member that is the writer of the sink whose committer is `target`."""
    writer = target.removesuffix(COMMITTER) + WRITER
    there = target.endswith(COMMITTER) and writer in chain.names
    return chain.names.index(writer) if there else None
