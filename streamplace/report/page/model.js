// The bottleneck model, the same as sim/closed_form/bottleneck.py. Pure functions that do not use the page.
//
// A flow is a graph for one tuple at the sources. Sums are the loads of devices and links for that
// tuple. Utilisations are the sums times the source rate, divided by the capacity.
SP.model = (() => {
  "use strict";
  const ROUNDING = 1e-12; // relative difference of utilisations that are equal but for rounding

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
    const times = file.operators.map(({ seconds_on: on }) => new Map(Object.entries(on ?? {})));
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
      work: file.operators.map((o, v) => tuples[v] * (o.instructions ?? typical(times[v]))),
    };
  }

  /** Return the instructions that take as long as the mean of times by kind, at 1,000 MIPS. */
  function typical(times) {
    const known = [...times.values()].filter((time) => time !== null);
    return (1e9 * known.reduce((sum, time) => sum + time, 0)) / Math.max(1, known.length);
  }

  /** Return the seconds per tuple of operator v on a device by the device's kind, or null. */
  function timeOn(flow, v, device) {
    return device.kind == null ? null : (flow.times[v].get(device.kind) ?? null);
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
   * Return the links that tuples from device a to b occupy: one under pair, two under nic, what
   * device a sends over under egress, none under free; and the uplink and the downlink of their
   * groups, if the groups differ.
   */
  function linksBetween(a, b, network) {
    const { nic, kind, count } = network;
    const own = nic ? [a, count + b] : [kind === "egress" ? a : a * count + b];
    return [...(kind === "free" ? [] : own), ...uplinksBetween(a, b, network)];
  }

  function uplinksBetween(a, b, { up, down }) {
    const links = up[a] !== up[b] && up[a] !== null ? [up[a]] : [];
    if (down[a] !== down[b] && down[b] !== null) links.push(down[b]);
    return links;
  }

  /** Return the devices at the two ends of a link; under nic one of them is null, of uplinks both. */
  function endsOf(link, devices, nic) {
    if (link >= ownLinks(devices, nic)) return [null, null];
    if (!nic) return [Math.floor(link / devices), link % devices];
    return link < devices ? [link, null] : [null, link - devices];
  }

  /** Return the number of links of pairs or of single devices; those of groups follow them. */
  function ownLinks(devices, nic) {
    return nic ? 2 * devices : devices * devices;
  }

  /**
   * Return the loads of devices and links under an assignment (device of each operator). `own` is,
   * for each device, the most instructions per core of an operator that cannot use all cores, and
   * `ownBusy` the most seconds of such an operator with a time for the kind of the device.
   */
  function sumsOf(flow, assignment, cluster, network, bandwidth) {
    const devices = cluster.devices.length;
    const [work, busy, operators, bits] = [0, 1, 2, 3].map(() => new Float64Array(devices));
    const [own, ownBusy] = [0, 1].map(() => cluster.devices.map(() => [0, null]));
    const [links, overheads] = [new Map(), new Map()];
    assignment.forEach((d, v) => {
      const time = timeOn(flow, v, cluster.devices[d]);
      const used = Math.min(flow.cores[v], cluster.devices[d].cores);
      operators[d] += 1;
      if (time === null) work[d] += flow.work[v];
      else busy[d] += flow.tuples[v] * time * used;
      const [most, value] =
        time === null ? [own, flow.work[v] / flow.cores[v]] : [ownBusy, flow.tuples[v] * time];
      if (flow.cores[v] < cluster.devices[d].cores && value > most[d][0]) {
        most[d] = [value, flow.names[v], v];
      }
    });
    const add = (map, link, x, y) => {
      const load = map.get(link) ?? [0, 0];
      map.set(link, [load[0] + x, load[1] + y]);
    };
    const { nic, kind, count } = network;
    for (const { a, to, tuples, size, together } of messagesOf(flow, assignment)) {
      const sends = to.map((b) => (nic ? a : a * count + b));
      const receives = to.map((b) => (nic ? count + b : a * count + b));
      const passed = to.map((b) => uplinksBetween(a, b, network));
      const costs = sends.map((link) => linkCosts(network, link, bandwidth));
      const most = (of) => sends[largest(costs.map(of))];
      const once = together && (nic || kind === "egress");
      const slowest = most(({ gap, perBit }) => tuples * gap + size * perBit);
      const own = nic ? [slowest, ...receives] : once ? [slowest] : sends;
      for (const link of kind === "free" ? [] : own) add(links, link, tuples, size);
      for (const link of new Set(passed.flat())) add(links, link, tuples, size);
      add(overheads, most(({ overhead }) => overhead), tuples, 0);
      bits[a] += size;
      to.forEach((b, i) => {
        add(overheads, receives[i], 0, tuples);
        bits[b] += size;
      });
    }
    return { work, busy, operators, own, ownBusy, links, overheads, bits };
  }

  /** Return the sums of a report's data in the form of `sumsOf`. */
  function sumsFrom({ links, overheads, own_busy: ownBusy, ...others }) {
    const map = (rows) => new Map(rows.map(([link, ...load]) => [link, load]));
    return { ...others, ownBusy, links: map(links), overheads: map(overheads) };
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

  /** Return a network with its overrides by link number, and the links that groups share. */
  function networkOf(cluster) {
    const { kind } = cluster.network;
    const nic = kind === "nic";
    const count = cluster.devices.length;
    const index = new Map(cluster.devices.map((device, d) => [device.name, d]));
    const named = (name, group) => {
      if (name != null) return [index.get(name)];
      const all = cluster.devices.map((_, d) => d);
      return group == null ? [] : all.filter((d) => cluster.devices[d].group === group);
    };
    const differs = new Map();
    for (const o of bySpecificity(cluster.network.overrides ?? [])) {
      const from = named(o.from, o.from_group);
      const to = named(o.to, o.to_group);
      const links = nic
        ? [...from, ...to.map((d) => count + d)]
        : from.flatMap((a) => to.map((b) => a * count + b));
      for (const link of links) differs.set(link, { ...differs.get(link), ...withoutNulls(o) });
    }
    const shared = uplinksOf(cluster);
    const ends = (direction) =>
      cluster.devices.map((device) => {
        const i = shared.findIndex((u) => u.group === device.group && u.direction === direction);
        return i < 0 ? null : ownLinks(count, nic) + i;
      });
    const [up, down] = [ends("up"), ends("down")];
    return { kind, nic, count, index, differs, plain: cluster.network, shared, up, down };
  }

  /** Return overrides, those that name more devices later, because they count more. */
  function bySpecificity(overrides) {
    const devices = (o) => (o.from == null ? 0 : 1) + (o.to == null ? 0 : 1);
    return [...overrides].sort((x, y) => devices(x) - devices(y));
  }

  function withoutNulls(values) {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  }

  /** Return the limited links that groups share, those of what leaves groups first. */
  function uplinksOf(cluster) {
    const groups = new Set(cluster.devices.map((device) => device.group ?? null));
    groups.delete(null);
    const stored = new Map(Object.entries(cluster.network.uplinks ?? {}));
    return ["up", "down"].flatMap((direction) =>
      [...groups]
        .map((group) => ({ group, direction, mbps: stored.get(group)?.[`${direction}_mbps`] }))
        .filter(({ mbps }) => mbps != null),
    );
  }

  /** Return LogP's overhead, gap and seconds per bit of a link; null bandwidth means no limit. */
  function linkCosts(network, link, bandwidth) {
    const shared = network.shared[link - ownLinks(network.count, network.nic)];
    if (shared !== undefined) return { overhead: 0, gap: 0, perBit: 1e-6 / shared.mbps };
    const own = network.differs.get(link) ?? {};
    const mbps = own.bandwidth_mbps ?? bandwidth;
    return {
      overhead: own.overhead_s ?? network.plain.overhead_s,
      gap: own.gap_s ?? network.plain.gap_s,
      perBit: mbps === null ? 0 : 1e-6 / mbps,
    };
  }

  /**
   * Return the score of sums. `setting` has rate, mips (of each device) and bandwidth (Mbit/s or
   * null); `most` is the target utilisation.
   */
  function scoreOf(sums, cluster, network, setting, most) {
    const { rate } = setting;
    const { nic, count, kind } = network;
    const devices = cluster.devices.map(({ cores, overhead_s_per_byte: own }, d) => {
      const perByte = own ?? network.plain.overhead_s_per_byte ?? 0;
      const seconds = sums.work[d] / (setting.mips[d] * 1e6) + sums.busy[d];
      return (rate * (seconds + (sums.bits[d] / 8) * perByte)) / cores;
    });
    for (const [link, [sent, received]] of sums.overheads) {
      const { overhead } = linkCosts(network, link, setting.bandwidth);
      const [from, to] = endsOf(link, count, nic);
      if (from !== null) devices[from] += (rate * sent * overhead) / cluster.devices[from].cores;
      if (to !== null) devices[to] += (rate * received * overhead) / cluster.devices[to].cores;
    }
    const found = new Map();
    for (const [number, [tuples, bits]] of sums.links) {
      const costs = linkCosts(network, number, setting.bandwidth);
      const uplink = network.shared[number - ownLinks(count, nic)] ?? null;
      const [from, end] = endsOf(number, count, nic);
      const shared = kind === "egress" && uplink === null; // by all that the device sends
      const link = shared ? from : number;
      const load = found.get(link) ?? { link, from, to: shared ? null : end, uplink, utilisation: 0 };
      load.utilisation += rate * (tuples * costs.gap + bits * costs.perBit);
      found.set(link, load);
    }
    const links = [...found.values()];
    links.sort((x, y) => x.link - y.link);
    const own = sums.own.map(([perCore, ...which], d) => {
      const byWork = [(rate * perCore) / (setting.mips[d] * 1e6), ...which];
      const byTime = [rate * sums.ownBusy[d][0], ...sums.ownBusy[d].slice(1)];
      return byTime[0] > byWork[0] ? byTime : byWork;
    });
    const bottleneck = busiest(devices, links, own, cluster);
    const relative = Math.min(1, most / bottleneck.utilisation);
    return {
      rate,
      throughput: rate * relative,
      relative,
      devices,
      links,
      bottleneck,
      used: sums.operators.reduce((used, n) => used + (n > 0 ? 1 : 0), 0),
    };
  }

  function busiest(devices, links, own, cluster) {
    const device = largest(devices);
    const alone = largest(own.map(([utilisation]) => utilisation));
    let top = null;
    for (const load of links) if (top === null || load.utilisation > top.utilisation) top = load;
    const [utilisation, name, operator] = own[alone];
    const others = Math.max(devices[device], top === null ? 0 : top.utilisation);
    if (utilisation > others * (1 + ROUNDING)) {
      return {
        kind: "operator",
        name,
        utilisation,
        device: alone,
        link: null,
        operator: operator ?? null,
      };
    }
    if (top !== null && top.utilisation > devices[device]) {
      const kind = top.uplink === null ? "link" : "uplink";
      const { utilisation: used, link } = top;
      return { kind, name: linkName(top, cluster), utilisation: used, device: null, link };
    }
    const called = cluster.devices[device].name;
    return { kind: "device", name: called, utilisation: devices[device], device, link: null };
  }

  function largest(values) {
    let found = 0;
    values.forEach((value, i) => {
      if (value > values[found]) found = i;
    });
    return found;
  }

  function linkName({ from, to, uplink }, cluster) {
    if (uplink !== null) {
      return uplink.direction === "up" ? `group:${uplink.group}->` : `->group:${uplink.group}`;
    }
    const name = (end) => (end === null ? "" : cluster.devices[end].name);
    return `${name(from)}->${name(to)}`;
  }

  /**
   * Return a bound on throughput in tuples/s, from CPU alone: total work, and the heaviest operators,
   * [cores that it can use, instructions], each on the device that suits it best.
   */
  function cpuBound(totalWork, heaviest, cluster, setting, most) {
    const capacity = cluster.devices.map((d, i) => setting.mips[i] * 1e6 * d.cores * most);
    const total = capacity.reduce((sum, c) => sum + c, 0);
    const alone = heaviest.map(([cores, work]) => {
      const speeds = cluster.devices.map((d, i) => setting.mips[i] * 1e6 * Math.min(cores, d.cores));
      return work / (Math.max(...speeds) * most);
    });
    const lowest = Math.max(totalWork / total, ...alone);
    return Math.min(setting.rate, 1 / lowest);
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

  return {
    flowOf,
    heaviestOf,
    plainWork,
    timeOn,
    sumsFrom,
    sumsOf,
    networkOf,
    scoreOf,
    cpuBound,
    linkName,
    linksBetween,
  };
})();
