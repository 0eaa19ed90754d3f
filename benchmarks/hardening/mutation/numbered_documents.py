"""Bad documents by number: each can be regenerated from its reader, number and seed."""

import gzip
import random
from functools import cache
from itertools import count

from benchmarks.hardening.corpus.document import Document
from benchmarks.hardening.corpus.malformed_texts import BOMBS, MALFORMED
from benchmarks.hardening.mutation.encodings import ENCODINGS
from benchmarks.hardening.mutation.text_files import TEXT_FAULTS, Fault
from streamplace.files.reading import GZIP

COUNT = 20_000
"""Number of bad documents of each reader in the whole campaign."""
MAX_OFFSETS = 6000  # at which the documents of a reader are truncated
BOMBS_AT = len(MALFORMED)
ENCODINGS_AT = BOMBS_AT + len(BOMBS)
CUT_AT = ENCODINGS_AT + len(ENCODINGS)
"""The first numbers of bombs, of other encodings, and of truncated documents, respectively."""


def bad_document(
    documents: tuple[Document, ...],
    number: int,
    seed: int = 0,
    faults: tuple[Fault, ...] | None = None,
) -> Document:
    """Return a bad document, which differs from all valid ones.

    The first numbers are those of `MALFORMED` and `BOMBS`; then follow the first document in other
    encodings, and the truncations of `cuts`. All further numbers are those of valid documents with
    one to three random mutations. Mutations also replace a change that has no effect.

    Parameters
    ----------
    documents
        The valid documents of a reader.
    faults
        The mutations; None means those of text.
    """
    good = {(document.name, document.data) for document in documents}
    for attempt in count():
        made = None if attempt else _listed(documents, number)
        made = made or _faulty(documents, random.Random(f"{seed}:{number}:{attempt}"), faults)
        if (made.name, made.data) not in good:
            return made
    raise AssertionError("unreachable: the loop is endless")


@cache
def cuts(documents: tuple[Document, ...]) -> list[tuple[Document, int]]:
    """Return the documents to truncate, each with an offset: at most 6,000 pairs.

    The smallest document is truncated at every offset, and so are larger ones while the limit
    allows. If the smallest one is longer than the limit, it is truncated at 6,000 evenly spaced
    offsets.
    """
    pairs: list[tuple[Document, int]] = []
    for one in sorted(documents, key=lambda document: len(document.data)):
        length = len(one.data)
        if not pairs and length > MAX_OFFSETS:
            return [(one, i * length // MAX_OFFSETS) for i in range(MAX_OFFSETS)]
        if len(pairs) + length > MAX_OFFSETS:
            break
        pairs += [(one, i) for i in range(length)]
    return pairs


def cut_numbers(documents: tuple[Document, ...]) -> range:
    """Return the numbers of the truncations of the smallest document."""
    smallest = min(len(document.data) for document in documents)
    return range(CUT_AT, CUT_AT + min(smallest, MAX_OFFSETS))


def _listed(documents: tuple[Document, ...], number: int) -> Document | None:
    """Return the document of a number; None if it has random mutations."""
    name = documents[0].name
    if number < BOMBS_AT:
        return Document(name, MALFORMED[number].encode(errors="surrogatepass"))
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
    documents: tuple[Document, ...], rng: random.Random, faults: tuple[Fault, ...] | None
) -> Document:
    one = rng.choice(documents)
    inside = one.data[:2] == GZIP and rng.random() < 0.8
    data = gzip.decompress(one.data) if inside else one.data
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(faults or TEXT_FAULTS)(data, rng)
    return Document(one.name, gzip.compress(data, 1, mtime=0) if inside else data)
