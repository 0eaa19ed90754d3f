// What each operator and message waited for, and the critical path; as in sim/schedule/passes.py.
SP.critical = (() => {
  "use strict";
  const { NOTHING } = SP.run;
  const { NIC } = SP.tasks;

  /**
   * Return the critical path of a pass: { kind, number, start, end, waitedFor } of operators and of
   * messages, whose number is that of their delivery, up to the last end. `waitedFor` is what delayed
   * the start: "input", "device", "channel", "receiver", "level" or "".
   */
  function pathOf(run) {
    const steps = [];
    const visited = new Set(); // messages of no length can wait for each other at both ends
    let item = run.last;
    while (item !== null) {
      visited.add(item);
      const [step, before] = stepOf(run, item, visited);
      if (step !== null) steps.push(step);
      item = before;
    }
    return steps.reverse();
  }

  /** Return an item or message and the one before it. Delivery k is V + 2 E + k. */
  function stepOf(run, item, visited = new Set()) {
    const { operators, streams, source } = run.tasks;
    if (item >= operators + 2 * streams) return message(run, item - operators - 2 * streams, visited);
    const cause = run.cause[item];
    if (item < operators) return operator(run, item, cause);
    const k = (item - operators) % streams; // a job: part of its message
    if (cause !== NOTHING) return [null, cause];
    return [null, item >= operators + streams ? item + streams : source[k]];
  }

  function operator(run, v, cause) {
    const { operators, barrier, level, source } = run.tasks;
    let [reason, before] = ["", null];
    if (cause !== NOTHING) [reason, before] = ["device", cause];
    else if (barrier && level[v] > 0) {
      const closer = run.closer[level[v] - 1];
      [reason, before] = ["level", closer < operators ? closer : counted(run, closer)];
    } else if (run.lastInput[v] !== NOTHING) {
      const e = run.lastInput[v];
      const k = run.delivery[e];
      [reason, before] = ["input", k === NOTHING ? source[e] : counted(run, operators + k)];
    }
    const [start, end] = [run.start[v], run.end[v]];
    return [{ kind: "operator", number: v, start, end, waitedFor: reason }, before];
  }

  /** Return what let the inputs of a delivery, V + k, count: its receive job, or itself. */
  function counted(run, delivery) {
    const { operators, streams } = run.tasks;
    return delivery + (run.receiving[delivery - operators] ? 1 : 2) * streams;
  }

  function message(run, k, visited) {
    const { operators, streams, source, network } = run.tasks;
    const m = run.message[k];
    const first = operators + 2 * streams;
    let [reason, before] = ["", run.sending[m] ? operators + m : source[m]];
    const heldIn = network === NIC ? run.heldIn[k] : NOTHING;
    for (const [why, other] of [
      ["receiver", heldIn],
      ["channel", run.held[m]],
    ]) {
      if (other === NOTHING || visited.has(first + other)) continue;
      [reason, before] = [why, first + other];
      break;
    }
    const [start, end] = [run.begin[m], run.arrival[k]];
    return [{ kind: "message", number: k, start, end, waitedFor: reason }, before];
  }

  return { pathOf, stepOf };
})();
