"""Hand-written documents of GraphML, GEXF, DOT and METIS."""

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="instructions" attr.type="double"><default>50</default></key>
  <key id="d1" for="node" attr.name="colour" attr.type="string"/>
  <key id="d2" for="edge" attr.name="selectivity" attr.type="double"/>
  <key id="d3" for="node" attr.name="requires" attr.type="string"/>
  <key id="d4" for="graph" attr.name="source_rate" attr.type="double"/>
  <key id="d5" for="node" attr.name="resources" attr.type="string"/>
  <key id="d6" for="node" attr.name="seconds_on" attr.type="string"/>
  <key id="d7" for="node" attr.name="output_shape" attr.type="string"/>
  <key id="d8" for="graph" attr.name="multicast" attr.type="string"/>
  <graph edgedefault="directed">
    <data key="d4">1e3</data><data key="d8">device</data>
    <node id="a"><data key="d0">100.5</data><data key="d1">red</data>
      <data key="d6">{"cpu": 0.5, "gpu": null}</data><data key="d7">[1, 2]</data></node>
    <node id="b"><data key="d3">["gpu"]</data><data key="d5">{"gpu": 1}</data></node>
    <edge source="a" target="b"><data key="d2">0.25</data></edge>
    <edge source="a" target="b"/>
  </graph>
</graphml>
"""

DOT = r"""
/* drawn by hand */
digraph "a job" {
  graph [source_rate=1000, firing=all, rankdir=LR]; rankdir = TB
  node [instructions=50, shape=box]
  edge [selectivity=".5"]
  # a line of a preprocessor
  a [instructions="100.5", type=conv, seconds_on="{\"gpu\": null}", label=<<b>A</b>>]; // the first
  subgraph cluster_0 {
    node [payload_bytes=8]
    label = inside
    b; "c \"quoted\" \\" [requires="[\"gpu\"]", resources="{\"gpu\": 1}"]
  }
  a:out:s -> {b "c \"quoted\" \\"} -> d [selectivity=2, color=red]
  a -> "lo" + "ng"
}
"""

GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
  <meta lastmodifieddate="2026-01-05"><creator>Gephi 0.10</creator></meta>
  <graph defaultedgetype="directed" mode="static" name="words">
    <attributes class="node" mode="static">
      <attribute id="0" title="instructions" type="double"><default>50</default></attribute>
      <attribute id="1" title="requires" type="string"/>
      <attribute id="2" title="colour" type="string"/>
    </attributes>
    <attributes class="edge" mode="static">
      <attribute id="3" title="selectivity" type="float"/>
    </attributes>
    <nodes>
      <node id="0" label="lines"><viz:size value="10.0"/>
        <attvalues><attvalue for="0" value="100.5"/><attvalue for="2" value="red"/></attvalues>
      </node>
      <node id="1" label="split">
        <attvalues><attvalue for="1" value="[&quot;gpu&quot;]"/></attvalues>
      </node>
    </nodes>
    <edges>
      <edge id="0" source="0" target="1" weight="3.0">
        <attvalues><attvalue for="3" value="0.25"/></attvalues>
      </edge>
      <edge id="1" source="0" target="1"/>
    </edges>
  </graph>
</gexf>
"""
METIS = """% a square with a diagonal, and a vertex alone
5 5 011
40 2 8 3 1 4 5
10 1 8 3 2
20 1 1 2 2 4 7
30 1 5 3 7
0
"""
METIS_SIZES = """3 2 110 2
100 5 1 2
200 6 2 1 3
% the last one
300 7 3 2
"""
TABLE = """Name,CPU (us),Payload (kB),Selectivity,Parallelism,To,Rate
clicks,10,0.5,,,parse,2k
parse,50,0.6,0.5,,count; log,
count,200,1,,4,,
log,2us,0,,,,
"""
TABLE_OF_STREAMS = """from,to,selectivity,payload_bytes
clicks,parse,1,500
parse,count,0.5,250
parse,log,0.01,
"""
