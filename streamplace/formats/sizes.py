"""Sizes that a user states for tensors whose shapes a file leaves open."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamplace.errors import UsageError
from streamplace.problem.graph_checks import NAMES_SHOWN, listed
from streamplace.util.suggest import did_you_mean
from streamplace.util.text import counted

SHAPE = re.compile(r"[0-9]{1,12}(?:x[0-9]{1,12})*|scalar")
Axis = int | str | None
"""The size of an axis, the name of a size that is open, or None: open and without a name."""


def shape_from(text: str) -> tuple[tuple[int, ...], str | None]:
    """Return the shape and the type in a text such as ``1x3x224x224`` or ``1x128:int64``.

    The shape of ``scalar`` is empty; the type is None if there is none.

    Raises
    ------
    UsageError
        If the text has another form, or a size is 0.
    """
    sizes, colon, kind = text.partition(":")
    if not SHAPE.fullmatch(sizes):
        form = "must be sizes and perhaps a type, such as 1x3x224x224 or 1x128:int64"
        raise UsageError(f"--input: {form} (got {text!r:.60})")
    shape = () if sizes == "scalar" else tuple(map(int, sizes.split("x")))
    if 0 in shape:
        raise UsageError(f"--input: sizes must be at least 1 (got {text!r:.60})")
    return shape, kind if colon else None


@dataclass(frozen=True)
class Input:
    """An input of a model in a file.

    Parameters
    ----------
    axes
        Its axes; None: their number is open.
    """

    name: str
    axes: Sequence[Axis] | None

    def dimension(self, i: int) -> str:
        """Return the name of an open dimension: its own, or the input with the axis."""
        own = self.axes[i] if self.axes is not None else None
        return own if isinstance(own, str) else f"{self.name}[{i}]"

    @property
    def open(self) -> list[str]:
        """The names of its open dimensions."""
        return [
            self.dimension(i) for i, axis in enumerate(self.axes or ()) if type(axis) is not int
        ]


@dataclass(frozen=True)
class Sizes:
    """What a user states.

    Parameters
    ----------
    shapes
        The shape of each input, such as ``1x3x224x224``, in the order of the file; empty: as there.
    dims
        Name of an open dimension -> the size.
    """

    shapes: Sequence[str] = ()
    dims: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.shapes or self.dims)

    def of(
        self, inputs: Sequence[Input], where: str, others: Collection[str] = ()
    ) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
        """Return open dimension -> the size, and input -> its shape, as far as they are stated.

        Parameters
        ----------
        others
            Names of open dimensions that no input has.

        Raises
        ------
        UsageError
            If no tensor has a dimension of that name, or the shapes do not fit the inputs.
        """
        known = dict.fromkeys([*(name for each in inputs for name in each.open), *others])
        for name in self.dims:
            if name not in known:
                has = f"has {listed([*known])}" if known else "has no open dimensions"
                meant = did_you_mean(name, [*known])
                raise UsageError(
                    f"{where}: --dim: no dimension is named {name!r:.40}; the file {has}{meant}"
                )
        if not self.shapes:
            return dict(self.dims), {}
        if len(self.shapes) != len(inputs):
            count, names = counted(len(inputs), "input"), listed(each.name for each in inputs)
            raise UsageError(
                f"{where}: --input: the file has {count}, {names}, so it is "
                f"given {len(inputs):,} times or not at all (got {len(self.shapes)})"
            )
        found, shapes = dict(self.dims), {}
        for each, text in zip(inputs, self.shapes, strict=True):
            shapes[each.name] = _fitting(each, text, found, where)
        return found, shapes


NO_SIZES = Sizes()
"""What a user states who states nothing."""


def _fitting(each: Input, text: str, found: dict[str, int], where: str) -> tuple[int, ...]:
    """Return the shape that a text states for an input; add its open dimensions to those found."""
    shape, kind = shape_from(text)
    place = f"{where}: --input: input {each.name!r:.40}"
    if kind is not None:
        raise UsageError(
            f"{place}: the file states the type of its elements; leave out ':{kind:.40}'"
        )
    if each.axes is None:
        return shape
    if len(shape) != len(each.axes):
        raise UsageError(f"{place}: has {counted(len(each.axes), 'dimension')} (got {text!r:.60})")
    for i, (axis, size) in enumerate(zip(each.axes, shape, strict=True)):
        stated = axis if isinstance(axis, int) else found.setdefault(each.dimension(i), size)
        if stated != size:
            raise UsageError(f"{place}: {each.dimension(i)!r:.40} is {stated} (got {size})")
    return shape


def open_dimensions(inputs: Iterable[Input], stated: Sizes) -> list[str]:
    """Return a note on the dimensions of inputs that are still open, if there are any."""
    if stated.shapes:
        return []
    inputs = [*inputs]
    notes = []
    if unranked := [each.name for each in inputs if each.axes is None]:
        notes.append(
            f"the file does not state the shape of input {listed(unranked)}, so sizes and work "
            "that depend on it are unknown; state the shape of each input with --input"
        )
    where = {name: each.name for each in reversed(inputs) for name in each.open}
    where = {name: of for name, of in where.items() if name not in stated.dims}
    if not where:
        return notes
    names = [name for each in inputs for name in each.open if name in where]
    names = [*dict.fromkeys(names)]
    options = " ".join(f"--dim {shlex.quote(f'{name}=1')}" for name in names[:NAMES_SHOWN])
    several = len(names) > 1
    notes.append(
        f"dimension{'s' if several else ''} {listed(names)} of input "
        f"{listed(dict.fromkeys(where[name] for name in names))} {'are' if several else 'is'} not "
        f"fixed, so sizes and work that depend on {'them' if several else 'it'} are unknown; state "
        f"{'them' if several else 'it'}, as in {options}"
    )
    return notes
