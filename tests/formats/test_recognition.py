"""Recognition of formats by content, and by the name of a file."""

import pytest

from streamplace.formats.recognition import HEAD, kind_of_text, kind_of_value
from tests.corpus.engine_documents import DOCUMENTS
from tests.support.guards import hang_guard


@pytest.mark.parametrize(
    "text",
    [
        "DIGRAPH Job { a -> b }",
        "Strict DiGraph{ a -> b }",
        "// a job\ndigraph { a -> b }",
        "/* a\n * job */ digraph { a -> b }",
        "# a job\n\ndigraph job\n{ a -> b }",
        "digraph my-job.2 { a -> b }",
        'digraph "my \\"job\\" {" { a -> b }',
        "digraph <my <b>job</b>> { a -> b }",
    ],
)
def test_dot_is_recognised_in_any_spelling(text: str) -> None:
    assert kind_of_text("job.txt", text) == "dot"


@pytest.mark.parametrize(
    "text",
    [
        "ir_version: 8\ngraph {\n  node { }\n}\n",  # ONNX as text
        "A digraph {is a graph}",
        "# digraph {}\nname: job",
        "digraphs { a }",
        "options:\n  verbose: true\n",
        "blocks:\n- name: a\n",
        "bolts:\n  M8: 20\n",
        "<html><body>see <graphml> and <net></body></html>",
    ],
)
def test_texts_of_no_known_format(text: str) -> None:
    assert kind_of_text("job.txt", text) is None


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": {}, "parallelism": 1},
        {"nodes": [], "parallelism": 1},
        {"nodes": [{"id": "a", "parallelism": 1}], "edges": []},
        {"nodes": {}, "flinkVersion": "2.3"},
        {"nodes": {}, "maxFPGAs": 1},
        {"spouts": 2, "bolts": 3},
        {"visualization": "bars"},
        {"visualization": {"kind": "bars"}},
        {"operators": [{"name": "a"}], "outputs": []},
        {"operators": [], "streams": []},
    ],
)
def test_values_of_no_known_format(value: object) -> None:
    assert kind_of_value(value) is None


def test_content_decides_before_the_name_of_the_file() -> None:
    assert kind_of_text("job.dot", DOCUMENTS["graphml"][0]) == "graphml"


@pytest.mark.parametrize(
    "begin", ["", "graph", 'graph "', "strict", "options:", "5\n", "<", "<!--", "/*"]
)
@pytest.mark.parametrize(
    "repeated", ["\n", " ", "graph\n", "a", "1, ", "options:\n", "<!-- >", "<?"]
)
def test_formats_are_looked_for_in_linear_time(begin: str, repeated: str) -> None:
    with hang_guard():
        kind_of_text("job", begin + HEAD * repeated)
