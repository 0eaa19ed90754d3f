"""Operator chains of Flink's vertices, from their descriptions, and which members feed others."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

BREAK = re.compile(r"<br\s*/?>|\n")
BRANCH = re.compile(r"((?:[:| ]  )*)[+:]- (.*)")
INDENT = 3
ARROW = " -> "
CHAIN = "CHAIN "
"""Precedes the description of a chain of the DataSet API."""
SINK = "Sink: "
WRITER = ": Writer"
COMMITTER = ": Committer"


@dataclass(frozen=True)
class Chain:
    """Operators of one vertex, upstream first.

    Parameters
    ----------
    names
        Names as in the plan; they may repeat.
    parents
        Index of the operator that feeds each one; None for the first.
    """

    names: tuple[str, ...]
    parents: tuple[int | None, ...]

    @property
    def leaves(self) -> tuple[int, ...]:
        """Indices of the operators that feed no other operator of the chain."""
        feeding = set(self.parents)
        return tuple(i for i in range(len(self.names)) if i not in feeding)


def chain_of(description: str) -> Chain:
    """Parse a description: lines that each end with an HTML break, or ``A -> (B, C -> D)``.

    A name may contain an arrow, so arrows separate operators only in descriptions without breaks,
    which Flink writes with ``pipeline.vertex-description-mode: CASCADING``.
    """
    lines = [html.unescape(line).rstrip() for line in BREAK.split(description)]
    lines = [line for line in lines if line]
    if lines and BREAK.search(description):
        return _tree(lines)
    return _arrows("".join(lines).removeprefix(CHAIN))


def _tree(lines: Sequence[str]) -> Chain:
    names: list[str] = []
    parents: list[int | None] = []
    open_at: list[int] = []  # the latest operator at each depth
    for line in lines:
        branch = BRANCH.fullmatch(line)
        depth = len(branch[1]) // INDENT + 1 if branch else 0
        depth = min(depth, len(open_at))
        name = (branch[2] if branch else line).strip()
        parents.append(open_at[depth - 1] if depth else None)
        open_at[depth:] = [len(names)]
        names.append(name)
    return Chain(tuple(names), tuple(parents))


def _arrows(text: str) -> Chain:
    names: list[str] = []
    parents: list[int | None] = []
    waiting: list[tuple[str, int | None]] = [(text, None)]
    while waiting:
        rest, parent = waiting.pop()
        first, *rest_of_chain = _split(rest, ARROW, 1)
        if parent is not None and not rest_of_chain and (forks := _forks(first)):
            waiting += [(fork, parent) for fork in reversed(forks)]
            continue
        parents.append(parent)
        names.append(first.strip())
        waiting += [(more, len(names) - 1) for more in rest_of_chain]
    return Chain(tuple(names), tuple(parents))


def _forks(text: str) -> list[str]:
    """Return the comma-separated parts of a text in brackets; [] if it is not such a list."""
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return []
    parts = _split(text[1:-1], ", ")
    return parts if len(parts) > 1 else []


def _split(text: str, separator: str, max_splits: int = -1) -> list[str]:
    """Split a text at separators outside brackets, at most `max_splits` times (-1: no limit)."""
    parts: list[str] = []
    start = depth = at = 0
    while at < len(text) and len(parts) != max_splits:
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth = max(depth - 1, 0)
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            at = start = at + len(separator)
        else:
            at += 1
    return [*parts, text[start:]]


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
