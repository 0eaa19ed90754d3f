"""Several graphs as one, whose parts are not connected."""

from collections.abc import Iterable, Sequence

import numpy as np

from streamplace.policy.giph.kernels.view import View
from streamplace.util.arrays import Ints


def union(views: Sequence[View]) -> View:
    """Return the graphs as one, in their order; a single one is returned as it is."""
    if len(views) == 1:
        return views[0]
    nodes = _offsets(len(one.pair) for one in views)
    edges = _offsets(len(one.source) for one in views)
    operators = _offsets(len(one.order) for one in views)
    streams = _offsets(len(one.inward) for one in views)

    def joined(field: str, offsets: Ints) -> Ints:
        parts = [getattr(one, field) + at for one, at in zip(views, offsets, strict=False)]
        return np.concatenate(parts).astype(np.int32)

    def starts(field: str, offsets: Ints) -> Ints:
        parts = [getattr(one, field)[:-1] + at for one, at in zip(views, offsets, strict=False)]
        return np.concatenate([*parts, offsets[-1:]]).astype(np.int32)

    return View(
        pair=np.concatenate([one.pair for one in views]),
        x=np.concatenate([one.x for one in views]),
        source=joined("source", nodes),
        target=joined("target", nodes),
        f=np.concatenate([one.f for one in views]),
        order=joined("order", operators),
        first=starts("first", nodes),
        first_in=starts("first_in", streams),
        inward=joined("inward", streams),
        first_out=starts("first_out", streams),
        outward=joined("outward", streams),
        block=starts("block", edges),
    )


def _offsets(lengths: Iterable[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int32)
