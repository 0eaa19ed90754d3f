// What flows in a graph for one tuple at the sources: tuples, work, and messages between devices.
SP.flow = (() => {
  "use strict";

  /** Return a graph file (streams in topological order) as columns, for one tuple at the sources. */
  function flowOf(file) {
    const names = file.operators.map((operator) => operator.name);
    const index = new Map(names.map((name, v) => [name, v]));
    const source = file.streams.map((stream) => index.get(stream.source));
    const target = file.streams.map((stream) => index.get(stream.target));
    const selectivity = file.streams.map((stream) => stream.selectivity ?? 1);
    const payload = file.operators.map((operator) => operator.payload_bytes ?? 0);
    const bits = file.streams.map((stream, e) => 8 * (stream.payload_bytes ?? payload[source[e]]));
    const joins = file.firing === "all"; // operators take one tuple from each input at a time
    const tuples = joins ? new Float64Array(names.length).fill(1) : shares(file, names, target);
    if (joins) selectivity.fill(1);
    else source.forEach((u, e) => (tuples[target[e]] += tuples[u] * selectivity[e]));
    const times = file.operators.map(SP.times.timesOf);
    return {
      names,
      index,
      source,
      target,
      selectivity,
      bits,
      tuples,
      streamTuples: source.map((u, e) => tuples[u] * selectivity[e]),
      instructions: file.operators.map((operator) => operator.instructions),
      cores: file.operators.map((operator) => operator.cores ?? 1),
      multicast: file.multicast ?? "none",
      times,
    };
  }

  function shares(file, names, target) {
    const fed = new Set(target);
    const sources = names.map((_, v) => v).filter((v) => !fed.has(v));
    const found = new Float64Array(names.length);
    const stored = file.source_shares && new Map(Object.entries(file.source_shares));
    for (const v of sources) found[v] = stored ? stored.get(names[v]) : 1 / sources.length;
    return found;
  }

  /**
   * Return the messages between devices: sender, receivers, tuples and bits of each for one tuple at
   * the sources. Streams share them by the graph's kind of multicast, and a message has the most
   * tuples and bits of any of its streams.
   */
  function messagesOf(flow, assignment) {
    const [messages, found] = [[], new Map()];
    flow.source.forEach((u, e) => {
      const [a, b] = [assignment[u], assignment[flow.target[e]]];
      const tuples = flow.streamTuples[e];
      if (a === b || !(tuples > 0)) return;
      const key = { none: `${e}`, device: `${u} ${b}`, all: `${u}` }[flow.multicast];
      if (!found.has(key)) {
        found.set(key, { a, to: [], tuples: 0, size: 0, together: flow.multicast === "all" });
        messages.push(found.get(key));
      }
      const message = found.get(key);
      if (!message.to.includes(b)) message.to.push(b);
      message.tuples = Math.max(message.tuples, tuples);
      message.size = Math.max(message.size, tuples * flow.bits[e]);
    });
    return messages;
  }

  /** Return the heaviest work of operators without times, by the number of cores that they can use. */
  function heaviestOf(flow) {
    const found = new Map();
    flow.work.forEach((work, v) => {
      if (flow.times[v].size > 0) return;
      found.set(flow.cores[v], Math.max(work, found.get(flow.cores[v]) ?? 0));
    });
    return [...found];
  }

  /** Return the work of all operators without times by kind of device. */
  function plainWork(flow) {
    return flow.work.reduce((sum, work, v) => sum + (flow.times[v].size > 0 ? 0 : work), 0);
  }

  return { flowOf, messagesOf, heaviestOf, plainWork };
})();
