"""Bad documents by number: each is told by its number and seed alone, so it can be made again."""

import gzip
import random
from functools import cache
from itertools import count

from benchmarks.hardening.spoiling import FAULTS, Document, Fault
from benchmarks.hardening.whole import BOMBS, ENCODINGS, WHOLE
from streamplace.files.bounded import GZIP

MOST_OFFSETS = 6000
BOMBS_AT = len(WHOLE)
ENCODINGS_AT = BOMBS_AT + len(BOMBS)
CUT_AT = ENCODINGS_AT + len(ENCODINGS)
"""The numbers from which documents are bombs, in other encodings, and cut off."""


def spoilt(
    documents: tuple[Document, ...],
    number: int,
    seed: int = 0,
    faults: tuple[Fault, ...] | None = None,
) -> Document:
    """Return a bad document, which is none of the good ones.

    First those of `WHOLE` and bombs, then the first document in other encodings, then those of
    `cuts`; from then on good ones with one to three faults, and likewise where what is at a number
    changes nothing.
    """
    good = {(document.name, document.data) for document in documents}
    for attempt in count():
        made = None if attempt else _told(documents, number)
        made = made or _faulty(documents, random.Random(f"{seed}:{number}:{attempt}"), faults)
        if (made.name, made.data) not in good:
            return made
    raise AssertionError("there is always another fault")


@cache
def cuts(documents: tuple[Document, ...]) -> list[tuple[Document, int]]:
    """Return where documents are cut off: the smallest at every offset, if it has at most 6,000.

    Larger ones too, as long as there are no more in all; a smallest that is longer is cut at 6,000
    offsets from all over.
    """
    found: list[tuple[Document, int]] = []
    for one in sorted(documents, key=lambda document: len(document.data)):
        length = len(one.data)
        if not found and length > MOST_OFFSETS:
            return [(one, i * length // MOST_OFFSETS) for i in range(MOST_OFFSETS)]
        if len(found) + length > MOST_OFFSETS:
            break
        found += [(one, i) for i in range(length)]
    return found


def cut_numbers(documents: tuple[Document, ...]) -> range:
    """Return the numbers at which the smallest document is cut off."""
    smallest = min(len(document.data) for document in documents)
    return range(CUT_AT, CUT_AT + min(smallest, MOST_OFFSETS))


def _told(documents: tuple[Document, ...], number: int) -> Document | None:
    """Return the document of a number; None where it is left to chance."""
    name = documents[0].name
    if number < BOMBS_AT:
        return Document(name, WHOLE[number].encode(errors="surrogatepass"))
    if number < ENCODINGS_AT:
        return Document(name, BOMBS[number - BOMBS_AT]())
    if number < CUT_AT:
        return Document(name, ENCODINGS[number - ENCODINGS_AT](documents[0].data))
    places = cuts(documents)
    if number < CUT_AT + len(places):
        document, at = places[number - CUT_AT]
        return Document(document.name, document.data[:at])
    return None


def _faulty(
    documents: tuple[Document, ...], chance: random.Random, faults: tuple[Fault, ...] | None
) -> Document:
    one = chance.choice(documents)
    inside = one.data[:2] == GZIP and chance.random() < 0.8
    data = gzip.decompress(one.data) if inside else one.data
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice(faults or FAULTS)(data, chance)
    return Document(one.name, gzip.compress(data, 1, mtime=0) if inside else data)
