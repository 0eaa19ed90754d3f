// Keyboard shortcuts: undo and redo on the whole page, arrow keys in the graph.
SP.keys = (() => {
  "use strict";

  /** Call undo() and redo() for their keys, except in a field with unfinished typing. */
  function history(undo, redo) {
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (target.dataset?.shown !== undefined && target.dataset.shown !== target.value) return;
      const key = event.key.toLowerCase();
      if (key === "z" && !event.shiftKey) undo();
      else if (key === "y" || key === "z") redo();
      else return;
      event.preventDefault();
    });
  }

  /**
   * Let left and right choose an operator, and up and down move it to the previous or next device.
   * `at` returns { operator (or null), device, operators, devices }, or null.
   */
  function arrows(container, at, calls) {
    container.addEventListener("keydown", (event) => {
      const now = at();
      if (now === null || !event.key.startsWith("Arrow")) return;
      if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own shortcuts, such as going back
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
