// Operators, streams and lanes as Cytoscape elements. Their ids are built from numbers, not names.
SP.elements = (() => {
  "use strict";
  const SMALL = 0.35; // size of operators in large graphs, relative to others

  /** Return operators, sized by CPU work, at their positions; `textOf(v)` is the data of a label. */
  function operators({ flow, constraints }, assignment, placed, textOf) {
    const heaviest = Math.max(...flow.work, 1e-300);
    const fed = new Set(flow.target);
    const factor = SP.layout.isDense(flow.names) ? SMALL : 1;
    const pinned = new Set(Object.keys(constraints.pins ?? {}));
    return flow.names.map((name, v) => ({
      group: "nodes",
      classes: `operator${fed.has(v) ? "" : " source"}${pinned.has(name) ? " pinned" : ""}`,
      position: { x: placed.x[v], y: placed.y[v] },
      data: {
        id: `o${v}`,
        number: v,
        size: factor * (13 + 19 * Math.sqrt(flow.work[v] / heaviest)),
        ...textOf(v),
        ...paint(assignment[v]),
      },
    }));
  }

  /** Return streams, as wide as their traffic. */
  function streams(flow, assignment) {
    const traffic = flow.streamTuples.map((tuples, e) => tuples * flow.bits[e]);
    const largest = Math.max(...traffic, 1e-300);
    return flow.source.map((u, e) => ({
      group: "edges",
      classes: assignment[u] === assignment[flow.target[e]] ? "" : "crossing",
      data: {
        id: `s${e}`,
        number: e,
        source: `o${u}`,
        target: `o${flow.target[e]}`,
        width: 1 + 6 * Math.sqrt(traffic[e] / largest),
      },
    }));
  }

  /** Return one lane of those in `placed`, with a name in a size of font. */
  function lane({ device, top, height }, placed, font) {
    return {
      group: "nodes",
      classes: "lane",
      grabbable: false,
      position: { x: placed.width / 2, y: top + height / 2 },
      data: {
        id: `d${device}`,
        number: device,
        label: "",
        width: placed.width,
        height,
        font,
        ...wash(device),
      },
    };
  }

  const wash = (d) => ({ lane: SP.colours.lane(d), rim: SP.colours.rim(d) });
  const paint = (d) => ({ fill: SP.colours.operator(d), edge: SP.colours.edge(d), ...wash(d) });

  return { operators, streams, lane, paint, wash };
})();
