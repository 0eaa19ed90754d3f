"""Faults: good documents spoilt in the ways that files get spoilt; what comes out is bytes."""

import gzip
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.hardening import values

WORDS = re.compile(r"\"[^\"\n]{1,40}\"|[A-Za-z_][\w.:-]*|[0-9.]+")
JUNK = (
    *('""', "null", "true", "-1", "0", "1e999", "NaN", "9" * 400, "1.5", "2001-99-99", "\x00"),
    *("[]", "{}", "[[]]", '{"a": 1}', "<a/>", "&a;", "*a", "&a", "<<", "!!int", "!!timestamp x"),
    *("!!python/object/apply:os.system [echo]", "!!binary x", "none", "-->", "<--", "->", "--"),
    *(
        "0x" + "f" * 5000,
        "1" * 4000,
        "-0.0",
        "5e-324",
        "inf",
        "-inf",
        "nan",
        "1979-05-27T07:32:00Z",
    ),
    *("\ufeff", "\u2028", "\ud7ff", "\U0001f600", "a\nb", "\\", '"', "'", "]]>", "<!--", "/*"),
    *("nobody", "9999999", "__x", "$x$", ":type", "id", "name"),
)
"""What takes the place of a word."""


@dataclass(frozen=True)
class Document:
    """A file by what it is called and what is in it."""

    name: str
    data: bytes


Fault = Callable[[bytes, random.Random], bytes]


def _flip(data: bytes, chance: random.Random) -> bytes:
    """Change some bytes."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        if result:
            result[chance.randrange(len(result))] = chance.randrange(256)
    return bytes(result)


def _truncate(data: bytes, chance: random.Random) -> bytes:
    """Leave out the end, or the beginning."""
    at = chance.randint(0, len(data))
    return data[:at] if chance.random() < 0.8 else data[at:]


def _remove(data: bytes, chance: random.Random) -> bytes:
    """Leave out some bytes, or a line."""
    if chance.random() < 0.5:
        lines = data.split(b"\n")
        del lines[chance.randrange(len(lines))]
        return b"\n".join(lines)
    at = chance.randint(0, len(data))
    return data[:at] + data[at + chance.choice((1, 2, 20)) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    """Repeat a part of it, often or once."""
    a, b = sorted(chance.randint(0, len(data)) for _ in "ab")
    part = data[a : min(b, a + 200)]
    return data[:a] + part * chance.choice((2, 2, 50)) + data[a:]


def _replace_word(data: bytes, chance: random.Random) -> bytes:
    """Put something else, or another word of it, in place of a word."""
    text = data.decode(errors="replace")
    words = [*WORDS.finditer(text)]
    if not words:
        return data
    word = chance.choice(words)
    other = chance.choice(JUNK) if chance.random() < 0.5 else chance.choice(words).group()
    return (text[: word.start()] + other + text[word.end() :]).encode(errors="replace")


def _swap_words(data: bytes, chance: random.Random) -> bytes:
    """Exchange one word for another everywhere: missing ends, cycles, duplicates."""
    text = data.decode(errors="replace")
    words = sorted({word.group() for word in WORDS.finditer(text)})
    if not words:
        return data
    return text.replace(chance.choice(words), chance.choice(words)).encode(errors="replace")


def _change_value(data: bytes, chance: random.Random) -> bytes:
    """Make something in JSON wrong, see `values`; what is not JSON gets a word replaced."""
    before, line, after = _line_of(data, chance)
    return before + _change_json(line, chance) + after


def _line_of(data: bytes, chance: random.Random) -> tuple[bytes, bytes, bytes]:
    """Return what is before it, a line of JSON lines, and what is after; else it all."""
    if not data.startswith(b"{") or b"}\n{" not in data:
        return b"", data, b""
    lines = data.split(b"\n")
    i = chance.randrange(len(lines) - 1)
    return b"".join(one + b"\n" for one in lines[:i]), lines[i], b"\n" + b"\n".join(lines[i + 1 :])


def _change_json(data: bytes, chance: random.Random) -> bytes:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return _replace_word(data, chance)
    try:
        return values.text_of(values.spoil(value, chance)).encode()
    except (ValueError, RecursionError):  # an earlier fault's number of too many digits, or nest
        return data[: len(data) // 2]


def _nest(data: bytes, chance: random.Random) -> bytes:
    """Put a deep nest somewhere."""
    at = chance.randint(0, len(data))
    opening = chance.choice((b"[", b"{", b'{"a":', b"<a>", b"(", b"- ", b"subgraph {"))
    return data[:at] + opening * chance.choice((10, 900, 2_000)) + data[at:]


def _zip(data: bytes, chance: random.Random) -> bytes:
    """Zip it, and flip bytes of that now and then."""
    zipped = gzip.compress(data, 1, mtime=0)
    return zipped if chance.random() < 0.5 else _flip(zipped, chance)


BYTES: tuple[Fault, ...] = (_flip, _truncate, _remove, _repeat, _nest, _zip)
"""Faults of any file."""
FAULTS: tuple[Fault, ...] = (
    *BYTES,
    *(_replace_word, _replace_word, _swap_words, _swap_words),
    *(_change_value, _change_value, _change_value, _change_value, _change_value, _change_value),
)
"""Faults of text."""
