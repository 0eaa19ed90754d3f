// Operators, streams and lanes as Cytoscape elements. Their ids are built from numbers, not names.
SP.elements = (() => {
  "use strict";

  /** Return operators, sized by CPU work, at their positions in `placed`, with names cut to `letters`. */
  function operators({ flow, called }, assignment, placed, { letters, ...text }) {
    const heaviest = Math.max(...flow.work, 1e-300);
    const fed = new Set(flow.target);
    return flow.names.map((_, v) => ({
      group: "nodes",
      classes: fed.has(v) ? "operator" : "operator source",
      position: { x: placed.x[v], y: placed.y[v] },
      data: {
        id: `o${v}`,
        number: v,
        label: called.operators(v, letters),
        size: 14 + 26 * Math.sqrt(flow.work[v] / heaviest),
        ...text,
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

  /** Return one lane of those in `placed`. */
  function lane({ device, top, height }, placed, text) {
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
        ...text,
        ...wash(device),
      },
    };
  }

  const paint = (d) => ({ fill: SP.colours.operator(d), edge: SP.colours.edge(d) });
  const wash = (d) => ({ lane: SP.colours.lane(d), rim: SP.colours.rim(d) });

  return { operators, streams, lane, paint, wash };
})();
