// Times of operators by kind of device, which count instead of instructions. Pure functions.
SP.times = (() => {
  "use strict";
  const SLOW = /^(.+) at ([0-9.e-]+) of its speed$/s; // as in streamplace/problem/seconds.py
  const SLOWEST = 1e-300; // least share of a kind's speed, so that times remain finite
  const MAX_SECONDS = 1e15;

  /** Return the times of an operator of a file by kind of device. */
  const timesOf = ({ seconds_on: on }) => new Map(Object.entries(on ?? {}));

  /**
   * Return the time by kind of device that is stated for devices of a kind: seconds per tuple, null
   * if the operator cannot run there, or undefined if there is none. A slow kind, such as “gpu at
   * 0.5 of its speed”, has the time of “gpu” divided by 0.5 unless it has its own, as in
   * streamplace/problem/seconds.py.
   */
  function stated(times, kind) {
    let [named, share] = [kind ?? null, 1];
    while (named !== null && !times.has(named)) {
      const [, base, left] = SLOW.exec(named) ?? [];
      const slower = Number(left) > 0 && Number(left) <= 1;
      [named, share] = slower ? [base, share * Number(left)] : [null, share];
    }
    if (named === null) return undefined;
    const seconds = times.get(named);
    return seconds === null ? null : Math.min(seconds / Math.max(share, SLOWEST), MAX_SECONDS);
  }

  /** Return the seconds per tuple of operator v on a device by the device's kind, or null. */
  const timeOn = (flow, v, device) => stated(flow.times[v], device.kind) ?? null;

  /**
   * Return the instructions per tuple of operator v on a device without a time. Where it cannot run
   * there, they are the mean over the devices on which it can, as in streamplace/scoring/arrays.py.
   */
  function instructionsOn(flow, v, device, devices) {
    if (flow.times[v].size === 0) return flow.instructions[v] ?? 0;
    const known = instructionsAt(flow, v, device);
    if (known !== null) return known;
    const possible = devices.map((d) => instructionsAt(flow, v, d)).filter((each) => each !== null);
    return possible.reduce((sum, each) => sum + each, 0) / Math.max(1, possible.length);
  }

  /** Return the instructions per tuple that a time or a number states for a device, or null. */
  function instructionsAt(flow, v, device) {
    const time = stated(flow.times[v], device.kind);
    if (time === undefined) return flow.instructions[v] ?? null;
    return time === null ? null : time * device.mips * 1e6 * Math.min(flow.cores[v], device.cores);
  }

  /** Return the instructions of each operator on its device, for one tuple at the sources. */
  function workUnder(flow, assignment, devices) {
    return assignment.map((d, v) => flow.tuples[v] * instructionsOn(flow, v, devices[d], devices));
  }

  /** Return the devices of a cluster with the speeds of a setting. */
  const devicesAt = (cluster, { mips }) =>
    cluster.devices.map((device, d) => ({ ...device, mips: mips[d] }));

  return { timesOf, stated, timeOn, instructionsOn, workUnder, devicesAt };
})();
