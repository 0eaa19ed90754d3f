// The state of one pass, the same as sim/schedule/state.py: what runs, waits and travels.
//
// Items are numbered: operator v is v, the send job of message m is V + m, and its receive job is
// V + E + m. Events are items that end, then first bytes at receivers (V + 2 E + k), arrivals
// (V + 3 E + k) and cores that have rested (V + 4 E + v).
SP.run = (() => {
  "use strict";
  const FIFO = 0; // orders of the operators on a device
  const RANKED = 1;
  const SEQUENCE = 2;
  const NOTHING = -1;
  const numbers = (length) => new Float64Array(length);
  const indices = (length) => new Int32Array(length).fill(NOTHING);

  /**
   * Return the state before a pass of a placement (device of each operator). `order` has a kind and
   * the position of each operator; `precedes(run, a, b)` is the order of items in a queue.
   */
  function runOf(tasks, order, assignment, precedes) {
    const { operators, streams, devices } = tasks;
    const items = operators + 2 * streams;
    const when = numbers(2 * operators + 4 * streams);
    const run = {
      tasks,
      order,
      devices: assignment,
      start: numbers(operators),
      end: numbers(operators),
      duration: Float64Array.from(assignment, (d, v) => SP.tasks.secondsOn(tasks, v, d)),
      waiting: Int32Array.from(tasks.inputs), // inputs that have not arrived
      ready: numbers(items), // moment at which each item became runnable
      joined: numbers(items), // moment at which it joined the queue of its device
      delivery: indices(streams), // the delivery that serves each stream
      message: indices(streams), // the message of each delivery
      mayStart: numbers(streams), // moment at which each message may start its channel
      begin: numbers(streams), // moment at which it starts
      transfer: numbers(streams), // seconds that it keeps the channel, without the gap
      latency: numbers(streams),
      gap: numbers(streams),
      size: numbers(streams), // bits
      arrival: numbers(streams), // moment at which each delivery has arrived, before a receive job
      cause: indices(items), // the item whose end an item waited for in the queue
      lastInput: indices(operators), // the stream whose input came last
      sending: new Uint8Array(streams), // whether each message has a send job
      receiving: new Uint8Array(streams), // whether each delivery has a receive job
      held: indices(streams), // the message that kept the channel of a message busy
      heldIn: indices(streams), // the delivery that kept the receiver of a delivery busy
      last: NOTHING, // the operator that ended last
      closer: indices(tasks.level[tasks.byLevel.at(-1)] + 1), // what ended each level: v, or V + a delivery
      unfinished: new Int32Array(tasks.level[tasks.byLevel.at(-1)] + 1),
      opened: 0, // number of operators whose level has been opened
      when, // moment of each event
      events: SP.queues.heap((a, b) => when[a] < when[b] || (when[a] === when[b] && a < b)),
      queues: null,
      free: Int32Array.from(tasks.device_cores),
      channels: new Map(), // channel -> moment from which it is free, its last message, a turn
      turn: 0,
      receiver: numbers(devices), // moment from which each receiver is free
      receiverUser: indices(devices), // the last delivery at each receiver
      releaser: indices(devices), // the item that last freed cores of each device
      released: numbers(devices), // moment at which it did
      lead: indices(devices), // the delivery of the current producer to each device
      leadOf: indices(devices), // the producer that it belongs to
      following: indices(operators), // next operator of the same device in a sequence
      latest: indices(devices), // the operator of each device that started last in a sequence
      expected: indices(devices), // next operator of each device in a sequence
      touched: new Set(), // devices on which something may start
      starting: [], // messages that start their channels at this moment
      landing: [], // deliveries whose first byte arrives at this moment
      joining: [], // items that join the queues of their devices at this moment
    };
    const queue = () => SP.queues.heap((one, other) => precedes(run, one, other));
    run.queues = Array.from({ length: devices }, queue);
    return run;
  }

  /** Plan an event. */
  function plan(run, when, what) {
    run.when[what] = when;
    run.events.push(what);
  }

  /** Return the moment of the next event; infinite if there is none. */
  function nextMoment(run) {
    const what = run.events.first();
    return what === undefined ? Infinity : run.when[what];
  }

  /** Free cores of a device that an item has used. */
  function release(run, d, cores, item, now) {
    run.free[d] += cores;
    run.releaser[d] = item;
    run.released[d] = now;
    run.touched.add(d);
  }

  /** Note that an item becomes runnable, and joins the queue of its device, at this moment. */
  function join(run, item, now) {
    run.ready[item] = now;
    run.joining.push(item);
  }

  return { runOf, plan, nextMoment, release, join, FIFO, RANKED, SEQUENCE, NOTHING };
})();
