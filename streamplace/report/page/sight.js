// The visible part of a drawing: all of it, until the user zooms or pans.
SP.sight = (() => {
  "use strict";
  const LABELS = 130; // pixels for the names of devices, left of their lanes
  const EDGE = 12; // pixels of margin around the drawing
  const FONT = 13; // largest font size of devices' names, in pixels
  const LARGEST = 15; // largest font size of operators' names that fits between rows, in units
  const LETTER = 0.56; // mean width of a letter, relative to the font size
  const pen = document.createElement("canvas").getContext("2d");

  /** Return the size of a container. Reading it forces a layout of the page, so keep the result. */
  function roomOf(container) {
    return { width: container.clientWidth, height: container.clientHeight };
  }

  /** Return the aspect ratio (width over height) of the space for lanes. */
  function shapeOf(room) {
    const width = Math.max(100, room.width - LABELS - 3 * EDGE);
    return Math.min(3, Math.max(0.6, width / Math.max(100, room.height - 2 * EDGE)));
  }

  /** Return the font size of devices' names in pixels, so that the widest fits left of its lane. */
  function laneFont(names, twoLines) {
    pen.font = `600 ${FONT}px system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif`;
    const value = twoLines ? "" : "  99,999 %";
    const widest = Math.max(1, ...names.map((name) => pen.measureText(name + value).width));
    return FONT * Math.min(1, (LABELS - EDGE - 4) / widest);
  }

  /** Return drawing units per pixel at which the whole drawing, or its readable part, is visible. */
  function fitting(room, placed, whole = false) {
    const height = whole ? placed.height : Math.min(placed.height, SP.layout.TALLEST);
    return Math.max(
      0.5,
      placed.width / Math.max(100, room.width - LABELS - 3 * EDGE),
      height / Math.max(100, room.height - 2 * EDGE),
    );
  }

  /** Return the zoom and pan that show a drawing. */
  function viewport(room, placed, whole) {
    const zoom = 1 / fitting(room, placed, whole);
    const spare = (room.width - LABELS - EDGE - placed.width * zoom) / 2;
    const pan = {
      x: LABELS + Math.max(0, spare),
      y: Math.max(EDGE, (room.height - placed.height * zoom) / 2),
    };
    return { zoom, pan };
  }

  /** Return readable font sizes for a fully visible drawing; `names` are those of the lanes. */
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

  /** Let the wheel scroll the page, and zoom only while the drawing has focus. Return a cleanup function. */
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
