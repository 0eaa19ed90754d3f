"""Labels, sizes and decoration of pictures that programs write as DOT."""

import pytest

from streamplace.formats.picture import first_line, text_of_html
from tests.support.documents import edges, read_document

SNAKEMAKE = """digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    node[shape=box, style=rounded, fontname=sans];
	0[label = "all", color = "0.56 0.6 0.85", style="rounded"];
	1[label = "map\\nsample: A", color = "0.00 0.6 0.85"];
	2[label = "map\\nsample: B", style="rounded,dashed"];
	1 -> 0
	2 -> 0
}"""
NEXTFLOW = """digraph "pipeline" {
v0 [shape=point,label="",xlabel="Channel.fromFilePairs"];
v1 [label="QC"];
v0 -> v1 [label="reads"];
v2 [label="REPORT"];
v1 -> v2;
}"""
TERRAFORM = """digraph {
	compound = "true"
	subgraph "root" {
		"[root] aws_lb.a (expand)" [label = "aws_lb.a", shape = "box"]
		"[root] var.b (expand)" [label = "var.b", shape = "note"]
		"[root] aws_lb.a (expand)" -> "[root] var.b (expand)"
	}
}"""


@pytest.mark.parametrize(
    ("text", "names", "notes"),
    [
        (SNAKEMAKE, ("all", "map", "map#2"), ["labels repeat, so operators are named 'map', "]),
        (NEXTFLOW, ("v0", "QC", "REPORT"), []),
        (TERRAFORM, ("aws_lb.a", "var.b"), []),
        ("digraph { Node0x5a [label=main]; Node0x5b [label=end]; }", ("main", "end"), []),
        ("digraph { a1 [label=main]; b2 [label=end]; }", ("a1", "b2"), ["labels such as 'main'"]),
        ("digraph { split [label=Split]; log [label=log] }", ("split", "log"), ["labels such as"]),
        ("digraph { 0 [label=2]; 2 [label=x]; 3 }", ("2", "x", "3"), []),
        (r'digraph { node [label="\\N"]; 1 -> 2 }', ("1", "2"), []),
    ],
)
def test_labels_name_operators_where_ids_are_generated(
    text: str, names: tuple[str, ...], notes: list[str]
) -> None:
    job = read_document("dot", text)
    assert job.graph.names == names
    assert [note[: len(start)] for note, start in zip(job.notes, notes, strict=True)] == notes


@pytest.mark.parametrize(
    ("label", "shape", "expected"),
    [
        (r"sort\nsample: A", "box", "sort"),
        (r"\l  sort\lsample", "box", "sort"),
        ("sort\nsample", "box", "sort"),
        ("{<in> conv|{input:|output:}}", "record", "conv"),
        (r"a\|b|c", "Mrecord", "a|b"),
        ("a|b", "box", "a|b"),
        (r"\N", "box", ""),
        ("", "point", ""),
    ],
)
def test_the_first_line_of_a_label(label: str, shape: str, expected: str) -> None:
    assert first_line({"label": label, "shape": shape}) == expected


def test_labels_of_html() -> None:
    table = "<table><tr><td><b>QC &amp; trim</b></td><td>2</td></tr></table>"
    assert text_of_html(table) == "QC & trim\n2"
    text = f"digraph {{ 0 [label=<{table}>]; 1 [label=<a<br/>b>]; 0 -> 1 }}"
    assert read_document("dot", text).graph.names == ("QC & trim", "a")


def test_sizes_of_simgrid_are_costs() -> None:
    """The example of SimGrid's manual: flops of tasks, bytes of edges, -1 for control."""
    text = """digraph G { c1 [size="1e9"]; c3 [size="2e9"];
        root -> c1 [size="-1"]; c1 -> c3 [size="5e8"]; c3 -> end [size="-1"]; }"""
    job = read_document("dot", text)
    graph = job.graph
    assert (graph.names, graph.firing) == (("c1", "c3", "root", "end"), "all")
    assert graph.instructions.tolist() == [1e9, 2e9, 0, 0]
    assert {(s.source, s.target): s.payload_bytes for s in graph.streams} == {
        ("root", "c1"): 0,
        ("c1", "c3"): 5e8,
        ("c3", "end"): 0,
    }
    assert not graph.unknown
    assert job.notes[0].startswith("size is the operations of a node and the bytes of an edge")


@pytest.mark.parametrize(
    "text",
    [
        'digraph { a [size="2,3"]; a -> b }',
        "digraph { a [size=5, instructions=7]; b [instructions=8]; a -> b [payload_bytes=1] }",
    ],
)
def test_sizes_that_are_no_costs_are_named(text: str) -> None:
    job = read_document("dot", text)
    assert job.notes == ["the attribute size of nodes and edges is not read"]
    assert 5 not in job.graph.instructions.tolist()


def test_what_is_only_drawn_is_left_out() -> None:
    text = """digraph { subgraph cluster_x { label="Stage 1"; a -> b } b -> c;
        a -> c [style=invis]; legend [label="Legend\\l"]; e [style=invis] }"""
    job = read_document("dot", text)
    assert edges(job) == [("a", "b"), ("b", "c")]
    assert job.graph.names == ("a", "b", "c")
    assert job.notes == [
        "'legend', 'e' left out: no edge leads there, and it is no operator",
        "1 invisible edge left out: such edges only arrange the picture",
        "groups of the picture are not read: 'Stage 1'",
    ]


def element(kind: str, name: str, *pads: str, inside: str = "", ghosts: str = "") -> str:
    """Return an element as GStreamer 1.22 writes it, without colours and fonts."""
    ports = [
        f'subgraph cluster_{name}_0x1_{pad} {{ label=""; style="invis"; '
        f'{name}_0x1_{pad}_0x2 [color=black, label="{pad}\\n[>][bfb]", height="0.2"]; }}'
        for pad in pads
    ]
    flow = ""
    if len(pads) > 1:
        flow = f'{name}_0x1_{pads[0]}_0x2 -> {name}_0x1_{pads[1]}_0x2 [style="invis"];'
    return (
        f'subgraph cluster_{name}_0x1 {{ fontsize="8"; label="{kind}\\n{name}\\n[>]"; '
        f'{" ".join(ports)} {ghosts} {flow} fillcolor="#aaffaa"; {inside} }}'
    )


def test_the_elements_of_gstreamer() -> None:
    """Pads are parts of elements; those of a bin lead to the elements in it."""
    queue = element("GstQueue", "queue0", "sink", "src")
    proxy = 'bin0_0x1_proxypad0_0x2 [label="proxypad0"];'
    text = f"""digraph pipeline {{ rankdir=LR; label="<GstPipeline>\\npipe\\n[>]";
      node [style="filled,rounded", shape=box]; edge [labelfontsize="6"];
      legend [ pos="0,0!", style="filled", label="Legend\\lElement-States: [~] void-pending" ];
      {element("GstFakeSrc", "fakesrc0", "src")}
      {element("GstBin", "bin0", "sink", inside=queue, ghosts=proxy)}
      {element("GstFakeSink", "fakesink0", "sink")}
      fakesrc0_0x1_src_0x2 -> bin0_0x1_sink_0x2 [label="ANY"]
      bin0_0x1_sink_0x2 -> bin0_0x1_proxypad0_0x2 [style=dashed, minlen=0]
      bin0_0x1_proxypad0_0x2 -> queue0_0x1_sink_0x2 [label="ANY"]
      queue0_0x1_src_0x2 -> fakesink0_0x1_sink_0x2 [label="ANY"]
    }}"""
    job = read_document("dot", text)
    assert job.graph.names == ("fakesrc0", "queue0", "fakesink0")
    assert {*job.graph.type.values()} == {"GstFakeSrc", "GstQueue", "GstFakeSink"}
    assert edges(job) == [("fakesrc0", "queue0"), ("queue0", "fakesink0")]
    assert "the pads of 1 bin pass data on" in job.notes[1]
