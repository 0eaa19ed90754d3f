// The bottleneck model, the same as sim/closed_form/bottleneck.py. Pure functions that do not use the page.
//
// A flow is a graph for one tuple at the sources. Sums are the loads of devices and links for that
// tuple. Utilisations are the sums times the source rate, divided by the capacity.
SP.model = (() => {
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
    const tuples = shares(file, names, target);
    source.forEach((u, e) => {
      tuples[target[e]] += tuples[u] * selectivity[e];
    });
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
      work: file.operators.map((operator, v) => tuples[v] * operator.instructions),
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
   * Return the links that tuples from device a to b cross: one under pair, two under nic, and the
   * uplink and the downlink of their groups, if the groups differ.
   */
  function linksBetween(a, b, { nic, count, up, down }) {
    const links = nic ? [a, count + b] : [a * count + b];
    if (up[a] !== up[b] && up[a] !== null) links.push(up[a]);
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
   * for each device, the most instructions per core of an operator that cannot use all cores.
   */
  function sumsOf(flow, assignment, cluster, network) {
    const devices = cluster.devices.length;
    const work = new Float64Array(devices);
    const own = cluster.devices.map(() => [0, null]);
    const operators = new Float64Array(devices);
    const links = new Map();
    assignment.forEach((d, v) => {
      work[d] += flow.work[v];
      operators[d] += 1;
      const perCore = flow.work[v] / flow.cores[v];
      if (flow.cores[v] < cluster.devices[d].cores && perCore > own[d][0]) {
        own[d] = [perCore, flow.names[v], v];
      }
    });
    flow.source.forEach((u, e) => {
      const a = assignment[u];
      const b = assignment[flow.target[e]];
      if (a === b || !(flow.streamTuples[e] > 0)) return;
      for (const link of linksBetween(a, b, network)) {
        const load = links.get(link) ?? [0, 0];
        load[0] += flow.streamTuples[e];
        load[1] += flow.streamTuples[e] * flow.bits[e];
        links.set(link, load);
      }
    });
    return { work, operators, own, links };
  }

  /** Return a network with its overrides by link number, and the links that groups share. */
  function networkOf(cluster) {
    const nic = cluster.network.kind === "nic";
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
    return { nic, count, index, differs, plain: cluster.network, shared, up, down };
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
    const { nic, count } = network;
    const devices = cluster.devices.map(
      (device, d) => (rate * sums.work[d]) / (setting.mips[d] * 1e6 * device.cores),
    );
    const links = [];
    for (const [link, [tuples, bits]] of sums.links) {
      const costs = linkCosts(network, link, setting.bandwidth);
      const [from, to] = endsOf(link, count, nic);
      for (const end of [from, to]) {
        if (end !== null)
          devices[end] += (rate * tuples * costs.overhead) / cluster.devices[end].cores;
      }
      links.push({
        link,
        from,
        to,
        uplink: network.shared[link - ownLinks(count, nic)] ?? null,
        utilisation: rate * (tuples * costs.gap + bits * costs.perBit),
      });
    }
    links.sort((x, y) => x.link - y.link);
    const own = sums.own.map(([perCore], d) => (rate * perCore) / (setting.mips[d] * 1e6));
    const bottleneck = busiest(devices, links, own, sums, cluster);
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

  function busiest(devices, links, own, sums, cluster) {
    const device = largest(devices);
    const alone = largest(own);
    let top = null;
    for (const load of links) if (top === null || load.utilisation > top.utilisation) top = load;
    if (own[alone] > Math.max(devices[device], top === null ? 0 : top.utilisation)) {
      const [, name, operator] = sums.own[alone];
      return {
        kind: "operator",
        name,
        utilisation: own[alone],
        device: alone,
        link: null,
        operator: operator ?? null,
      };
    }
    if (top !== null && top.utilisation > devices[device]) {
      const name = linkName(top, cluster);
      const kind = top.uplink === null ? "link" : "uplink";
      return { kind, name, utilisation: top.utilisation, device: null, link: top.link };
    }
    const name = cluster.devices[device].name;
    return { kind: "device", name, utilisation: devices[device], device, link: null };
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

  /** Return the heaviest work of the operators by the number of cores that they can use. */
  function heaviestOf(flow) {
    const found = new Map();
    flow.work.forEach((work, v) => {
      found.set(flow.cores[v], Math.max(work, found.get(flow.cores[v]) ?? 0));
    });
    return [...found];
  }

  return { flowOf, heaviestOf, sumsOf, networkOf, scoreOf, cpuBound, linkName, linksBetween };
})();
