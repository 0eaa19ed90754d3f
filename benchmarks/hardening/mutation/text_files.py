"""Mutations of text, and of the bytes of any file."""

import gzip
import json
import random
import re
from collections.abc import Callable

from benchmarks.hardening.mutation import json_values

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
"""Replacements for a word."""


Fault = Callable[[bytes, random.Random], bytes]


def _flip(data: bytes, rng: random.Random) -> bytes:
    """Change some bytes."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        if result:
            result[rng.randrange(len(result))] = rng.randrange(256)
    return bytes(result)


def _truncate(data: bytes, rng: random.Random) -> bytes:
    """Cut off the end, or the beginning."""
    at = rng.randint(0, len(data))
    return data[:at] if rng.random() < 0.8 else data[at:]


def _remove(data: bytes, rng: random.Random) -> bytes:
    """Delete some bytes, or a line."""
    if rng.random() < 0.5:
        lines = data.split(b"\n")
        del lines[rng.randrange(len(lines))]
        return b"\n".join(lines)
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.choice((1, 2, 20)) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    """Repeat a part."""
    a, b = sorted(rng.randint(0, len(data)) for _ in "ab")
    part = data[a : min(b, a + 200)]
    return data[:a] + part * rng.choice((2, 2, 50)) + data[a:]


def _replace_word(data: bytes, rng: random.Random) -> bytes:
    """Replace a word by junk, or by another word of the document."""
    text = data.decode(errors="replace")
    words = [*WORDS.finditer(text)]
    if not words:
        return data
    word = rng.choice(words)
    other = rng.choice(JUNK) if rng.random() < 0.5 else rng.choice(words).group()
    return (text[: word.start()] + other + text[word.end() :]).encode(errors="replace")


def _swap_words(data: bytes, rng: random.Random) -> bytes:
    """Replace one word by another everywhere: unknown names, cycles, duplicates."""
    text = data.decode(errors="replace")
    words = sorted({word.group() for word in WORDS.finditer(text)})
    if not words:
        return data
    return text.replace(rng.choice(words), rng.choice(words)).encode(errors="replace")


def _change_value(data: bytes, rng: random.Random) -> bytes:
    """Apply a mutation of `json_values` to JSON; in other text, replace a word."""
    before, line, after = _line_of(data, rng)
    return before + _change_json(line, rng) + after


def _line_of(data: bytes, rng: random.Random) -> tuple[bytes, bytes, bytes]:
    """Split JSON lines at a random line: before, line, after. Other text is a single line."""
    if not data.startswith(b"{") or b"}\n{" not in data:
        return b"", data, b""
    lines = data.split(b"\n")
    i = rng.randrange(len(lines) - 1)
    return b"".join(one + b"\n" for one in lines[:i]), lines[i], b"\n" + b"\n".join(lines[i + 1 :])


def _change_json(data: bytes, rng: random.Random) -> bytes:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return _replace_word(data, rng)
    try:
        return json_values.json_text(json_values.mutated(value, rng)).encode()
    except (ValueError, RecursionError):  # a number is too long, or the nesting too deep
        return data[: len(data) // 2]


def _nest(data: bytes, rng: random.Random) -> bytes:
    """Insert many opening brackets or tags."""
    at = rng.randint(0, len(data))
    opening = rng.choice((b"[", b"{", b'{"a":', b"<a>", b"(", b"- ", b"subgraph {"))
    return data[:at] + opening * rng.choice((10, 900, 2_000)) + data[at:]


def _zip(data: bytes, rng: random.Random) -> bytes:
    """Compress with gzip; in half of the cases, also change some bytes of the result."""
    zipped = gzip.compress(data, 1, mtime=0)
    return zipped if rng.random() < 0.5 else _flip(zipped, rng)


BYTE_FAULTS: tuple[Fault, ...] = (_flip, _truncate, _remove, _repeat, _nest, _zip)
"""Mutations of any file."""
TEXT_FAULTS: tuple[Fault, ...] = (
    *BYTE_FAULTS,
    *(_replace_word, _replace_word, _swap_words, _swap_words),
    *(_change_value, _change_value, _change_value, _change_value, _change_value, _change_value),
)
"""Mutations of text."""
