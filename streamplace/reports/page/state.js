// The edit history of a placement. Settings are immutable: every edit makes a new one.
SP.state = (() => {
  "use strict";
  const MIN = 1e-9; // limits of rates, speeds and bandwidths, as in streamplace
  const MAX = 1e15;

  /** Return a text or number as a number within the limits, or null. */
  function valid(text) {
    const value = typeof text === "number" ? text : Number(String(text).trim() || NaN);
    return value >= MIN && value <= MAX ? value : null;
  }

  /** Return the history of one placement's settings, starting from the original one. */
  function history(first) {
    let past = [];
    let now = first;
    let future = [];
    return {
      first,
      now: () => now,
      /** Change to another setting. Consecutive edits of one `kind` (a slider's) are undone together. */
      set(next, kind = null) {
        if (same(next, now)) return;
        if (kind === null || kind !== now.kind || past.length === 0) past.push(now);
        now = { ...next, kind };
        future = [];
      },
      /** End a group of edits, so that the next edit is undone separately. */
      settle() {
        now = { ...now, kind: null };
      },
      undo() {
        if (past.length === 0) return false;
        future.push(now);
        now = { ...past.pop(), kind: null };
        return true;
      },
      redo() {
        if (future.length === 0) return false;
        past.push(now);
        now = { ...future.pop(), kind: null };
        return true;
      },
      reset() {
        if (same(now, first)) return false;
        past.push(now);
        now = first;
        future = [];
        return true;
      },
      canUndo: () => past.length > 0,
      canRedo: () => future.length > 0,
    };
  }

  /** Return whether devices and links have the same speeds, so that only the rate sets the bound. */
  function sameMachines(a, b) {
    return a.bandwidth === b.bandwidth && a.mips.every((m, d) => m === b.mips[d]);
  }

  function sameAssignment(a, b) {
    return a.assignment === b.assignment || a.assignment.every((d, v) => d === b.assignment[v]);
  }

  const same = (a, b) => a.rate === b.rate && sameMachines(a, b) && sameAssignment(a, b);

  const moved = (now, operator, device) => ({
    ...now,
    assignment: now.assignment.with(operator, device),
  });
  const withRate = (now, rate) => ({ ...now, rate });
  const withMips = (now, device, mips) => ({ ...now, mips: now.mips.with(device, mips) });
  const withBandwidth = (now, bandwidth) => ({ ...now, bandwidth });

  return {
    history,
    valid,
    same,
    sameMachines,
    sameAssignment,
    moved,
    withRate,
    withMips,
    withBandwidth,
  };
})();
