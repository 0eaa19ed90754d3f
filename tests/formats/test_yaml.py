"""Written YAML: text stays text for parsers of all versions."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import FormatError
from streamplace.formats.yaml import parse_yaml, to_scalar, to_yaml

NUMBERS = [
    "1e3",
    "12e4",
    "0o17",
    "61e9540",
    "0x1f",
    "1_000",
    "12:30:45",
    ".5",
    "+1",
    "-.inf",
    ".nan",
]
WORDS = ["y", "N", "Yes", "no", "on", "OFF", "True", "false", "null", "Null", "~", "NaN", "inf", ""]
CORE = re.compile(  # numbers, booleans and null of YAML 1.2's core schema, and YAML 1.1's booleans
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    r"|~|null|Null|NULL|(?i:y|n|yes|no|on|off|true|false)|"
)
texts = st.one_of(
    st.text(), st.from_regex(CORE, fullmatch=True), st.sampled_from([*NUMBERS, *WORDS, "- a", "#"])
)


@pytest.mark.parametrize(
    "text", [*NUMBERS, *WORDS, "300m", "2001-01-01", "=", "<<", "a: b", "a #b"]
)
def test_ambiguous_text_is_quoted(text: str) -> None:
    assert to_scalar(text) in (f"'{text}'", f'"{text}"')


@pytest.mark.parametrize(
    "text", ["lines", "app.kubernetes.io/part-of", "d0", "a_b-c", "e3", "nope"]
)
def test_unambiguous_text_is_not_quoted(text: str) -> None:
    assert to_scalar(text) == text


@given(st.lists(texts), st.dictionaries(texts, texts))
def test_round_trip(items: list[str], pairs: dict[str, str]) -> None:
    assert yaml.safe_load(to_yaml([{"items": items, "pairs": pairs}])) == {
        "items": items,
        "pairs": pairs,
    }
    assert yaml.safe_load(f"a:\n  b: [{', '.join(map(to_scalar, items))}]")["a"]["b"] == items


@given(texts)
def test_unquoted_text_is_never_a_number(text: str) -> None:
    written = to_scalar(text)
    assert "\n" not in written
    assert written[0] in "'\"" or not CORE.fullmatch(written)


@pytest.mark.parametrize("text", ["name: {{ .Release.Name }}", "a: 1\n{{- if .Values.x }}\nb: 2\n"])
def test_templates_are_named(text: str) -> None:
    """As of Helm; braces begin an object in YAML."""
    with pytest.raises(FormatError, match=r"if this is a template, with \{\{ … \}\}, render it"):
        parse_yaml(text, "f.yaml")
    with pytest.raises(FormatError, match=r"^f\.yaml: not YAML: [^{]*$"):
        parse_yaml("a: 1\n{ b\n", "f.yaml")
