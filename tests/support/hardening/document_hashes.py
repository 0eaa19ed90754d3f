"""Hashes of the bad files of every reader."""

import warnings
from collections.abc import Iterator
from hashlib import sha256

from benchmarks.hardening.mutation.numbered_documents import COUNT, ENCODINGS_AT, bad_document
from benchmarks.hardening.targets.parsers import PARSERS


def hashes() -> Iterator[str]:
    """Yield the name of each reader with a hash over some of its bad files."""
    for name, parser in PARSERS.items():
        documents, found = parser.documents(), sha256()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # creating bad arrays warns, which is an error in tests
            for number in range(ENCODINGS_AT, COUNT, 499):
                found.update(bad_document(documents, number, 3, parser.faults).data)
        yield f"{name} {found.hexdigest()}"
