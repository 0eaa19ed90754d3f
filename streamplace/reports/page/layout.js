// Positions of operators: dagre's layers from left to right, and a lane for every device.
SP.layout = (() => {
  "use strict";
  const ROW = 52; // distance between rows of operators, in pixels
  const DENSE = 12; // the same distance in large graphs, which have no labels
  const ABOVE = 7; // room for the label below an operator
  const PADDING = 4; // padding of a lane, above and below
  const GAP = 8; // gap between lanes
  const EMPTY = 36; // least height of a lane: two lines of text
  const FEW = 16; // largest number of devices at which idle ones have lanes too
  const PICTURE = { width: 660, height: 400 };
  const EXACT = 150; // largest number of operators with labels, and for dagre, which is too slow above
  const SWEEPS = 8;

  const known = new WeakMap(); // flow -> layers, which do not depend on edits

  /** Return whether there are too many operators for labels. */
  const isDense = (operators) => operators.length > EXACT;

  /** Return the layer of each operator, and its order within the layer. */
  function layersOf(flow) {
    if (!known.has(flow)) known.set(flow, layersBy(flow));
    return known.get(flow);
  }

  function layersBy(flow) {
    return isDense(flow.names) ? quickly(flow) : byDagre(flow);
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
   * Return positions (x, y of each operator), lanes (device, top, height) and their extent, in pixels.
   * Operators of a lane are in as many rows as keep their labels apart; `labels` has their widths.
   * Lanes are stretched to `height` if they are lower together.
   */
  function lanesOf(layers, assignment, devices, { width, height, labels = null } = PICTURE) {
    const column = width / Math.max(1, layers.count);
    const x = layers.layer.map((layer) => (layer + 0.5) * column);
    const members = new Map(devicesShown(assignment, devices).map((d) => [d, []]));
    assignment.forEach((d, v) => members.get(d).push(v));
    const row = isDense(assignment) ? DENSE : ROW;
    const made = [...members].map(([device, all]) => {
      all.sort((a, b) => layers.layer[a] - layers.layer[b] || layers.order[a] - layers.order[b] || a - b);
      const ends = []; // the right end of the last label in each row
      const rows = all.map((v) => {
        const half = (labels === null ? column - 1 : labels[v]) / 2;
        const free = ends.findIndex((end) => end <= x[v] - half);
        const found = free < 0 ? ends.length : free;
        ends[found] = x[v] + half;
        return found;
      });
      return { device, all, rows, height: Math.max(EMPTY, ends.length * row + 2 * PADDING) };
    });
    const total = made.reduce((sum, lane) => sum + lane.height + GAP, -GAP);
    const stretch = Math.max(1, height / total);
    const y = new Float64Array(assignment.length);
    let top = 0;
    const lanes = made.map(({ device, all, rows, height: plain }) => {
      const lane = { device, top, height: plain * stretch };
      const count = Math.max(0, ...rows) + 1;
      all.forEach((v, i) => {
        const middle = top + lane.height / 2 + (rows[i] - (count - 1) / 2) * row * stretch;
        y[v] = middle - (isDense(assignment) ? 0 : ABOVE);
      });
      top += lane.height + GAP * stretch;
      return lane;
    });
    return { x, y, lanes, width, height: top - GAP * stretch, column };
  }

  /** Return the device of the lane at a height, or of the nearest lane. */
  function laneAt(placed, y) {
    const distance = (lane) => Math.max(lane.top - y, y - lane.top - lane.height, 0);
    return placed.lanes.reduce((best, lane) => (distance(lane) < distance(best) ? lane : best))
      .device;
  }

  return { layersOf, lanesOf, laneAt, devicesShown, allShown, isDense };
})();
