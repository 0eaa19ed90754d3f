// Messages of a pass, the same as sim/schedule/messages.py: what an operator sends, channels,
// receivers and inputs.
SP.messages = (() => {
  "use strict";
  const { ALL, FREE, NIC, NONE, PAIR, coresOn, linkBetween } = SP.tasks;
  const { NOTHING, join, plan, release } = SP.run;

  /** Free the cores of an operator, count its local inputs and make its messages. */
  function endOperator(run, v, now) {
    const { tasks, devices } = run;
    const a = devices[v];
    if (run.duration[v] > 0 && tasks.startup_s[a] > 0) {
      plan(run, now + tasks.startup_s[a], tasks.operators + 4 * tasks.streams + v);
    } else release(run, a, coresOn(tasks, v, a), v, now);
    address(run, v, now);
    for (let k = tasks.first[v]; k < tasks.end[v]; k++) {
      if (run.delivery[k] === k) time(run, k, linkBetween(tasks, a, devices[tasks.target[k]]));
    }
    for (let k = tasks.first[v]; k < tasks.end[v]; k++) {
      if (run.delivery[k] !== k || run.message[k] !== k) continue;
      run.mayStart[k] = now;
      run.sending[k] = tasks.hasJobs && sendSeconds(run, k) > 0 ? 1 : 0;
      if (run.sending[k]) join(run, tasks.operators + k, now);
      else queueMessage(run, k, now);
    }
    if (tasks.barrier) finishInLevel(run, v, v);
  }

  /** Assign the streams of an operator to deliveries and messages, and count local inputs. */
  function address(run, v, now) {
    const { tasks, devices } = run;
    let first = NOTHING;
    for (let k = tasks.first[v]; k < tasks.end[v]; k++) {
      const b = devices[tasks.target[k]];
      if (devices[v] === b || tasks.silent[k]) {
        run.delivery[k] = NOTHING;
        countInput(run, k, now);
        continue;
      }
      if (tasks.multicast === NONE || run.leadOf[b] !== v) {
        [run.leadOf[b], run.lead[b]] = [v, k];
        if (tasks.barrier) run.unfinished[tasks.level[v]] += 1;
        if (tasks.multicast !== ALL || first === NOTHING) first = k;
        run.message[k] = first;
      }
      run.delivery[k] = run.lead[b];
      const m = run.message[run.lead[b]];
      run.size[m] = Math.max(run.size[m], tasks.bits[k]);
    }
  }

  /** Extend the times of a message to those on the link of one of its deliveries. */
  function time(run, k, link) {
    const m = run.message[k];
    run.transfer[m] = Math.max(run.transfer[m], run.size[m] / run.tasks.rate[link]);
    run.latency[m] = Math.max(run.latency[m], run.tasks.latency_s[link]);
    run.gap[m] = Math.max(run.gap[m], run.tasks.gap_s[link]);
  }

  /** Return the deliveries of a message. */
  function deliveriesOf({ tasks, delivery, message }, m) {
    if (tasks.multicast !== ALL) return [m];
    const found = [];
    for (let k = m; k < tasks.end[tasks.source[m]]; k++) {
      if (delivery[k] === k && message[k] === m) found.push(k);
    }
    return found;
  }

  /** Return the CPU time of a message at its sender, in seconds. */
  function sendSeconds(run, m) {
    const { tasks, devices } = run;
    const a = devices[tasks.source[m]];
    const overheads = deliveriesOf(run, m).map(
      (k) => tasks.overhead_s[linkBetween(tasks, a, devices[tasks.target[k]])],
    );
    return Math.max(...overheads) + tasks.overhead_s_per_bit[a] * run.size[m];
  }

  /** Return the CPU time of a delivery at its receiver, in seconds. */
  function receiveSeconds(run, k) {
    const { tasks, devices } = run;
    const b = devices[tasks.target[k]];
    const overhead = tasks.overhead_in_s[linkBetween(tasks, devices[tasks.source[k]], b)];
    return overhead + tasks.overhead_s_per_bit[b] * run.size[run.message[k]];
  }

  /** Note that a message may start its channel at this moment. */
  function queueMessage(run, m, now) {
    run.mayStart[m] = now;
    run.starting.push(m);
  }

  /** Compare two messages by the moment at which they may start, then as `byProducer` does. */
  function byMoment(run, one, other) {
    return run.mayStart[one] - run.mayStart[other] || byProducer(run, one, other);
  }

  /** Compare two messages that may start at one moment: by their producers, then by index. */
  function byProducer(run, one, other) {
    const [v, w] = [run.tasks.source[one], run.tasks.source[other]];
    return run.end[v] - run.end[w] || v - w || one - other;
  }

  /**
   * Start the messages of this moment, in their order, if their channels are free. Unless the moment
   * is `settled`, so that no more messages can join, the others are kept: one that joins later may
   * precede them. A message that waits keeps its turn on all its channels.
   */
  function startChannels(run, now, settled) {
    run.turn += 1;
    run.starting.sort((m, n) => byProducer(run, m, n));
    run.starting = run.starting.filter((m) => {
      if (!mayBegin(run, m, now) && !settled) return true;
      for (const k of deliveriesOf(run, m)) depart(run, k);
      return false;
    });
  }

  /** Return whether a message may begin now; otherwise, note when, and its turn on channels. */
  function mayBegin(run, m, now) {
    run.begin[m] = now;
    run.held[m] = NOTHING;
    if (run.tasks.network === FREE) return true;
    let passes = true;
    const channels = deliveriesOf(run, m).map((k) => channelOf(run, k));
    for (const channel of channels) {
      if (channel.turn === run.turn) passes = false;
      if (channel.until > run.begin[m]) {
        run.begin[m] = channel.until;
        run.held[m] = channel.user;
      }
    }
    if (run.begin[m] === now && passes) return true;
    for (const channel of channels) channel.turn = run.turn;
    return false;
  }

  /** Return the sending channel of a delivery. */
  function channelOf({ tasks, devices, channels }, k) {
    const a = devices[tasks.source[k]];
    const number = tasks.network === PAIR ? linkBetween(tasks, a, devices[tasks.target[k]]) : a;
    if (!channels.has(number)) channels.set(number, { until: 0, user: NOTHING, turn: 0 });
    return channels.get(number);
  }

  /** Occupy the channel of a delivery, and plan its arrival or that of its first byte. */
  function depart(run, k) {
    const { tasks } = run;
    const m = run.message[k];
    if (tasks.network !== FREE) {
      const channel = channelOf(run, k);
      channel.until = run.begin[m] + run.transfer[m] + run.gap[m];
      channel.user = m;
    }
    const landing = tasks.operators + 2 * tasks.streams + k;
    if (tasks.network === NIC) plan(run, run.begin[m] + run.latency[m], landing);
    else plan(run, run.begin[m] + run.transfer[m] + run.latency[m], landing + tasks.streams);
  }

  /**
   * Serve the deliveries whose first byte reaches their receiver now, in their order. Unless the
   * moment is `settled`, those whose receiver is busy are kept; see `startChannels`.
   */
  function land(run, now, settled) {
    const { tasks, devices, message } = run;
    run.landing.sort((k, l) => byProducer(run, message[k], message[l]));
    run.landing = run.landing.filter((k) => {
      if (run.receiver[devices[tasks.target[k]]] > now && !settled) return true;
      serve(run, k, now);
      return false;
    });
  }

  /** Occupy the receiver of a delivery, and plan its arrival. */
  function serve(run, k, now) {
    const { tasks, devices } = run;
    const [m, b] = [run.message[k], devices[tasks.target[k]]];
    const seconds = run.size[m] / tasks.rate_in[b];
    const begin = Math.max(now, run.receiver[b]);
    let arrival = run.begin[m] + run.transfer[m] + run.latency[m];
    run.heldIn[k] = NOTHING;
    if (begin + seconds > arrival) {
      arrival = begin + seconds;
      if (begin > now) run.heldIn[k] = run.receiverUser[b];
    }
    run.receiver[b] = begin + seconds + tasks.gap_in_s[b];
    run.receiverUser[b] = k;
    plan(run, arrival, tasks.operators + 3 * tasks.streams + k);
  }

  /** Queue the receive job of a delivery, or count its inputs. */
  function arrive(run, k, now) {
    const { tasks } = run;
    run.arrival[k] = now;
    run.receiving[k] = tasks.hasJobs && receiveSeconds(run, k) > 0 ? 1 : 0;
    if (run.receiving[k]) join(run, tasks.operators + tasks.streams + k, now);
    else deliver(run, k, now);
  }

  /** Count the inputs that a delivery serves. */
  function deliver(run, k, now) {
    const { tasks } = run;
    const v = tasks.source[k];
    const end = tasks.multicast === NONE ? k + 1 : tasks.end[v];
    for (let e = k; e < end; e++) if (run.delivery[e] === k) countInput(run, e, now);
    if (tasks.barrier) finishInLevel(run, v, tasks.operators + k);
  }

  /** Count the input that a stream brings; the last one lets its operator join. */
  function countInput(run, e, now) {
    const w = run.tasks.target[e];
    run.waiting[w] -= 1;
    if (run.waiting[w] > 0) return;
    run.lastInput[w] = e;
    run.ready[w] = now;
    if (!run.tasks.barrier) run.joining.push(w);
  }

  /** Count an operator, or a delivery of it, as done. */
  function finishInLevel(run, v, what) {
    const level = run.tasks.level[v];
    run.unfinished[level] -= 1;
    if (run.unfinished[level] === 0) run.closer[level] = what;
  }

  return {
    deliveriesOf,
    endOperator,
    queueMessage,
    startChannels,
    land,
    arrive,
    deliver,
    sendSeconds,
    receiveSeconds,
    byMoment,
  };
})();
