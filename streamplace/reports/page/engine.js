// The event engine of schedules, the same as sim/schedule/engine.py. Pure functions.
//
// A moment has two phases that alternate until nothing is left to do. First, everything that happens
// by itself: ends, messages that start their channels, first bytes at receivers, arrivals. Then one
// operator starts. Only an operator that takes no time can cause anything at the same moment.
SP.engine = (() => {
  "use strict";
  const { coresOn } = SP.tasks;
  const { NOTHING, SEQUENCE, nextMoment, release, runOf } = SP.run;
  const { arrive, deliver, endOperator, land, queueMessage, startChannels } = SP.messages;
  const { enqueue, precedes, startItems } = SP.dispatch;

  /**
   * Return the state after a pass of a placement (device of each operator), with its makespan in
   * seconds: the times of every operator and message. Null if an operator cannot run on its device.
   * `order` has a kind and the position of each operator.
   */
  function timetable(tasks, order, devices) {
    const run = runOf(tasks, order, devices, precedes);
    if (run.duration.includes(Infinity)) return null;
    const instant = run.duration.includes(0);
    prepare(run);
    run.makespan = 0;
    for (let now = 0; now !== Infinity; now = nextMoment(run)) {
      happenings(run, now, instant);
      enqueue(run, now);
      startItems(run, now, instant);
      if (instant && nextMoment(run) !== now) {
        startChannels(run, now, true);
        land(run, now, true);
      }
    }
    return run;
  }

  /** Prepare sequences and levels, and let operators without inputs join. */
  function prepare(run) {
    const { tasks, order, devices } = run;
    if (order.kind === SEQUENCE) {
      const sequence = [...devices.keys()].sort((v, w) => order.position[w] - order.position[v]);
      for (const v of sequence) {
        run.following[v] = run.expected[devices[v]];
        run.expected[devices[v]] = v;
      }
    }
    for (let v = 0; v < tasks.operators; v++) {
      if (tasks.barrier) run.unfinished[tasks.level[v]] += 1;
      else if (tasks.inputs[v] === 0) run.joining.push(v);
    }
  }

  /** Handle everything that happens by itself at a moment. */
  function happenings(run, now, instant) {
    while (nextMoment(run) === now) {
      while (nextMoment(run) === now) {
        const what = run.events.pop();
        if (what < run.tasks.operators) run.makespan = now;
        happen(run, what, now);
      }
      startChannels(run, now, !instant);
      if (nextMoment(run) !== now) land(run, now, !instant); // all first bytes are here
    }
  }

  /** Handle an event: the end of an item, a first byte, an arrival, or rested cores. */
  function happen(run, what, now) {
    const { tasks, devices } = run;
    const { operators, streams } = tasks;
    const kind = what < operators ? NOTHING : Math.floor((what - operators) / streams);
    const k = what - operators - kind * streams;
    if (kind === NOTHING) {
      run.last = what;
      endOperator(run, what, now);
    } else if (kind === 0) {
      release(run, devices[tasks.source[k]], 1, what, now);
      queueMessage(run, k, now);
    } else if (kind === 1) {
      release(run, devices[tasks.target[k]], 1, what, now);
      deliver(run, k, now);
    } else if (kind === 2) run.landing.push(k);
    else if (kind === 3) arrive(run, k, now);
    else {
      const v = what - operators - 4 * streams;
      release(run, devices[v], coresOn(tasks, v, devices[v]), v, now);
    }
  }

  return { timetable };
})();
