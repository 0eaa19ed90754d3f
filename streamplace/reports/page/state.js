// The edit history of the page. Settings of placements are immutable: every edit makes a new one.
SP.state = (() => {
  "use strict";
  const MIN = 1e-9; // limits of rates, speeds and bandwidths, as in streamplace
  const MAX = 1e15;

  /** Return a text or number as a number within the limits, or null. */
  function valid(text) {
    const value = typeof text === "number" ? text : Number(String(text).trim() || NaN);
    return value >= MIN && value <= MAX ? value : null;
  }

  /** Return the history of the settings of all placements, starting from the original ones. */
  function history(first) {
    let past = [];
    let now = first;
    let future = [];
    let group = null; // kind of the edits (a slider's) that are undone together
    const isFirst = () => now.every((setting, i) => same(setting, first[i]));
    function set(next, kind = null) {
      if (next.every((setting, i) => same(setting, now[i]))) return;
      if (kind === null || kind !== group) past.push(now);
      [now, future, group] = [next, [], kind];
    }
    function step(from, to) {
      if (from.length === 0) return;
      to.push(now);
      [now, group] = [from.pop(), null];
    }
    return {
      now: () => now,
      set,
      /** End a group of edits, so that the next edit is undone separately. */
      settle() {
        group = null;
      },
      undo: () => step(past, future),
      redo: () => step(future, past),
      reset: () => set(first),
      isFirst,
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
  /** Return a setting with another source rate; those of single passes have none. */
  const withRate = (now, rate) => (now.rate === undefined ? now : { ...now, rate });
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
