"""Good documents spoilt in the ways that files get spoilt; what comes out is bytes."""

import json
import random
import re
from collections.abc import Callable, Iterator

WORDS = re.compile(r"\"[^\"\n]{1,40}\"|[A-Za-z_][\w.:-]*|[0-9.]+")
JUNK = (
    *('""', "null", "true", "-1", "0", "1e999", "NaN", "9" * 400, "1.5", "2001-99-99", "\x00"),
    *("[]", "{}", "[[]]", '{"a": 1}', "<a/>", "&a;", "*a", "&a", "<<", "!!int", "!!timestamp x"),
    *("!!python/object/apply:os.system [echo]", "!!binary x", "none", "-->", "<--", "->", "--"),
    *("\ufeff", "\u2028", "\ud7ff", "\U0001f600", "a\nb", "\\", '"', "'", "]]>", "<!--", "/*"),
    *("nobody", "9999999", "__x", "$x$", ":type", "id", "name"),
)
"""What takes the place of a word."""

XML_BOMB = (
    '<!DOCTYPE a [<!ENTITY x0 "ha">'
    + "".join(f'<!ENTITY x{i} "&x{i - 1};&x{i - 1};&x{i - 1};&x{i - 1};">' for i in range(1, 30))
    + "]><a>&x29;</a>"
)
XML_FILE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><graphml>&x;</graphml>'
YAML_BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
)
YAML_MERGES = "a0: &a0 {b0: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}], b{i}: 1}}\n" for i in range(1, 12)
)
DEEP = 20_000
WHOLE: tuple[str, ...] = (
    *(
        "",
        " \n",
        "\x00",
        "null",
        "0",
        '"a"',
        "[]",
        "{}",
        "[[]]",
        "]",
        "}",
        "\ufeff",
        "---",
        "...\n",
    ),
    *(XML_BOMB, XML_FILE, YAML_BOMB, YAML_MERGES, "a: &a [*a]", "? ? ? a", "%YAML 9.9\n--- a"),
    *("[" * DEEP, "{" * DEEP, '{"a":' * DEEP, "<a>" * DEEP, "<" * DEEP, "- " * DEEP, "? " * DEEP),
    *('"' * DEEP, "\\" * DEEP, "(" * DEEP, "/*" * DEEP, "#" * DEEP, " " * DEEP, "\n" * DEEP),
    *("digraph {" + "{" * DEEP, "digraph {" + "a->" * DEEP, "digraph a {" + "a[b=" * DEEP),
    *("digraph {" + "subgraph x {" * DEEP, 'digraph {"' + '\\"' * DEEP, "!" * DEEP, "&a " * DEEP),
    *("<graphml>" + "<graph>" * DEEP, "<graphml>" + "<node>" * DEEP + "</node>" * DEEP),
    *("Topologies:\n" + "--> a" * DEEP, "Topologies:\nSource: " + "(" * DEEP, "a: " * DEEP),
    *('{"bolts": [{"id": "a", "emitted": ' + "[" * DEEP, '{"operators": ' + "[" * DEEP),
    *('<?xml version="1.0" encoding="UTF-16"?><a/>', '<?xml version="1.0" encoding="no"?><a/>'),
    *("a: !!python/object/apply:os.system ['exit 7']", "!!set {a, b}", "a: !!timestamp x"),
)
"""Documents that are bad as a whole."""


def mutations(documents: tuple[str, ...], count: int, seed: int = 0) -> Iterator[bytes]:
    """Yield `count` bad documents: those of `WHOLE`, then good ones with one to three faults."""
    chance = random.Random(seed)
    for text in WHOLE[:count]:
        yield text.encode()
    for number in range(count - len(WHOLE)):
        data = documents[number % len(documents)].encode()
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            data = chance.choice(FAULTS)(data, chance)
        yield data


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
    """Put a value of another type into JSON, wherever; what is not JSON gets a word replaced."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return _replace_word(data, chance)
    here = [value]
    places: list[tuple[object, object]] = []
    while here:
        one = here.pop()
        keys = one.keys() if isinstance(one, dict) else range(len(one) * isinstance(one, list))
        for key in keys:
            places.append((one, key))
            if isinstance(one[key], dict | list):
                here.append(one[key])
    if places:
        holder, key = chance.choice(places)
        new: tuple[object, ...] = (
            None,
            True,
            -1,
            1e308,
            2**70,
            "",
            "x",
            [],
            {},
            [[]],
            {"a": []},
            "1",
            value,
        )
        text = json.dumps(chance.choice(new))
        holder[key] = json.loads(text) if len(text) < 10_000 else 0  # type: ignore[index]
    return json.dumps(value).encode()


def _nest(data: bytes, chance: random.Random) -> bytes:
    """Put a deep nest somewhere."""
    at = chance.randint(0, len(data))
    opening = chance.choice((b"[", b"{", b'{"a":', b"<a>", b"(", b"- ", b"subgraph {"))
    return data[:at] + opening * chance.choice((10, 2_000)) + data[at:]


FAULTS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_flip, _truncate, _remove, _repeat, _nest),
    *(_replace_word, _replace_word, _swap_words, _swap_words, _change_value, _change_value),
)
