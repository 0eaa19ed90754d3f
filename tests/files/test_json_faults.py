"""Messages about text that is not JSON."""

from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph
from streamplace.files.reading import parse
from tests.support.errors import fault_of

NO_COMMENTS = 'not JSON: JSON has no comments; use a "comment" field instead'
NO_YAML = "not JSON; YAML is not supported: convert it to JSON"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\noperators:\n  - name: a\n", f"line 1: {NO_YAML}"),
        ("# a graph\n\n---\nname: x\n", f"line 3: {NO_YAML}"),
        ("- a\n- b\n", f"line 1: {NO_YAML}"),
        ("// a graph\n{}", f"line 1 column 1: {NO_COMMENTS}"),
        ("# a graph\n{}", f"line 1 column 1: {NO_COMMENTS}"),
        ('{\n  // a graph\n  "name": "x"}', f"line 2 column 3: {NO_COMMENTS}"),
        ('{"name": /* a graph */ "x"}', f"line 1 column 10: {NO_COMMENTS}"),
        ('{"name": "x" // a graph\n}', f"line 1 column 14: {NO_COMMENTS}"),
        ('{"name": "x", // a graph\n}', f"line 1 column 15: {NO_COMMENTS}"),
        ("{}\n// a graph", f"line 2 column 1: {NO_COMMENTS}"),
        ('{"a": 1,\n "b', "line 2 column 2: not JSON: unterminated string"),
        ('{"a"\n: "b\n//"}', "line 2 column 5: not JSON: control character in a string"),
        ('{"a" 1}', "line 1 column 6: not JSON: expected ':'"),
        ('{"a": 1 "b": 2}', "line 1 column 9: not JSON: expected ','"),
        ('{"a": }', "line 1 column 7: not JSON: expected a value"),
        ("{a: 1}", "line 1 column 2: not JSON: expected a name in double quotes"),
        ("{} {}", "line 1 column 4: not JSON: unexpected text after the end"),
        (r'{"a": "\x"}', r"line 1 column 8: not JSON: invalid \escape"),
    ],
)
def test_the_place_comes_before_the_reason(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(text, "x.json")
    assert fault_of(caught.value, "x.json") == message


def test_a_line_of_a_file_is_named_once(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for text, message in {"\nname: x\n": f"line 2: {NO_YAML}", "{]": "line 1: column 2: "}.items():
        file.write_text(text)
        with pytest.raises(FormatError) as caught:
            read_graph(file)
        assert fault_of(caught.value, file).startswith(message)


def test_many_lines_of_comments_are_scanned() -> None:
    with pytest.raises(
        FormatError, match=r"^x.json: line 3 column 1: not JSON: JSON has no comments"
    ):
        parse("\n \r\n# a comment\n" * 100_000 + "?", "x.json")
