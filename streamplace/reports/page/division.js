// What the makespan consists of, along the inputs that the last operator waited for; as in
// sim/schedule/passes.py.
SP.division = (() => {
  "use strict";
  const { NOTHING } = SP.run;
  const { NIC } = SP.tasks;
  const NAMES = {
    work: "work",
    messages: "messages",
    overheads: "sending and receiving on cores",
    devices: "waiting for devices",
    channels: "waiting for channels",
    levels: "waiting for levels",
  };

  /**
   * Return { chain, parts } of a pass: the operators from a source to the one that ends last, each
   * with the producer of the input that arrived last before it, and the parts of the makespan in
   * seconds by the keys of `NAMES`, which add up to it.
   */
  function divide(run) {
    const chain = [];
    const parts = { work: 0, messages: 0, overheads: 0, devices: 0, channels: 0, levels: 0 };
    for (let v = run.last; v !== null; v = before(run, v, parts)) {
      chain.push(v);
      parts.work += run.end[v] - run.start[v];
      parts.devices += run.start[v] - run.joined[v];
      parts.levels += run.joined[v] - run.ready[v];
    }
    return { chain: chain.reverse(), parts };
  }

  /** Add the message that operator v waited for, and return its producer; null for a source. */
  function before(run, v, parts) {
    const e = run.lastInput[v];
    if (e === NOTHING) return null;
    const u = run.tasks.source[e];
    const k = run.delivery[e];
    if (k === NOTHING) return u;
    const m = run.message[k];
    const queued = queuedAtReceiver(run, k, m);
    parts.overheads += run.ready[v] - run.arrival[k] + (run.mayStart[m] - run.end[u]);
    parts.channels += run.begin[m] - run.mayStart[m] + queued;
    parts.messages += run.arrival[k] - run.begin[m] - queued;
    return u;
  }

  /** Return for how long a delivery waited for others at its receiver, in seconds. */
  function queuedAtReceiver(run, k, m) {
    const { tasks } = run;
    if (tasks.network !== NIC || run.heldIn[k] === NOTHING) return 0;
    const receiver = run.devices[tasks.target[k]];
    const transfer = Math.max(run.transfer[m], run.size[m] / tasks.rate_in[receiver]);
    return Math.max(0, run.arrival[k] - run.begin[m] - run.latency[m] - transfer);
  }

  /** Return the parts above 0, [words, share of the makespan], the largest first. */
  function shares({ parts }, makespan) {
    const found = Object.entries(parts).filter(([, seconds]) => seconds > 0 && makespan > 0);
    return found
      .sort(([, x], [, y]) => y - x)
      .map(([name, seconds]) => [NAMES[name], seconds / makespan]);
  }

  return { divide, shares };
})();
