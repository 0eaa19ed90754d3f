"""One of several parts of the long tests, by file."""

import re
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

PATTERN = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


@dataclass(frozen=True)
class Part:
    """One of equally likely parts of all files; every file belongs to exactly one of them.

    Parameters
    ----------
    number, count
        The part, from 1 to the number of parts.
    """

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Return the part of a text such as ``2/3``.

        Raises
        ------
        ValueError
            If it is not such a text.
        """
        found = PATTERN.fullmatch(text)
        number, count = (int(digits) for digits in found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise ValueError(f"part must be K/N with 1 <= K <= N (got {text!r:.40})")
        return cls(number, count)

    def has(self, file: Path) -> bool:
        """Return whether a file, relative to the repository, belongs to the part."""
        return crc32(file.as_posix().encode()) % self.count == self.number - 1
