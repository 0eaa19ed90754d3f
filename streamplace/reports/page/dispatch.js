// Queues of devices, and what starts, the same as sim/schedule/engine.py.
SP.dispatch = (() => {
  "use strict";
  const { coresOn } = SP.tasks;
  const { FIFO, NOTHING, SEQUENCE, plan } = SP.run;

  /** Return whether an item starts before another one on the same device, or at one moment. */
  function precedes(run, one, other) {
    const { order, ready } = run;
    const { operators } = run.tasks;
    const [isJob, otherIsJob] = [one >= operators, other >= operators];
    if (!isJob && !otherIsJob && order.kind !== FIFO) {
      return order.position[one] < order.position[other];
    }
    const byTime = order.kind === FIFO || (isJob && otherIsJob);
    if (byTime && ready[one] !== ready[other]) return ready[one] < ready[other];
    if (isJob !== otherIsJob) return isJob;
    return isJob ? jobPrecedes(run, one - operators, other - operators) : one < other;
  }

  /** Return whether a job precedes another one of its moment: a message, or E + a delivery. */
  function jobPrecedes(run, one, other) {
    const { streams } = run.tasks;
    if (one >= streams !== other >= streams) return one >= streams;
    if (one < streams) return SP.messages.byMoment(run, one, other) < 0;
    const [m, n] = [run.message[one - streams], run.message[other - streams]];
    return m === n ? one < other : SP.messages.byMoment(run, m, n) < 0;
  }

  /** Return the device that an item runs on. */
  function deviceOf({ tasks, devices }, item) {
    const { operators, streams } = tasks;
    if (item < operators) return devices[item];
    if (item < operators + streams) return devices[tasks.source[item - operators]];
    return devices[tasks.target[item - operators - streams]];
  }

  /** Add the items that join at this moment to the queues of their devices. */
  function enqueue(run, now) {
    if (run.tasks.barrier) openLevels(run);
    for (const item of run.joining) {
      const d = deviceOf(run, item);
      run.joined[item] = now;
      run.queues[d].push(item);
      run.touched.add(d);
    }
    run.joining = [];
  }

  /** Let the operators of a level join if the levels before are done. */
  function openLevels(run) {
    const { level, byLevel, operators } = run.tasks;
    while (run.opened < operators) {
      const opening = level[byLevel[run.opened]];
      if (opening > 0 && run.unfinished[opening - 1] > 0) return;
      while (run.opened < operators && level[byLevel[run.opened]] === opening) {
        run.joining.push(byLevel[run.opened]);
        run.opened += 1;
      }
    }
  }

  /** Return the item that may start on a device now; undefined if there is none. */
  function startable(run, d) {
    const { tasks, order } = run;
    const item = run.queues[d].first();
    if (item === undefined) return undefined;
    const isJob = item >= tasks.operators;
    if (!isJob && order.kind === SEQUENCE && run.expected[d] !== item) return undefined;
    return run.free[d] >= (isJob ? 1 : coresOn(tasks, item, d)) ? item : undefined;
  }

  /**
   * Start what may start, up to the first operator that takes no time. Unless some operator is
   * `instant`, so that it takes no time, the order between devices has no effect.
   */
  function startItems(run, now, instant) {
    while (run.touched.size > 0) {
      let best;
      for (const d of run.touched) {
        const item = startable(run, d);
        if (item === undefined) run.touched.delete(d);
        else if (best === undefined || precedes(run, item, best)) best = item;
        if (best !== undefined && !instant) break;
      }
      if (best === undefined) return;
      const end = start(run, best, now);
      if (best < run.tasks.operators && end === now) return;
    }
  }

  /** Start the first item of its device's queue; return the moment of its end. */
  function start(run, item, now) {
    const { tasks, order } = run;
    const { operators, streams } = tasks;
    const d = deviceOf(run, item);
    run.queues[d].pop();
    if (run.joined[item] < now) {
      const inTime = run.releaser[d] !== NOTHING && run.released[d] === now;
      run.cause[item] = inTime ? run.releaser[d] : run.latest[d];
    }
    let end = now;
    if (item < operators) {
      end += run.duration[item];
      [run.start[item], run.end[item]] = [now, end];
      run.free[d] -= coresOn(tasks, item, d);
      if (order.kind === SEQUENCE) {
        run.expected[d] = run.following[item];
        run.latest[d] = item;
      }
    } else {
      if (item < operators + streams) end += SP.messages.sendSeconds(run, item - operators);
      else end += SP.messages.receiveSeconds(run, item - operators - streams);
      run.free[d] -= 1;
    }
    plan(run, end, item);
    return end;
  }

  return { precedes, enqueue, startItems };
})();
