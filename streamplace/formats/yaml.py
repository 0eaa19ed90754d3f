"""YAML as JSON values: a parser that expands nothing, and a writer that quotes ambiguous text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.scanner import ScannerError

from streamplace.errors import FormatError
from streamplace.util.text import DECIMAL

MAX_DEPTH = 50  # of brackets
MAX_LEVELS = 100  # of lists and objects, so that they can also be written; real ones have about 20
MAX_BRACKETS = 10_000
"""Largest number of lists and objects in brackets: they take 0.25 s, and 3 MB of them a minute."""
TEXT = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
WORDS = frozenset(
    ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity")
)
"""Words that some parsers read as a boolean, null or a number."""
MAX_LINE = 1 << 31  # characters; so that text is never folded

TEMPLATE = "; if this is a template, with {{ … }}, render it first"
"""What a fault may have to do with, as in a chart of Helm."""

_CORE = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}", re.ASCII)
_TRUE = ("yes", "true", "on")


class _LimitError(ScannerError):
    """YAML that exceeds a limit of streamplace's."""


class _Loader(yaml.SafeLoader):
    """PyYAML's loader with limits on brackets, in each of which it looks far ahead."""

    _brackets = 0

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 - PyYAML's name
        if self.flow_level >= MAX_DEPTH:
            message = f"brackets nested more than {MAX_DEPTH} deep"
            raise _LimitError(None, None, message, self.get_mark())
        self._brackets += 1
        if self._brackets > MAX_BRACKETS:
            message = f"more than {MAX_BRACKETS:,} lists and objects in brackets"
            raise _LimitError(None, None, message, self.get_mark())
        super().fetch_flow_collection_start(TokenClass)


@dataclass(frozen=True)
class YamlDocument:
    """One of the documents in a YAML file.

    Parameters
    ----------
    start, end
        What is written between its ``---`` and the next one: positions in the text of the file.
    """

    start: int
    end: int
    where: str
    root: yaml.Node

    def has(self, *path: str) -> bool:
        """Return whether there is an object at a path of keys."""
        return isinstance(self._at(path), yaml.MappingNode)

    def text_at(self, *path: str) -> str | None:
        """Return the scalar at a path of keys as text; None if there is none."""
        node = self._at(path)
        return str(node.value) if isinstance(node, yaml.ScalarNode) else None

    def _at(self, path: Sequence[str]) -> yaml.Node | None:
        node: yaml.Node | None = self.root
        for name in path:
            if not isinstance(node, yaml.MappingNode):
                return None
            node = next((item for key, item in node.value if key.value == name), None)
        return node

    def value(self) -> Any:
        """Return its value; see `parse_yaml`."""
        return _value(self.root, self.where, set())


def yaml_documents(text: str, where: str) -> list[YamlDocument]:
    """Return the documents in a text, whose values may have what `parse_yaml` refuses.

    Raises
    ------
    FormatError
        If the text is not YAML, or is nested too deeply.
    """
    found: list[YamlDocument] = []
    with _faults_of_yaml(text, where):
        loader: Any = _Loader(text)
        while loader.check_node():
            started = loader.peek_event()
            start = started.end_mark.index if started.explicit or found else 0
            root = loader.get_node()
            found.append(YamlDocument(start, root.end_mark.index, where, root))
    return found


def parse_yaml(text: str, where: str) -> Any:
    """Parse one YAML document; scalars other than numbers, booleans and null are text.

    Raises
    ------
    FormatError
        If the text is not YAML, or has duplicate keys, keys that are not text, aliases or tags, or
        is nested too deeply.
    """
    with _faults_of_yaml(text, where):
        root = yaml.compose(text, Loader=_Loader)
    if root is None:
        raise FormatError(f"{where}: is empty")
    return _value(root, where, set())


@contextmanager
def _faults_of_yaml(text: str, where: str) -> Iterator[None]:
    """Raise FormatError where PyYAML cannot read a text."""
    hint = TEMPLATE if "{{" in text else ""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at {_place(mark)}" if mark else ""
        fault = "" if isinstance(error, _LimitError) else "not YAML: "
        raise FormatError(f"{where}: {fault}{error.problem}{place}{hint}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an escape that is not a character
        raise FormatError(f"{where}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply") from None


def _value(node: yaml.Node, where: str, visited: set[int], level: int = 0) -> Any:
    if level > MAX_LEVELS:
        raise FormatError(f"{where}: nested too deeply")
    place = f"{where}: {_place(node.start_mark)}"
    if id(node) in visited:
        raise FormatError(f"{place}: aliases (*) are not allowed; write out the value")
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        _refuse_tag(node, "map", place)
        return _object(node, where, visited, level)
    if isinstance(node, yaml.SequenceNode):
        _refuse_tag(node, "seq", place)
        return [_value(item, where, visited, level + 1) for item in node.value]
    return _scalar(node.tag.removeprefix(_CORE), node.value, place)


def _object(node: yaml.MappingNode, where: str, visited: set[int], level: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in node.value:
        place = f"{where}: {_place(key.start_mark)}"
        if not isinstance(key, yaml.ScalarNode):
            hint = TEMPLATE if isinstance(key, yaml.MappingNode) else ""
            raise FormatError(f"{place}: keys must be text{hint}")
        if key.value in found:
            raise FormatError(f"{place}: key {key.value!r:.40} appears twice in one object")
        found[key.value] = _value(item, where, visited, level + 1)
    return found


def _refuse_tag(node: yaml.Node, kind: str, place: str) -> None:
    if node.tag != _CORE + kind:
        raise FormatError(f"{place}: tags are not allowed (got {node.tag!r:.40})")


def _scalar(tag: str, text: str, place: str) -> Any:
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() in _TRUE
    if tag == "int" and _INTEGER.fullmatch(text):
        return int(text)
    if tag == "float" and DECIMAL.fullmatch(text):
        return float(text)
    if tag in ("str", "int", "float", "timestamp", "merge", "value"):
        return text
    raise FormatError(f"{place}: tags are not allowed (got {tag!r:.40})")


def _place(mark: Any) -> str:
    return f"line {mark.line + 1} column {mark.column + 1}"


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper, with quotes around ambiguous text."""


def _written_scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = TEXT.fullmatch(text) and text.lower() not in WORDS
    single = text.isprintable() and "'" not in text
    style = None if plain else "'" if single else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _written_scalar)


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
