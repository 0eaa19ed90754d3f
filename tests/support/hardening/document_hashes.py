"""Hashes of the bad files of every reader."""

import warnings
from collections.abc import Iterator
from hashlib import sha256

from benchmarks.hardening.mutation.numbered_documents import COUNT, ENCODINGS_AT, bad_document
from benchmarks.hardening.targets.parsers import PARSERS


def hashes() -> Iterator[str]:
    """Yield a hash over some of the files of each reader."""
    for name, parser in PARSERS.items():
        documents, found = parser.documents(), sha256()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of bad arrays being made; elsewhere they are errors
            for number in range(ENCODINGS_AT, COUNT, 499):
                found.update(bad_document(documents, number, 3, parser.faults).data)
        yield f"{name} {found.hexdigest()}"
