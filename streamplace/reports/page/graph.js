// The drawing: operators in the lanes of devices, with streams between them. Operators can be dragged.
SP.graph = (() => {
  "use strict";
  const MOVING = 160; // duration of an animated move in ms
  const WIDEST = 32; // pixels of the largest operator
  const BETWEEN = 8; // and between labels
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  /**
   * Draw a problem's graph into a container. `first` is the initial assignment;
   * `calls` has network, drawn(), preview(operator, device), move(operator, device) and
   * choose(kind, number).
   */
  function drawing(container, problem, first, calls) {
    const { flow, called } = problem;
    const { devices } = problem.cluster;
    const layers = SP.layout.layersOf(flow);
    let assignment = first;
    const dense = SP.layout.isDense(flow.names);
    let room = container.clientWidth; // in pixels
    let [sizes, placed] = laidOut();
    let untouched = true; // until the user zooms or pans, the drawing is kept fully visible
    const cy = cytoscape({
      container,
      elements: [
        ...placed.lanes.map((lane) => SP.elements.lane(lane, placed, sizes.fonts.lane)),
        ...SP.elements.operators(problem, assignment, placed, textOf),
        ...SP.elements.streams(flow, assignment),
      ],
      style: SP.style.sheet(dense),
      layout: { name: "preset", fit: false },
      ...SP.sight.viewport(sizes),
      autounselectify: true,
      boxSelectionEnabled: false,
      minZoom: 0.1,
      maxZoom: 6,
    });
    cy.one("render", calls.drawn);
    const node = (v) => cy.getElementById(`o${v}`);
    const stream = (e) => cy.getElementById(`s${e}`);
    const laneOf = (d) => cy.getElementById(`d${d}`);
    const animated = (gently) => gently && !still.matches && !dense;

    /** Return the sizes and positions in the present room, and make the container as high. */
    function laidOut() {
      const shown = SP.layout.devicesShown(assignment, devices.length);
      const lines = shown.flatMap((d) => nameOf(d, 99.99).split("\n"));
      const found = SP.sight.sizesOf(room, layers.count, lines, dense);
      const labels = dense ? null : flow.names.map((_, v) => widthOf(v, found));
      const made = SP.layout.lanesOf(layers, assignment, devices.length, { ...found, labels });
      container.style.height = `${Math.ceil(made.height) + 2 * SP.sight.EDGE}px`;
      return [found, made];
    }

    /** Return the room in pixels that an operator takes with its label. */
    function widthOf(v, { letters, fonts }) {
      const text = SP.sight.widthOf(called.operators(v, letters), fonts.operator);
      return Math.max(WIDEST, text) + BETWEEN;
    }

    /** Return the name of a lane: the device, its utilisation, and its group if the name lacks it. */
    function nameOf(d, utilisation) {
      const { name, group } = devices[d];
      const where =
        group == null || name.startsWith(group)
          ? ""
          : ` · ${SP.text.isolated(SP.text.shortened(group, SP.labels.narrow))}`;
      return `${SP.text.isolated(called.devices(d, SP.labels.narrow))}\n${SP.text.percent(utilisation)}${where}`;
    }

    /** Return the label of an operator, its size, and its shift so that it stays in the lane. */
    function textOf(v) {
      const label = called.operators(v, sizes.letters);
      const font = sizes.fonts.operator;
      return { label, font, shift: SP.sight.shiftOf(label, placed.x[v], placed.width, font) };
    }

    function fit(gently = false) {
      const viewport = SP.sight.viewport(sizes);
      if (animated(gently)) cy.stop().animate({ ...viewport, duration: MOVING });
      else cy.stop().viewport(viewport);
    }

    function placeLanes() {
      const laneDevices = new Set(placed.lanes.map((lane) => lane.device));
      cy.nodes(".lane").forEach((lane) => {
        if (!laneDevices.has(lane.data("number"))) lane.remove();
      });
      for (const lane of placed.lanes) {
        const { position, ...made } = SP.elements.lane(lane, placed, sizes.fonts.lane);
        const found = laneOf(lane.device);
        if (found.empty()) cy.add({ position, ...made });
        else {
          const { width, height, font } = made.data;
          found.data({ width, height, font }).position(position);
        }
      }
    }

    /** Set an operator's label and its shift if they have changed. */
    function retext(v) {
      const next = textOf(v);
      const now = node(v).data();
      if (Object.keys(next).some((key) => next[key] !== now[key])) node(v).data(next);
    }

    /** Move operators to the lanes of an assignment; those that stay are not touched. */
    function place(next, gently, everything = false) {
      const [before, was] = [assignment, placed];
      assignment = next;
      [sizes, placed] = laidOut();
      cy.resize();
      cy.batch(() => {
        placeLanes();
        assignment.forEach((d, v) => {
          if (before[v] !== d) node(v).data(SP.elements.paint(d));
          retext(v);
          if (!everything && placed.x[v] === was.x[v] && placed.y[v] === was.y[v]) return;
          const position = { x: placed.x[v], y: placed.y[v] };
          if (animated(gently)) node(v).stop().animate({ position, duration: MOVING });
          else node(v).position(position);
        });
        flow.source.forEach((u, e) => {
          const w = flow.target[e];
          const crosses = assignment[u] !== assignment[w];
          if (crosses !== (before[u] !== before[w])) stream(e).toggleClass("crossing", crosses);
        });
      });
      if (untouched) fit(gently);
    }

    /** Return whether a stream is on the link that is used most or on the critical path. */
    function limits({ bottleneck: { link }, critical }, shown, e) {
      if (critical) return critical.streams.has(e);
      const [a, b] = [shown[flow.source[e]], shown[flow.target[e]]];
      return link !== null && a !== b && SP.links.linksBetween(a, b, calls.network).includes(link);
    }

    /**
     * Mark what is used most, or the critical path, and show utilisations in the lanes; `shown` is the
     * scored assignment.
     */
    function mark(score, shown) {
      const { kind, device: d, operator } = score.bottleneck;
      const look = score.critical || score.full ? "full" : "first";
      cy.elements(".full, .first").removeClass("full first");
      cy.batch(() => {
        for (const { device } of placed.lanes) {
          const label = nameOf(device, score.devices[device]);
          const lane = laneOf(device);
          if (lane.data("label") !== label) lane.data("label", label);
        }
        if (kind === "device") laneOf(d).addClass(look);
        if (kind === "operator" && operator !== null) node(operator).addClass(look);
        score.critical?.operators.forEach((v) => node(v).addClass(look));
        flow.source.forEach((_, e) => {
          if (limits(score, shown, e)) stream(e).addClass(look);
        });
      });
    }

    letDrag(cy, laneOf, (y) => SP.layout.laneAt(placed, y), {
      ...calls,
      drop(v, d) {
        if (d === assignment[v]) place(assignment, true, true); // back to where it was
        calls.move(v, d);
      },
    });
    cy.on("tap", "edge", (event) => calls.choose("stream", event.target.data("number")));
    cy.on("tap", ({ target, position }) => {
      if (target !== cy || position.x < 0 || position.x > placed.width) return;
      calls.choose("device", SP.layout.laneAt(placed, position.y));
    });
    cy.on("scrollzoom pinchzoom dragpan", () => {
      untouched = false;
    });
    cy.on("resize", () => {
      const width = container.clientWidth;
      if (width === room || width === 0) return; // only the height, which follows from the width
      room = width;
      place(assignment, false, true);
    });
    const stopFocus = SP.sight.wheelWhenFocused(cy, container);
    const touches = new AbortController();
    SP.sight.scrollByTouch(cy, container, () => !untouched, touches.signal);
    // the figures above may have become higher, which moves the drawing
    const options = { capture: true, signal: touches.signal };
    container.addEventListener("pointerdown", () => cy.resize(), options);

    return {
      fit() {
        untouched = true;
        fit();
      },
      zoom(factor) {
        untouched = false;
        const renderedPosition = { x: room / 2, y: placed.height / 2 };
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
        cy.style(SP.style.sheet(dense));
        assignment.forEach((d, v) => node(v).data(SP.elements.paint(d)));
        for (const { device } of placed.lanes) laneOf(device).data(SP.elements.wash(device));
      },
      /** Return the whole drawing on a canvas of its own, for printing. */
      picture: () => cy.renderer().bufferCanvasImage({ full: true, scale: 3 }),
      /** Return the position in the window, in pixels, and the look of an operator or device's lane. */
      whereIs(kind, number) {
        const found = kind === "operator" ? node(number) : laneOf(number);
        if (found.empty()) return null;
        const box = container.getBoundingClientRect();
        const { x, y } = found.renderedPosition();
        const bounds = found.renderedBoundingBox({ includeLabels: true });
        const { label, font } = found.data();
        const colour = found.style("background-color");
        const text = font * cy.zoom();
        return { x: box.left + x, y: box.top + y, left: bounds.x1, label, text, colour };
      },
      destroy() {
        stopFocus();
        touches.abort();
        cy.destroy();
      },
    };
  }

  /** Make operators draggable: `calls` learns of each new lane while dragging, and of the drop. */
  function letDrag(cy, laneOf, deviceAt, calls) {
    let aimed = null;
    function aim(device) {
      if (aimed !== null) laneOf(aimed).removeClass("target");
      aimed = device;
      if (device !== null) laneOf(device).addClass("target");
    }
    cy.on("grab", "node.operator", ({ target }) => calls.choose("operator", target.data("number")));
    cy.on("drag", "node.operator", ({ target }) => {
      const device = deviceAt(target.position("y"));
      if (device === aimed) return;
      aim(device);
      calls.preview(target.data("number"), device);
    });
    cy.on("dragfree", "node.operator", ({ target }) => {
      aim(null);
      calls.drop(target.data("number"), deviceAt(target.position("y")));
    });
  }

  return { drawing };
})();
