"""Writer of YAML that all parsers read in the same way: ambiguous text is quoted.

YAML 1.1, YAML 1.2 and go-yaml differ in what they take for a number or a boolean: ``1e3``,
``0o17``, ``61e9540`` and ``y`` are text to some of them only.
"""

import re
from collections.abc import Iterable
from typing import Any

import yaml

TEXT = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
WORDS = frozenset(
    ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity")
)
"""Words that some parsers read as a boolean, null or a number."""
MAX_LINE = 1 << 31  # characters; so that text is never folded


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper, with quotes around ambiguous text."""


def _scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = TEXT.fullmatch(text) and text.lower() not in WORDS
    single = text.isprintable() and "'" not in text
    style = None if plain else "'" if single else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _scalar)


def to_yaml(documents: Iterable[Any], *, marked: bool = False) -> str:
    """Return documents as YAML, with keys in their order.

    Parameters
    ----------
    marked
        Begin each document with ``---``.
    """
    text_of_all = yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        explicit_start=marked,
        width=MAX_LINE,
    )
    return str(text_of_all)


def to_scalar(text: str) -> str:
    """Return text as one line that is valid anywhere in YAML, lists in brackets included."""
    return to_yaml([text]).removesuffix("\n").removesuffix("\n...")
