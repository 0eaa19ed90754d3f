// Keys: undo and redo anywhere, arrows in the graph.
SP.keys = (() => {
  "use strict";

  /** Call undo() and redo() for their keys, but where a field holds text not yet taken over. */
  function history(undo, redo) {
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (target.dataset?.told !== undefined && target.dataset.told !== target.value) return;
      const key = event.key.toLowerCase();
      if (key === "z" && !event.shiftKey) undo();
      else if (key === "y" || key === "z") redo();
      else return;
      event.preventDefault();
    });
  }

  /**
   * Left and right choose an operator, up and down move it to the device before or after.
   * `at` returns { operator (or null), device, operators, devices }.
   */
  function arrows(container, at, calls) {
    container.addEventListener("keydown", (event) => {
      const now = at();
      if (now === null || !event.key.startsWith("Arrow")) return;
      if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own: back
      event.preventDefault();
      const { operator: v, device, operators, devices } = now;
      if (event.key === "ArrowRight")
        calls.choose("operator", v === null ? 0 : (v + 1) % operators);
      else if (event.key === "ArrowLeft") {
        calls.choose("operator", ((v ?? 0) + operators - 1) % operators);
      } else if (v !== null) {
        const to = device + (event.key === "ArrowDown" ? 1 : -1);
        if (to >= 0 && to < devices) calls.move(v, to);
      }
    });
  }

  return { history, arrows };
})();
