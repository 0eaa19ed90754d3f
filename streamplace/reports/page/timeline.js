// The bars of a schedule: a row for each device, with a lane for each item that runs at the same time.
SP.timeline = (() => {
  "use strict";
  const ROUNDING = 1e-12; // relative to the makespan: of the starts of jobs

  /**
   * Return the rows of devices that have a lane: { device, lanes }, where a lane is a list of bars
   * { operator, job, start, end } in the order of their starts. Jobs are the CPU time of messages;
   * their `operator` is -1.
   */
  function rowsOf(run, devicesShown) {
    const bars = new Map(devicesShown.map((d) => [d, []]));
    const add = (d, bar) => bars.get(d)?.push(bar);
    run.devices.forEach((d, v) => {
      add(d, { operator: v, job: null, start: run.start[v], end: run.end[v] });
    });
    for (const { device, ...job } of jobsOf(run)) add(device, { operator: -1, ...job });
    return [...bars].map(([device, all]) => ({ device, lanes: lanesOf(all, ROUNDING * run.makespan) }));
  }

  /** Return the jobs of messages: { device, job, start, end }, where `job` is "send" or "receive". */
  function jobsOf(run) {
    const { operators, streams, source, target, hasJobs } = run.tasks;
    if (!hasJobs) return [];
    const jobs = [];
    const add = (job, d, item, seconds) => {
      const end = run.when[item];
      jobs.push({ device: run.devices[d], job, start: end - seconds, end });
    };
    run.delivery.forEach((k, e) => {
      if (k !== e) return;
      if (run.message[e] === e && run.sending[e]) {
        add("send", source[e], operators + e, SP.messages.sendSeconds(run, e));
      }
      if (run.receiving[e]) {
        const seconds = SP.messages.receiveSeconds(run, e);
        add("receive", target[e], operators + streams + e, seconds);
      }
    });
    return jobs;
  }

  /** Distribute bars over lanes: each goes to the first lane that is free at its start. */
  function lanesOf(bars, rounding) {
    bars.sort((a, b) => a.start - b.start || a.end - b.end || a.operator - b.operator);
    const lanes = [];
    for (const bar of bars) {
      const free = lanes.find((lane) => lane.at(-1).end <= bar.start + rounding);
      if (free) free.push(bar);
      else lanes.push([bar]);
    }
    return lanes.length > 0 ? lanes : [[]];
  }

  /** Return the messages of a schedule: { number, from, to, begin, arrival }, by delivery. */
  function messagesOf(run) {
    const { source, target } = run.tasks;
    const found = [];
    run.delivery.forEach((k, e) => {
      if (k !== e) return;
      const begin = run.begin[run.message[e]];
      found.push({ number: e, from: source[e], to: target[e], begin, arrival: run.arrival[e] });
    });
    return found;
  }

  /** Return about `count` round moments between two moments, and the distance between them. */
  function ticks(from, to, count) {
    const rough = (to - from) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const first = Math.ceil(from / step);
    const length = Math.max(0, Math.floor(to / step) - first + 1);
    return { step, moments: Array.from({ length }, (_, i) => (first + i) * step) };
  }

  return { rowsOf, messagesOf, ticks };
})();
