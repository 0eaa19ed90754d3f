// One pass of a graph on a cluster as columns, the same as sim/schedule/task_graph.py.
SP.tasks = (() => {
  "use strict";
  const FREE = 0; // kinds of network: what messages queue for
  const EGRESS = 1;
  const PAIR = 2;
  const NIC = 3;
  const NONE = 0; // kinds of multicast: which streams of a producer share a message
  const DEVICE = 1;
  const ALL = 2;

  /** Return a column of `length` numbers; a single number gives a column of equal ones. */
  function column(values, length) {
    const plain = (value) => (value === null ? NaN : Number(value)); // JSON has no NaN or infinity
    if (!Array.isArray(values)) return new Float64Array(length).fill(plain(values));
    return Float64Array.from(values, plain);
  }

  /**
   * Return the columns of a task graph from the data of the page: V operators, E streams, D devices.
   * The links between devices have D * D values.
   */
  function tasksOf(data) {
    const { operators, streams, devices, kinds, rows } = data;
    const lengths = {
      work: operators,
      cores: operators,
      measured_row: operators,
      source: streams,
      target: streams,
      bits: streams,
      silent: streams,
      speed: devices,
      device_cores: devices,
      startup_s: devices,
      kind: devices,
      measured_s: rows * kinds,
      rate: devices * devices,
      latency_s: devices * devices,
      gap_s: devices * devices,
      overhead_s: devices * devices,
      overhead_in_s: devices * devices,
      overhead_s_per_bit: devices,
      rate_in: data.network === NIC ? devices : 0,
      gap_in_s: data.network === NIC ? devices : 0,
    };
    const columns = Object.fromEntries(
      Object.entries(lengths).map(([name, length]) => [name, column(data[name], length)]),
    );
    const { network, multicast, barrier } = data;
    const taxes = [columns.overhead_s, columns.overhead_in_s, columns.overhead_s_per_bit];
    return {
      ...columns,
      ...outOf(columns.source, operators),
      ...levelsOf(columns.source, columns.target, operators),
      operators,
      streams,
      devices,
      kinds,
      network,
      multicast,
      barrier,
      hasJobs: taxes.some((tax) => tax.some((seconds) => seconds !== 0)),
    };
  }

  /** Return the first stream out of each operator, and the index after the last one. */
  function outOf(source, operators) {
    const [first, end] = [new Int32Array(operators), new Int32Array(operators)];
    source.forEach((v, e) => {
      if (e === 0 || source[e - 1] !== v) first[v] = e;
      end[v] = e + 1;
    });
    return { first, end };
  }

  /** Return the inputs of each operator, its level, and the operators by level. */
  function levelsOf(source, target, operators) {
    const [inputs, level] = [new Int32Array(operators), new Int32Array(operators)];
    source.forEach((v, e) => {
      inputs[target[e]] += 1;
      level[target[e]] = Math.max(level[target[e]], level[v] + 1);
    });
    const byLevel = Int32Array.from(level, (_, v) => v).sort(
      (v, w) => level[v] - level[w] || v - w,
    );
    return { inputs, level, byLevel };
  }

  /** Return the execution time of operator v on device d in seconds; infinite if it cannot run. */
  function secondsOn(tasks, v, d) {
    const row = tasks.measured_row[v];
    if (row >= 0) {
      const measured = tasks.measured_s[row * tasks.kinds + tasks.kind[d]];
      if (!Number.isNaN(measured)) return measured;
    }
    return tasks.work[v] / (tasks.speed[d] * coresOn(tasks, v, d));
  }

  /** Return the number of cores that operator v holds on device d. */
  const coresOn = (tasks, v, d) => Math.min(tasks.cores[v], tasks.device_cores[d]);

  /** Return the index of the link from device a to device b. */
  const linkBetween = (tasks, a, b) => a * tasks.devices + b;

  return {
    tasksOf,
    secondsOn,
    coresOn,
    linkBetween,
    FREE,
    EGRESS,
    PAIR,
    NIC,
    NONE,
    DEVICE,
    ALL,
  };
})();
