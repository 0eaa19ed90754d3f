// Memory, slots and resources: what devices have of them, and what operators on them take. As in
// streamplace/problem/limits.py and streamplace/scoring/loads.py. Pure functions.
SP.limits = (() => {
  "use strict";
  const STEPS = 1e6; // fractions of an amount are counted in millionths
  const SLOTS = "slots";
  const NOISE = 1e3; // parts of a millionth that are kept, far above rounding errors of fractions

  /** Return an amount as a whole number of steps, rounded down. */
  const counted = (amount, steps) => Math.floor(Math.round(amount * steps * NOISE) / NOISE);

  /** Return the amount of a resource in a row of a file; names of resources may be any text. */
  const amountIn = ({ resources = {} }, name) =>
    Object.hasOwn(resources, name) ? resources[name] : 0;

  /**
   * Return the limits of a cluster: memory, whose name is null, if operators take any; slots, if a
   * device has a number of them; and the resources that operators take or devices offer. Each has
   * `room`, counts by device, and `needs`, counts by operator. Without a file, `known` has the
   * amounts `used` on each device instead, and `operators` the numbers of operators there.
   */
  function limitsOf(file, cluster, known = [], operators = null) {
    const rows = file?.operators ?? [];
    const used = new Map(known.map((one) => [one.resource, one.used]));
    const memory = {
      name: null,
      steps: 1,
      needs: rows.map((row) => row.memory_bytes ?? 0),
      room: cluster.devices.map((device) => device.memory_bytes ?? Infinity),
      used: used.get(null) ?? null,
    };
    const named = [...rows, ...cluster.devices].flatMap((row) => Object.keys(row.resources ?? {}));
    const names = new Set([...named, ...used.keys()]);
    names.delete(null);
    const resources = [...names].sort().map((name) => resourceOf(name, rows, cluster, used));
    const remembers = memory.used !== null || memory.needs.some((bytes) => bytes > 0);
    return [...(remembers ? [memory] : []), ...slotsOf(rows, cluster, operators), ...resources];
  }

  /** Return the slots of devices, of which each operator takes one, as a list of one limit or none. */
  function slotsOf(rows, cluster, operators) {
    const room = cluster.devices.map((device) => device.slots ?? Infinity);
    if (room.every((count) => count === Infinity)) return [];
    return [
      { name: SLOTS, isSlots: true, steps: 1, needs: rows.map(() => 1), room, used: operators },
    ];
  }

  function resourceOf(name, rows, cluster, used) {
    const taken = rows.map((row) => amountIn(row, name));
    const offered = cluster.devices.map((device) => amountIn(device, name));
    const steps = [...taken, ...offered].every(Number.isInteger) ? 1 : STEPS;
    const amounts = used.get(name) ?? (rows.length > 0 ? null : offered.map(() => 0));
    return {
      name,
      steps,
      needs: taken.map((amount) => counted(amount, steps)),
      room: offered.map((amount) => counted(amount, steps)),
      used: amounts && amounts.map((amount) => amount * steps),
    };
  }

  /** Return the counts that an assignment (device of each operator) takes on each device. */
  function usedBy(limit, assignment) {
    if (limit.used !== null) return limit.used;
    const sums = new Float64Array(limit.room.length);
    assignment.forEach((d, v) => {
      sums[d] += limit.needs[v];
    });
    return sums;
  }

  /** Return a count in words without its name, such as “2 GB” or “1”. */
  function amount({ name, steps }, count) {
    return name === null ? SP.text.bytes(count) : SP.text.number(count / steps);
  }

  /** Return what follows an amount in words: slots, the name of a resource, or nothing. */
  function unit({ name, isSlots }, count) {
    if (isSlots) return count === 1 ? " slot" : " slots";
    return name === null ? "" : ` ${SP.text.isolated(SP.text.shortened(name, SP.labels.long))}`;
  }

  /** Return what is used of what device d has, such as “2 GB of 4 GB”; null if it has nothing. */
  function useOf(limit, used, d) {
    const [count, room] = [used[d], limit.room[d]];
    if (limit.name !== null && count === 0 && room === 0) return null;
    if (room === Infinity) return limit.isSlots ? null : amount(limit, count);
    return `${amount(limit, count)} of ${amount(limit, room)}${unit(limit, room)}`;
  }

  /** Return what device d would need and has, if that is more than it has; otherwise null. */
  function excessOf(limit, used, d) {
    const room = limit.room[d];
    if (used[d] <= room) return null;
    const what = limit.name === null ? " of memory" : unit(limit, used[d]);
    const none = limit.name !== null && room === 0;
    return `${amount(limit, used[d])}${what} but has ${none ? "none" : amount(limit, room)}`;
  }

  return { limitsOf, usedBy, useOf, excessOf };
})();
