"""What a format of another program is: how its files are recognised, read and written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from streamplace.errors import UsageError
from streamplace.formats.sizes import Sizes
from streamplace.problem.cluster import Cluster
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement

Note: TypeAlias = Callable[[Placement], str]
"""Returns a sentence about a placement; empty if there is nothing to say."""


@dataclass(frozen=True)
class Signs:
    """What files of a format have, and those of others lack.

    Parameters
    ----------
    endings
        Ends of the names of files, such as ``.dot``. They count only if no content is recognised.
    text
        What the beginning of a text contains. It must be found in linear time.
    fields
        Sets of fields; the JSON object of a file has all fields of one of them. ``nodes[].id`` is a
        field of the first object in a list, and ``*.id`` one of any object inside.
    around
        Fields whose value may be the whole document, as in the answers of a server.
    """

    endings: tuple[str, ...] = ()
    text: re.Pattern[str] | None = None
    fields: tuple[frozenset[str], ...] = ()
    around: tuple[str, ...] = ()

    def in_name(self, name: str) -> bool:
        """Return whether the name of a file has one of the endings."""
        return name.lower().endswith(self.endings)

    def in_text(self, head: str) -> bool:
        """Return whether the beginning of a text has what such files contain."""
        return self.text is not None and self.text.search(head) is not None

    def in_value(self, value: Mapping[str, Any]) -> bool:
        """Return whether a JSON object has the fields, itself or within one of those around it."""
        inner = [value[key] for key in self.around if isinstance(value.get(key), dict)]
        return any(
            all(_has(each, field) for field in fields)
            for each in (value, *inner)
            for fields in self.fields
        )


def _has(value: Mapping[str, Any], field: str) -> bool:
    first, _, last = field.rpartition(".")
    if not first:
        return last in value
    if first == "*":
        return any(isinstance(member, dict) and last in member for member in value.values())
    members = value.get(first.removesuffix("[]"))
    return (
        isinstance(members, list)
        and len(members) > 0
        and isinstance(members[0], dict)
        and last in members[0]
    )


@dataclass(frozen=True)
class Format:
    """A format of another program.

    A module that reads or writes a format declares one, and registers it by an entry point in the
    group ``streamplace.formats``.

    Parameters
    ----------
    name
        What ``import --from`` and ``export --to`` call it.
    about
        Program and kind of file, for the help of these commands: at most 78 characters.
    read
        Returns the graph of a text; its arguments are the text and the name of its file. Raises
        `FormatError` if the text is not valid.
    read_bytes
        The same for files that are not text.
    read_sized
        Beside `read` or `read_bytes`, the same with a third argument: what the user states where a
        file leaves the sizes of tensors open.
    read_code
        Returns the graph of code that a user named, not of a file. Its arguments are the name
        ``module:Class``, the shapes of the inputs, and a seed.
    read_cluster
        Returns the cluster that a text describes, and what was assumed or left out, a sentence
        each; its arguments are those of `read`. Such files state no speeds: the ``mips`` of a
        device is the share of its cores' speed that is free, 1 for all of it.
    write
        Returns the text of a placement. Raises `ProblemError` if the format cannot express it.
    signs
        How its files are recognised where another format, or a file of streamplace, is expected.
    has_cluster, has_placement
        Whether its files come with a cluster, and record where operators ran.
    states_count
        Whether a cluster in its files has a certain number of devices; otherwise they are equal,
        and the user says how many there are.
    comment
        How a comment begins in what is written, such as ``# ``; None if there are no comments.
    needs_placement
        Whether what is written depends on the placement; otherwise `write` also takes None.
    losses, assumptions
        What a written file loses of a placement, and what it assumes.
    """

    name: str
    about: str = ""
    read: Callable[[str, str], LogicalGraph] | None = None
    read_bytes: Callable[[bytes, str], LogicalGraph] | None = None
    read_sized: Callable[[Any, str, Sizes], LogicalGraph] | None = None
    read_code: Callable[[str, Sequence[str], int], LogicalGraph] | None = None
    read_cluster: Callable[[str, str], tuple[Cluster, list[str]]] | None = None
    write: Callable[[Any], str] | None = None
    signs: Signs = Signs()
    has_cluster: bool = False
    has_placement: bool = False
    states_count: bool = True
    comment: str | None = None
    needs_placement: bool = True
    losses: tuple[Note, ...] = ()
    assumptions: tuple[Note, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether `import` can read it."""
        readers = (self.read, self.read_bytes, self.read_code, self.read_cluster)
        return any(each is not None for each in readers)

    @property
    def makes(self) -> str:
        """What `import` makes of its files: ``graph`` or ``cluster``."""
        return "graph" if self.read_cluster is None else "cluster"

    @property
    def writes(self) -> bool:
        """Whether `export` can write it."""
        return self.write is not None

    def lost(self, placement: Placement) -> list[str]:
        """Return what is lost of a placement, one sentence a fact."""
        return [sentence for find in self.losses if (sentence := find(placement))]

    def assumed(self, placement: Placement) -> list[str]:
        """Return what is assumed about a placement, one sentence a fact."""
        return [sentence for find in self.assumptions if (sentence := find(placement))]

    def text_of(self, placement: Placement | None) -> str:
        """Return the text of a placement, with what is lost and assumed as comments.

        There is no placement for a format that does not depend on it.

        Raises
        ------
        UsageError
            If there is no writer.
        ProblemError
            If the format cannot express the placement.
        """
        if self.write is None:
            raise UsageError(f"format {self.name!r} has no writer")
        text = self.write(placement)
        return text if placement is None else self.commented(text, placement)

    def commented(self, text: str, placement: Placement) -> str:
        """Return a written text with what is lost and assumed as comments, if it may have any."""
        if self.comment is None:
            return text
        notes = [f"Lost: {each}" for each in self.lost(placement)]
        notes += [f"Assumed: {each}" for each in self.assumed(placement)]
        return "".join(f"{self.comment}{note}\n" for note in notes) + text
