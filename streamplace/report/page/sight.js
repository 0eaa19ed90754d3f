// What of a drawing is in sight: all of it, until somebody zooms or pans.
SP.sight = (() => {
  "use strict";
  const LABELS = 110; // pixels for the names of devices, left of their lanes
  const EDGE = 12; // pixels that stay free around the drawing
  const FONT = 13; // pixels of devices' names, at most
  const LARGEST = 15; // units of an operator's name: more would not fit between two rows

  /** Return the size of a container, asked for once: asking makes the browser lay out the page. */
  function roomOf(container) {
    return { width: container.clientWidth, height: container.clientHeight };
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

  /** Return sizes of text that can be read where the drawing is in sight. */
  function texts(room, placed, layers) {
    const unit = fitting(room, placed);
    const thinnest = Math.min(...placed.lanes.map((lane) => lane.height));
    return {
      twoLines: thinnest / unit >= 2.2 * FONT,
      lane: { font: Math.min(FONT * unit, thinnest * 0.85), margin: LABELS * unit },
      operator: {
        font: Math.min(LARGEST, Math.max(10, 11 * unit)),
        room: Math.max(40, placed.width / layers - 8),
      },
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

  return { roomOf, viewport, texts, wheelWhenFocused };
})();
