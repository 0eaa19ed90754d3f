// The drawing: operators in the lanes of devices, with streams between them. Operators can be dragged.
SP.graph = (() => {
  "use strict";
  const MOVING = 160; // duration of an animated move in ms
  const ANIMATED = 150; // largest number of operators of an animated graph
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
    let room = SP.sight.roomOf(container);
    let placed = placedNow();
    let texts = textsNow();
    const dense = flow.names.length > ANIMATED;
    let untouched = true; // until the user zooms or pans, the drawing is kept fully visible
    const cy = cytoscape({
      container,
      elements: [
        ...placed.lanes.map((lane) => SP.elements.lane(lane, placed, texts.lane)),
        ...SP.elements.operators(problem, assignment, placed, texts.operator),
        ...SP.elements.streams(flow, assignment),
      ],
      style: SP.style.sheet(dense),
      layout: { name: "preset", fit: false },
      ...SP.sight.viewport(room, placed),
      autounselectify: true,
      boxSelectionEnabled: false,
      minZoom: 0.02,
      maxZoom: 3,
    });
    cy.one("render", calls.drawn);
    const node = (v) => cy.getElementById(`o${v}`);
    const stream = (e) => cy.getElementById(`s${e}`);
    const laneOf = (d) => cy.getElementById(`d${d}`);
    const animated = (gently) => gently && !still.matches && !dense;

    function placedNow() {
      return SP.layout.lanesOf(layers, assignment, devices.length, SP.sight.shapeOf(room));
    }

    function textsNow() {
      const names = placed.lanes.map(({ device }) => called.devices(device, SP.labels.narrow));
      return SP.sight.texts(room, placed, layers.count, names);
    }

    function fit(gently = false, whole = false) {
      const viewport = SP.sight.viewport(room, placed, whole);
      if (animated(gently)) cy.stop().animate({ ...viewport, duration: MOVING });
      else cy.stop().viewport(viewport);
    }

    function placeLanes() {
      const laneDevices = new Set(placed.lanes.map((lane) => lane.device));
      cy.nodes(".lane").forEach((lane) => {
        if (!laneDevices.has(lane.data("number"))) lane.remove();
      });
      for (const lane of placed.lanes) {
        const { position, ...made } = SP.elements.lane(lane, placed, texts.lane);
        const found = laneOf(lane.device);
        if (found.empty()) cy.add({ position, ...made });
        else {
          const { width, height, font } = made.data;
          found.data({ width, height, font }).position(position);
        }
      }
    }

    /** Set an operator's label in the font size and length that fit now. */
    function retext(v) {
      const { font, letters } = texts.operator;
      const label = called.operators(v, letters);
      const { font: was, label: old } = node(v).data();
      if (was !== font || old !== label) node(v).data({ font, label });
    }

    /** Move operators to the lanes of an assignment; those that stay are not touched. */
    function place(next, gently, everything = false) {
      const [before, was] = [assignment, placed];
      assignment = next;
      placed = placedNow();
      texts = textsNow();
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

    /** Return whether a stream is on the bottleneck link or the critical path. */
    function limits({ bottleneck: { link }, critical }, shown, e) {
      if (critical) return critical.streams.has(e);
      const [a, b] = [shown[flow.source[e]], shown[flow.target[e]]];
      return link !== null && a !== b && SP.links.linksBetween(a, b, calls.network).includes(link);
    }

    /**
     * Mark the bottleneck or the critical path, and show utilisations in the lanes; `shown` is the
     * scored assignment.
     */
    function mark(score, shown) {
      const full = score.bottleneck;
      cy.batch(() => {
        for (const { device } of placed.lanes) {
          const name = SP.text.isolated(called.devices(device, SP.labels.narrow));
          const between = texts.twoLines ? "\n" : "  ";
          const label = `${name}${between}${SP.text.percent(score.devices[device])}`;
          const lane = laneOf(device);
          if (lane.data("label") !== label) lane.data("label", label);
          lane.toggleClass("full", full.device === device);
        }
        flow.source.forEach((_, e) => {
          const on = limits(score, shown, e);
          if (on !== stream(e).hasClass("full")) stream(e).toggleClass("full", on);
        });
        if (score.critical) {
          cy.nodes(".operator").forEach((one) => {
            one.toggleClass("full", score.critical.operators.has(one.data("number")));
          });
        }
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
      room = SP.sight.roomOf(container);
      if (untouched) fit();
    });
    const stopFocus = SP.sight.wheelWhenFocused(cy, container);

    return {
      fit() {
        untouched = placed.height <= SP.layout.TALLEST;
        fit(false, true);
      },
      zoom(factor) {
        untouched = false;
        const renderedPosition = { x: room.width / 2, y: room.height / 2 };
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
