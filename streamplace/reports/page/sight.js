// The size of a drawing and of its texts, in pixels. No text is smaller than 11 pixels.
SP.sight = (() => {
  "use strict";
  const EDGE = 10; // pixels of margin around the drawing
  const FINGER = 26; // pixels around the middle of an operator that a finger touches
  const LANE = 13; // largest font size of devices' names
  const LEAST = 11; // and the smallest
  const NAMES = 0.34; // largest share of the width for the names of devices, if they are readable then
  const OPERATOR = 12; // font size of operators' names
  const DENSE = 3; // the same in large graphs: they appear when the user zooms in
  const LABEL = 88; // pixels of an operator's name for which operators of a lane get several rows
  const HIGH = [320, 640]; // least height of a drawing, in low and high windows
  const OTHERS = 330; // pixels of a window for what is above and below the drawing
  const FAMILY = "system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif";
  const pen = document.createElement("canvas").getContext("2d");

  /** Return the size of a container. Reading it forces a layout of the page, so keep the result. */
  function roomOf(container) {
    return { width: container.clientWidth, height: container.clientHeight };
  }

  /** Return the width of a text in pixels. */
  function widthOf(text, font, weight = 400) {
    pen.font = `${weight} ${font}px ${FAMILY}`;
    return pen.measureText(text).width;
  }

  /**
   * Return the sizes of a drawing of `layers` columns in a container `room` pixels wide: where lanes
   * begin, their width and height, font sizes, and the letters of operators' names. `lines`
   * are the longest lines of the names of lanes.
   */
  function sizesOf(room, layers, lines, dense) {
    const widest = Math.max(1, ...lines.map((line) => widthOf(line, LANE, 600)));
    const most = NAMES * room - 2 * EDGE;
    const lane = Math.max(LEAST, LANE * Math.min(1, most / widest));
    const left = Math.ceil((widest * lane) / LANE) + 2 * EDGE;
    const width = Math.max(60, room - left - EDGE);
    const operator = dense ? DENSE : OPERATOR;
    const label = Math.min(width, Math.max(LABEL, width / Math.max(1, layers) - 6));
    const letters = Math.floor(label / widthOf("e", OPERATOR));
    const height = Math.min(HIGH[1], Math.max(HIGH[0], window.innerHeight - OTHERS));
    const fonts = { lane, operator };
    return { left, width, height, fonts, letters: Math.min(SP.labels.label, Math.max(8, letters)) };
  }

  /** Return the zoom and pan that show a drawing at its size. */
  const viewport = ({ left }) => ({ zoom: 1, pan: { x: left, y: EDGE } });

  /** Return how far a label that is centred at `x` must be moved to stay within `width`. */
  function shiftOf(text, x, width, font) {
    const half = widthOf(text, font) / 2 + 2;
    return Math.max(0, half - x) - Math.max(0, x + half - width);
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

  /** Let one finger scroll the page, except on an operator or while `isMoved()`; `signal` ends it. */
  function scrollByTouch(cy, container, isMoved, signal) {
    let scrolls = false;
    const nearOperator = ({ clientX, clientY }) => {
      const box = container.getBoundingClientRect();
      return cy.nodes(".operator").some((node) => {
        const { x, y } = node.renderedPosition();
        return Math.hypot(clientX - box.left - x, clientY - box.top - y) < FINGER;
      });
    };
    const listen = (kind, then) => container.addEventListener(kind, then, { capture: true, signal });
    listen("touchstart", (event) => {
      scrolls = event.touches.length === 1 && !isMoved() && !nearOperator(event.touches[0]);
    });
    for (const kind of ["touchstart", "touchmove", "touchend"]) {
      listen(kind, (event) => scrolls && event.stopPropagation());
    }
  }

  return { roomOf, widthOf, sizesOf, viewport, shiftOf, wheelWhenFocused, scrollByTouch, EDGE, LEAST };
})();
