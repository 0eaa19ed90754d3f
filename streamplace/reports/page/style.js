// Cytoscape styles of operators, streams and lanes.
SP.style = (() => {
  "use strict";

  /** Return the styles; `dense` graphs go without slow details that would be too small to see. */
  function sheet(dense) {
    const ink = SP.colours.of("--ink");
    const alarm = SP.colours.of("--alarm");
    const font = "system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif";
    return [
      { selector: "*", style: { "z-index-compare": "manual" } }, // lanes below streams below operators
      {
        selector: "node.lane",
        style: {
          shape: "round-rectangle",
          "corner-radius": 10,
          width: "data(width)",
          height: "data(height)",
          "background-color": "data(lane)",
          "border-width": 1,
          "border-color": "data(rim)",
          label: "data(label)",
          color: ink,
          "font-family": font,
          "font-size": "data(font)",
          "font-weight": 600,
          "text-halign": "left",
          "text-valign": "center",
          "text-margin-x": -10,
          "text-wrap": "wrap",
          "text-max-width": 1e6, // names are already shortened to fit
          events: "no",
          "z-index": 0,
        },
      },
      { selector: ":active", style: { "overlay-opacity": 0 } },
      {
        selector: "node.lane.first",
        style: { "border-width": 2, "border-color": ink },
      },
      {
        selector: "node.lane.full",
        style: { "border-width": 3, "border-color": alarm, color: alarm },
      },
      {
        selector: "node.lane.target",
        style: { "border-width": 3, "border-style": "dashed", "border-color": ink },
      },
      {
        selector: "node.operator",
        style: {
          width: "data(size)",
          height: "data(size)",
          "background-color": "data(fill)",
          "border-width": 1.5,
          "border-color": "data(edge)",
          label: "data(label)",
          color: ink,
          "font-family": font,
          "font-size": "data(font)",
          "text-background-color": "data(lane)", // streams that pass below a name do not cross it
          "text-background-opacity": 1,
          "text-background-padding": 1,
          "text-valign": "bottom",
          "text-margin-x": "data(shift)",
          "text-margin-y": 3,
          "min-zoomed-font-size": SP.sight.LEAST,
          "z-index": 10,
        },
      },
      { selector: "node.source", style: { shape: "round-rectangle" } },
      { selector: "node.pinned", style: { "border-width": 5, "border-style": "double", "border-color": ink } },
      { selector: "node.operator.full", style: { "border-width": 3, "border-color": alarm } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": ink, "z-index": 20 } },
      {
        selector: "edge",
        style: {
          width: "data(width)",
          "curve-style": dense ? "haystack" : "bezier",
          "haystack-radius": 0,
          "line-color": SP.colours.of("--stream"),
          "target-arrow-color": SP.colours.of("--stream"),
          "target-arrow-shape": dense ? "none" : "triangle",
          "arrow-scale": 0.7,
          "z-index": 5,
        },
      },
      {
        selector: "edge.crossing",
        style: {
          "line-color": SP.colours.of("--crossing"),
          "target-arrow-color": SP.colours.of("--crossing"),
        },
      },
      { selector: "edge.first", style: { "line-color": ink, "target-arrow-color": ink, "z-index": 8 } },
      {
        selector: "edge.full",
        style: { "line-color": alarm, "target-arrow-color": alarm, "z-index": 8 },
      },
      {
        selector: "edge.chosen",
        style: { "line-color": ink, "target-arrow-color": ink, "z-index": 9 },
      },
    ];
  }

  return { sheet };
})();
