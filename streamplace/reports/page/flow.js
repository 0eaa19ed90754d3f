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
    const fed = new Set(target);
    const sources = names.map((_, v) => v).filter((v) => !fed.has(v));
    const tuples = joins ? new Float64Array(names.length).fill(1) : shares(file, names, sources);
    if (joins) selectivity.fill(1);
    else source.forEach((u, e) => (tuples[target[e]] += tuples[u] * selectivity[e]));
    const times = file.operators.map(SP.times.timesOf);
    return {
      names,
      joins,
      sources,
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

  function shares(file, names, sources) {
    const found = new Float64Array(names.length);
    const stored = file.source_shares && new Map(Object.entries(file.source_shares));
    for (const v of sources) found[v] = stored ? stored.get(names[v]) : 1 / sources.length;
    return found;
  }

  /**
   * Return the messages between devices: sender, receivers, streams, tuples and bits of each for one
   * tuple at the sources. Streams share them by the graph's kind of multicast, and a message has the
   * most tuples and bits of any of its streams.
   */
  function messagesOf(flow, assignment) {
    const [messages, found] = [[], new Map()];
    flow.source.forEach((u, e) => {
      const [a, b] = [assignment[u], assignment[flow.target[e]]];
      const tuples = flow.streamTuples[e];
      if (a === b || !(tuples > 0)) return;
      const key = { none: `${e}`, device: `${u} ${b}`, all: `${u}` }[flow.multicast];
      if (!found.has(key)) {
        const together = flow.multicast === "all";
        found.set(key, { a, to: [], streams: [], tuples: 0, size: 0, together });
        messages.push(found.get(key));
      }
      const message = found.get(key);
      if (!message.to.includes(b)) message.to.push(b);
      message.streams.push(e);
      message.tuples = Math.max(message.tuples, tuples);
      message.size = Math.max(message.size, tuples * flow.bits[e]);
    });
    return messages;
  }

  /**
   * Return what flows while some operators, a set, are stopped. What sends to them stops as well, as
   * queues fill, and what follows gets no tuples from there.
   */
  function flowWithout(flow, stopped) {
    const blocked = flow.names.map((_, v) => stopped.has(v) && flow.tuples[v] > 0);
    if (!blocked.includes(true)) return flow;
    for (let e = flow.source.length - 1; e >= 0; e--) {
      if (flow.selectivity[e] > 0 && blocked[flow.target[e]]) blocked[flow.source[e]] = true;
    }
    const tuples = new Float64Array(flow.names.length);
    const left = flow.joins ? [] : flow.sources.filter((v) => !blocked[v]); // joins need all inputs
    for (const v of left) tuples[v] = flow.tuples[v];
    flow.source.forEach((u, e) => (tuples[flow.target[e]] += tuples[u] * flow.selectivity[e]));
    const streamTuples = flow.source.map((u, e) => tuples[u] * flow.selectivity[e]);
    return { ...flow, tuples, streamTuples };
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

  return { flowOf, flowWithout, messagesOf, heaviestOf, plainWork };
})();
