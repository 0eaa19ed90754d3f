// The pointer in the Gantt view: hovering, choosing, dragging an operator, and panning.
SP.pointer = (() => {
  "use strict";

  /**
   * Follow the pointer on a canvas. A press that moves by more than `dragged` pixels is a drag of the
   * operator below it, or else pans. `calls` has operatorAt(point), hover(operator or null, point),
   * press(operator or null), drag(operator, point), drop(operator), cancel(), pan(dx, dy),
   * device(point) and wheel(point, amount), which returns whether it has used the wheel.
   */
  function follow(canvas, dragged, calls) {
    let pressed = null; // { operator, first, last, moves }
    const at = ({ offsetX: x, offsetY: y }) => ({ x, y });

    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const point = at(event);
      pressed = { operator: calls.operatorAt(point), first: point, last: point, moves: false };
      canvas.setPointerCapture(event.pointerId);
      calls.hover(null);
      calls.press(pressed.operator);
      document.addEventListener("keydown", escape);
      event.preventDefault();
    });

    canvas.addEventListener("pointermove", (event) => {
      const point = at(event);
      if (pressed === null) {
        calls.hover(calls.operatorAt(point), point);
        return;
      }
      const { first, last, operator } = pressed;
      pressed.moves ||= Math.hypot(point.x - first.x, point.y - first.y) > dragged;
      pressed.last = point;
      if (!pressed.moves) return;
      if (operator === null) calls.pan(point.x - last.x, point.y - last.y);
      else calls.drag(operator, point);
    });

    canvas.addEventListener("pointerup", (event) => {
      if (pressed === null) return;
      const { operator, moves } = released();
      if (operator === null && !moves) calls.device(at(event));
      if (operator !== null && moves) calls.drop(operator);
    });

    /** End a press and return it. */
    function released() {
      const was = pressed;
      pressed = null;
      document.removeEventListener("keydown", escape);
      return was;
    }

    function cancel() {
      if (pressed === null) return;
      const { operator, moves } = released();
      if (operator !== null && moves) calls.cancel();
    }

    function escape(event) {
      if (event.key === "Escape") cancel();
    }

    canvas.addEventListener("pointercancel", cancel);
    canvas.addEventListener("pointerleave", () => pressed === null && calls.hover(null));
    canvas.addEventListener("wheel", (event) => {
      if (calls.wheel(at(event), event.deltaY)) event.preventDefault();
    });
  }

  return { follow };
})();
