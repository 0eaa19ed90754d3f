"""Malformed documents: decompression and entity bombs, deep nesting, unfinished texts."""

import gzip
from collections.abc import Callable

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
DEEP = 100_000  # levels of nesting
MALFORMED: tuple[str, ...] = (
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
"""Texts that are not valid documents in any format."""

BOMB = 640  # gzip members, each 16 MiB when decompressed


def _bomb(text: bytes) -> Callable[[], bytes]:
    return lambda: gzip.compress(text * (2**24 // len(text)), mtime=0) * BOMB


BOMBS: tuple[Callable[[], bytes], ...] = (
    _bomb(b"\0"),
    _bomb(b" "),
    _bomb(b"["),
    _bomb(b"[],"),
    lambda: gzip.compress(gzip.compress(b"[" * 2**26, mtime=0), mtime=0),
    lambda: b"[" + b"[]," * 2**20,
)
