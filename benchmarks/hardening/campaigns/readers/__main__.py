"""Reproduction of one try of the campaign: a bad file is written, and read by its reader.

python -m benchmarks.hardening.campaigns.readers READER NUMBER [SEED]
"""

import sys
from pathlib import Path

from benchmarks.hardening.mutation.numbered_documents import bad_document
from benchmarks.hardening.targets.parsers import PARSERS
from streamplace.errors import StreamplaceError


def main() -> int:
    """Write a bad file into the current folder, read it, and print the result."""
    name, number, *seed = sys.argv[1:]
    parser = PARSERS[name]
    seed_value = int(seed[0]) if seed else 0
    document = bad_document(parser.documents(), int(number), seed_value, parser.faults)
    Path(document.name).write_bytes(document.data)
    print(f"{document.name}: {len(document.data):,} bytes: {document.data[:300]!r}")
    try:
        value = parser.read("." if parser.takes_folder else document.name)
        print(f"{value!r:.300}")
        parser.use(value)
    except StreamplaceError as error:
        print(error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
