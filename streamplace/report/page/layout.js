// Positions of operators: dagre's layers from left to right, and a lane for every device.
SP.layout = (() => {
  "use strict";
  const ROW = 60; // distance between operators of one layer
  const DENSE = 40; // the same distance in large graphs
  const PADDING = 14; // padding of a lane, above and below
  const GAP = 10; // gap between lanes
  const EMPTY = 34; // height of a lane without operators
  const FEW = 16; // largest number of devices at which idle ones have lanes too
  const MIN_GAP = 46; // smallest distance between layers
  const PICTURE = 1.6; // default aspect ratio (width over height)
  const STRETCH = 4; // largest factor on the distance of rows
  const TALLEST = 4200; // maximum height shown at once; if it were larger, names would be unreadable
  const EXACT = 150; // largest number of operators for dagre, which is too slow above
  const SWEEPS = 8;

  const known = new WeakMap(); // flow -> layers, which do not depend on edits

  /** Return the layer of each operator, and its order within the layer. */
  function layersOf(flow) {
    if (!known.has(flow)) known.set(flow, layersBy(flow));
    return known.get(flow);
  }

  function layersBy(flow) {
    return flow.names.length > EXACT ? quickly(flow) : byDagre(flow);
  }

  function byDagre(flow) {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: "LR", ranker: "tight-tree", nodesep: 20, edgesep: 5, ranksep: 50 });
    flow.names.forEach((_, v) => graph.setNode(String(v), { width: 30, height: 30 }));
    flow.source.forEach((u, e) => {
      graph.setEdge(String(u), String(flow.target[e]), { weight: 1, minlen: 1 }, String(e));
    });
    dagre.layout(graph);
    const at = flow.names.map((_, v) => graph.node(String(v)));
    const columns = [...new Set(at.map((node) => Math.round(node.x)))].sort((a, b) => a - b);
    const layer = new Map(columns.map((x, i) => [x, i]));
    return {
      layer: at.map((node) => layer.get(Math.round(node.x))),
      order: at.map((node) => node.y),
      count: columns.length,
    };
  }

  /** Return the same for large graphs: layers by longest paths, order by means of neighbours. */
  function quickly(flow) {
    const layer = flow.names.map(() => 0);
    flow.source.forEach((u, e) => {
      layer[flow.target[e]] = Math.max(layer[flow.target[e]], layer[u] + 1);
    });
    let order = flow.names.map((_, v) => v);
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const sum = new Float64Array(order.length);
      const number = new Float64Array(order.length);
      flow.source.forEach((u, e) => {
        const [to, from] = sweep % 2 ? [u, flow.target[e]] : [flow.target[e], u];
        sum[to] += order[from];
        number[to] += 1;
      });
      order = order.map((own, v) => (number[v] ? sum[v] / number[v] : own));
    }
    return { layer, order, count: Math.max(...layer) + 1 };
  }

  /** Return whether idle devices have lanes. */
  const allShown = (devices) => devices <= FEW;

  /** Return the devices that have a lane. */
  function devicesShown(assignment, devices) {
    const used = new Set(assignment);
    const all = Array.from({ length: devices }, (_, d) => d);
    return allShown(devices) ? all : all.filter((d) => used.has(d));
  }

  /**
   * Return positions (x, y of each operator), lanes (device, top, height) and their extent;
   * `shape` is the desired aspect ratio (width over height).
   */
  function lanesOf(layers, assignment, devices, shape = PICTURE) {
    const plain = stretched(layers, assignment, devices, shape, 1);
    const stretch = Math.min(STRETCH, plain.width / shape / plain.height);
    return stretch > 1 ? stretched(layers, assignment, devices, shape, stretch) : plain;
  }

  /** Return the same with the distance of rows multiplied by `stretch`, for wide graphs. */
  function stretched(layers, assignment, devices, shape, stretch) {
    const cells = new Map(devicesShown(assignment, devices).map((d) => [d, new Map()]));
    assignment.forEach((d, v) => {
      const column = cells.get(d);
      if (!column.has(layers.layer[v])) column.set(layers.layer[v], []);
      column.get(layers.layer[v]).push(v);
    });
    const row = stretch * (assignment.length > EXACT ? DENSE : ROW);
    const y = new Float64Array(assignment.length);
    const lanes = [];
    let top = 0;
    for (const [device, columns] of cells) {
      const tallest = Math.max(0, ...[...columns.values()].map((column) => column.length));
      const height = tallest ? tallest * row + 2 * PADDING : EMPTY * stretch;
      for (const column of columns.values()) {
        column.sort((a, b) => layers.order[a] - layers.order[b] || a - b);
        const first = top + height / 2 - ((column.length - 1) / 2) * row;
        column.forEach((v, i) => {
          y[v] = first + i * row - 5; // leaves room for the label below
        });
      }
      lanes.push({ device, top, height });
      top += height + GAP;
    }
    const height = Math.max(1, top - GAP);
    const column = Math.max(
      MIN_GAP,
      (Math.min(height, TALLEST) * shape) / Math.max(1, layers.count),
    );
    const x = layers.layer.map((layer) => (layer + 0.5) * column);
    return { x, y, lanes, width: Math.max(1, layers.count) * column, height, stretch };
  }

  /** Return the device of the lane at a height, or of the nearest lane. */
  function laneAt(placed, y) {
    const distance = (lane) => Math.max(lane.top - y, y - lane.top - lane.height, 0);
    return placed.lanes.reduce((best, lane) => (distance(lane) < distance(best) ? lane : best))
      .device;
  }

  return { layersOf, lanesOf, laneAt, devicesShown, allShown, TALLEST };
})();
