// What of a drawing is in sight: all of it, until somebody zooms or pans.
SP.sight = (() => {
  "use strict";
  const LABELS = 130; // pixels for the names of devices, left of their lanes
  const EDGE = 12; // pixels that stay free around the drawing
  const FONT = 13; // pixels of devices' names, at most
  const LARGEST = 15; // units of an operator's name: more would not fit between two rows
  const LETTER = 0.56; // width of a letter, of the size of the text
  const pen = document.createElement("canvas").getContext("2d");

  /** Return the size of a container, asked for once: asking makes the browser lay out the page. */
  function roomOf(container) {
    return { width: container.clientWidth, height: container.clientHeight };
  }

  /** Return width over height of what is free for lanes. */
  function shapeOf(room) {
    const width = Math.max(100, room.width - LABELS - 3 * EDGE);
    return Math.min(3, Math.max(0.6, width / Math.max(100, room.height - 2 * EDGE)));
  }

  /** Return pixels of devices' names, so that the widest stays left of its lane. */
  function laneFont(names, twoLines) {
    pen.font = `600 ${FONT}px system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif`;
    const told = twoLines ? "" : "  99,999 %";
    const widest = Math.max(1, ...names.map((name) => pen.measureText(name + told).width));
    return FONT * Math.min(1, (LABELS - EDGE - 4) / widest);
  }

  /** Return units of the drawing a pixel, where all of it is to be seen, or what can be read. */
  function fitting(room, placed, whole = false) {
    const height = whole ? placed.height : Math.min(placed.height, SP.layout.TALLEST);
    return Math.max(
      0.5,
      placed.width / Math.max(100, room.width - LABELS - 3 * EDGE),
      height / Math.max(100, room.height - 2 * EDGE),
    );
  }

  /** Return zoom and pan that show a drawing. */
  function viewport(room, placed, whole) {
    const zoom = 1 / fitting(room, placed, whole);
    const spare = (room.width - LABELS - EDGE - placed.width * zoom) / 2;
    const pan = {
      x: LABELS + Math.max(0, spare),
      y: Math.max(EDGE, (room.height - placed.height * zoom) / 2),
    };
    return { zoom, pan };
  }

  /** Return sizes of text that can be read where the drawing is in sight; `names` are the lanes'. */
  function texts(room, placed, layers, names) {
    const unit = fitting(room, placed);
    const thinnest = Math.min(...placed.lanes.map((lane) => lane.height));
    const twoLines = thinnest / unit >= 2.2 * FONT;
    const font = Math.min(LARGEST * placed.stretch, Math.max(10, 11 * unit));
    const letters = Math.floor((placed.width / layers - 4) / (font * LETTER));
    return {
      twoLines,
      lane: { font: Math.min(laneFont(names, twoLines) * unit, thinnest * 0.85) },
      operator: { font, letters: Math.min(SP.labels.label, Math.max(8, letters)) },
    };
  }

  /** Let the wheel scroll the page until somebody turns to the drawing. Returns how to stop. */
  function wheelWhenFocused(cy, container) {
    const focused = (event) => cy.userZoomingEnabled(event.type === "focus");
    for (const kind of ["focus", "blur"]) container.addEventListener(kind, focused);
    cy.userZoomingEnabled(document.activeElement === container);
    cy.on("tapstart", () => container.focus({ preventScroll: true, focusVisible: false }));
    return () => {
      for (const kind of ["focus", "blur"]) container.removeEventListener(kind, focused);
    };
  }

  return { roomOf, shapeOf, viewport, texts, wheelWhenFocused };
})();
