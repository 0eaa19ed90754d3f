// The drawing: operators in lanes, streams between them, dragged from lane to lane.
SP.graph = (() => {
  "use strict";
  const MOVING = 160; // ms that operators take to their new places
  const ANIMATED = 150; // operators, at most
  const LABELS = 110; // pixels for the names of devices, left of their lanes
  const EDGE = 12; // pixels that stay free around the drawing
  const LARGEST = 15; // units of an operator's name: more would not fit between two rows
  const FONT = 13; // pixels of those names, where all is to be seen
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  function style() {
    const ink = SP.colours.of("--ink");
    const alarm = SP.colours.of("--alarm");
    const font = "system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif";
    return [
      { selector: "*", style: { "z-index-compare": "manual" } }, // lanes below, streams, operators
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
          "text-max-width": "data(margin)",
          events: "no",
          "z-index": 0,
        },
      },
      { selector: "node.lane.full", style: { "border-width": 3, "border-color": alarm, color: alarm } },
      { selector: "node.lane.target", style: { "border-width": 3, "border-style": "dashed", "border-color": ink } },
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
          "text-outline-width": 1.5,
          "text-outline-color": SP.colours.of("--panel"),
          "text-valign": "bottom",
          "text-margin-y": 3,
          "text-wrap": "ellipsis",
          "text-max-width": "data(room)",
          "min-zoomed-font-size": 6,
          "z-index": 10,
        },
      },
      { selector: "node.source", style: { shape: "round-rectangle" } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": ink, "z-index": 20 } },
      {
        selector: "edge",
        style: {
          width: "data(width)",
          "curve-style": "bezier",
          "line-color": SP.colours.of("--stream"),
          "target-arrow-color": SP.colours.of("--stream"),
          "target-arrow-shape": "triangle",
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
      {
        selector: "edge.full",
        style: { "line-color": alarm, "target-arrow-color": alarm, "z-index": 8 },
      },
      { selector: "edge.chosen", style: { "line-color": ink, "target-arrow-color": ink, "z-index": 9 } },
    ];
  }

  function elementsOf(flow) {
    const heaviest = Math.max(...flow.work, 1e-300);
    const traffic = flow.streamTuples.map((tuples, e) => tuples * flow.bits[e]);
    const most = Math.max(...traffic, 1e-300);
    const fed = new Set(flow.target);
    const operators = flow.names.map((name, v) => ({
      group: "nodes",
      classes: fed.has(v) ? "operator" : "operator source",
      data: {
        id: `o${v}`,
        number: v,
        label: SP.text.label(name),
        size: 14 + 26 * Math.sqrt(flow.work[v] / heaviest),
        fill: "#888",
        edge: "#444",
        room: 100,
        font: 11,
      },
    }));
    const streams = flow.source.map((u, e) => ({
      group: "edges",
      data: {
        id: `s${e}`,
        number: e,
        source: `o${u}`,
        target: `o${flow.target[e]}`,
        width: 1 + 6 * Math.sqrt(traffic[e] / most),
      },
    }));
    return [...operators, ...streams];
  }

  /**
   * Draw a graph into a container. `calls` has preview(operator, device), move(operator, device),
   * choose(kind, number); devices are those of the cluster.
   */
  function drawing(container, flow, devices, calls) {
    const layers = SP.layout.layersOf(flow);
    const cy = cytoscape({
      container,
      elements: elementsOf(flow),
      style: style(),
      layout: { name: "preset", fit: false },
      autounselectify: true,
      boxSelectionEnabled: false,
      minZoom: 0.02,
      maxZoom: 3,
    });
    let placed = null;
    let assignment = null;
    let target = null;
    let twoLines = true; // in the names of lanes
    let untouched = true; // nobody has zoomed or panned: all of the drawing stays in sight
    const node = (v) => cy.getElementById(`o${v}`);
    const stream = (e) => cy.getElementById(`s${e}`);

    /** Return units of the drawing a pixel, where all of it is to be seen, or what can be read. */
    function fitting(whole = false) {
      const height = whole ? placed.height : Math.min(placed.height, SP.layout.TALLEST);
      return Math.max(
        0.5,
        placed.width / Math.max(100, container.clientWidth - LABELS - 3 * EDGE),
        height / Math.max(100, container.clientHeight - 2 * EDGE),
      );
    }

    function fit(gently = false, whole = false) {
      const zoom = 1 / fitting(whole);
      const spare = (container.clientWidth - LABELS - EDGE - placed.width * zoom) / 2;
      const pan = {
        x: LABELS + Math.max(0, spare),
        y: Math.max(EDGE, (container.clientHeight - placed.height * zoom) / 2),
      };
      if (animated(gently)) cy.stop().animate({ zoom, pan, duration: MOVING });
      else cy.stop().viewport({ zoom, pan });
    }

    const animated = (gently) => gently && !still.matches && flow.names.length <= ANIMATED;

    function drawLanes() {
      const wanted = new Set(placed.lanes.map((lane) => lane.device));
      const thinnest = Math.min(...placed.lanes.map((lane) => lane.height));
      twoLines = thinnest / fitting() >= 2.2 * FONT;
      const font = Math.min(FONT * fitting(), thinnest * 0.85);
      cy.nodes(".lane").forEach((lane) => {
        if (!wanted.has(lane.data("number"))) lane.remove();
      });
      for (const { device, top, height } of placed.lanes) {
        const position = { x: placed.width / 2, y: top + height / 2 };
        const found = cy.getElementById(`d${device}`);
        const size = { width: placed.width, height, font, margin: LABELS * fitting() };
        if (found.nonempty()) {
          found.data(size).position(position);
        } else {
          const data = {
            ...size,
            id: `d${device}`,
            number: device,
            label: SP.text.label(devices[device].name),
            lane: SP.colours.lane(device),
            rim: SP.colours.rim(device),
          };
          cy.add({ group: "nodes", classes: "lane", data, position, grabbable: false });
        }
      }
    }

    function paint(v, d) {
      node(v).data({ fill: SP.colours.operator(d), edge: SP.colours.edge(d) });
    }

    /** Put operators where an assignment wants them. */
    function place(next, gently) {
      const before = assignment;
      assignment = next;
      placed = SP.layout.lanesOf(layers, assignment, devices.length);
      const room = Math.max(40, placed.width / layers.count - 8);
      const font = Math.min(LARGEST, Math.max(10, 11 * fitting()));
      cy.batch(() => {
        drawLanes();
        assignment.forEach((d, v) => {
          if (before === null || before[v] !== d) paint(v, d);
          if (before === null) node(v).data({ room, font });
          const to = { x: placed.x[v], y: placed.y[v] };
          const at = node(v).position();
          if (at.x === to.x && at.y === to.y) return;
          if (animated(gently)) {
            node(v).stop().animate({ position: to, duration: MOVING });
          } else node(v).position(to);
        });
        flow.source.forEach((u, e) => {
          const crosses = assignment[u] !== assignment[flow.target[e]];
          if (before === null || crosses !== stream(e).hasClass("crossing")) {
            stream(e).toggleClass("crossing", crosses);
          }
        });
      });
      if (untouched) fit(gently);
    }

    /** Mark the bottleneck and tell utilisations in the lanes. */
    function mark(score, shown) {
      const full = score.bottleneck;
      cy.batch(() => {
        for (const { device } of placed.lanes) {
          const lane = cy.getElementById(`d${device}`);
          const name = SP.text.isolated(SP.text.label(devices[device].name));
          const label = `${name}${twoLines ? "\n" : "  "}${SP.text.percent(score.devices[device])}`;
          if (lane.data("label") !== label) lane.data("label", label);
          lane.toggleClass("full", full.device === device);
        }
        flow.source.forEach((u, e) => {
          const [a, b] = [shown[u], shown[flow.target[e]]];
          const links = SP.model.linksBetween(a, b, devices.length, calls.nic);
          const on = full.link !== null && a !== b && links.includes(full.link);
          if (on !== stream(e).hasClass("full")) stream(e).toggleClass("full", on);
        });
      });
    }

    function aim(device) {
      if (target === device) return;
      if (target !== null) cy.getElementById(`d${target}`).removeClass("target");
      target = device;
      if (device !== null) cy.getElementById(`d${device}`).addClass("target");
    }

    cy.on("grab", "node.operator", (event) => calls.choose("operator", event.target.data("number")));
    cy.on("drag", "node.operator", (event) => {
      const device = SP.layout.laneAt(placed, event.target.position("y"));
      if (device !== target) {
        aim(device);
        calls.preview(event.target.data("number"), device);
      }
    });
    cy.on("dragfree", "node.operator", (event) => {
      const v = event.target.data("number");
      const device = SP.layout.laneAt(placed, event.target.position("y"));
      aim(null);
      if (device === assignment[v]) place(assignment, true);
      calls.move(v, device);
    });
    cy.on("tap", "edge", (event) => calls.choose("stream", event.target.data("number")));
    cy.on("tap", (event) => {
      if (event.target !== cy || event.position.x < 0 || event.position.x > placed.width) return;
      calls.choose("device", SP.layout.laneAt(placed, event.position.y));
    });

    // the wheel scrolls the page until somebody turns to the drawing
    const focused = (event) => cy.userZoomingEnabled(event.type === "focus");
    for (const kind of ["focus", "blur"]) container.addEventListener(kind, focused);
    cy.userZoomingEnabled(document.activeElement === container);
    cy.on("tapstart", () => container.focus({ preventScroll: true }));
    cy.on("scrollzoom pinchzoom dragpan", () => {
      untouched = false;
    });
    cy.on("resize", () => untouched && placed && fit());

    return {
      fit() {
        untouched = placed.height <= SP.layout.TALLEST;
        fit(false, true);
      },
      zoom(factor) {
        untouched = false;
        const renderedPosition = { x: cy.width() / 2, y: cy.height() / 2 };
        cy.zoom({ level: cy.zoom() * factor, renderedPosition });
      },
      show(setting, score, gently) {
        if (setting.assignment !== assignment) place(setting.assignment, gently);
        mark(score, setting.assignment);
      },
      preview: mark,
      choose(kind, number) {
        cy.elements(".chosen").removeClass("chosen");
        if (kind === "operator") node(number).addClass("chosen");
        if (kind === "stream") stream(number).addClass("chosen");
      },
      recolour() {
        cy.style(style());
        assignment.forEach((d, v) => paint(v, d));
        cy.nodes(".lane").forEach((lane) => {
          const d = lane.data("number");
          lane.data({ lane: SP.colours.lane(d), rim: SP.colours.rim(d) });
        });
      },
      /** Return where an operator, or a device's lane beside it, is in the window, in pixels. */
      whereIs(kind, number) {
        const box = container.getBoundingClientRect();
        const at = cy.getElementById(kind === "operator" ? `o${number}` : `d${number}`);
        if (at.empty()) return null;
        const { x, y } = at.renderedPosition();
        return { x: box.left + x, y: box.top + y };
      },
      destroy() {
        for (const kind of ["focus", "blur"]) container.removeEventListener(kind, focused);
        cy.destroy();
      },
    };
  }

  return { drawing };
})();
