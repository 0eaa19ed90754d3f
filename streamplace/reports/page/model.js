// The bottleneck model, the same as sim/closed_form/bottleneck.py. Pure functions that do not use the page.
//
// Sums are the loads of devices and links for one tuple at the sources. Utilisations are the sums
// times the source rate, divided by the capacity.
SP.model = (() => {
  "use strict";
  const { messagesOf } = SP.flow;
  const { devicesAt, instructionsOn, timeOn } = SP.times;
  const { endsOf, linkCosts, linkName, ownLinks, uplinksBetween } = SP.links;
  const SHOWN = 5e-4; // smaller differences of utilisations are not shown
  const ROUNDING = 1e-12; // relative difference of utilisations that are equal but for rounding

  /**
   * Return the loads of devices and links under the assignment of a setting. `own` is, for each
   * device, the most instructions per core of an operator that cannot use all cores, and `ownBusy`
   * the most seconds of such an operator with a time for the kind of the device.
   */
  function sumsOf(flow, cluster, network, setting) {
    const { assignment, bandwidth } = setting;
    const devices = devicesAt(cluster, setting);
    const [work, busy, operators, bits] = [0, 1, 2, 3].map(() => new Float64Array(devices.length));
    const [own, ownBusy] = [0, 1].map(() => devices.map(() => [0, null]));
    const [links, overheads] = [new Map(), new Map()];
    assignment.forEach((d, v) => {
      const time = timeOn(flow, v, devices[d]);
      const used = Math.min(flow.cores[v], devices[d].cores);
      const instructions = time === null ? instructionsOn(flow, v, devices[d], devices) : 0;
      operators[d] += 1;
      if (time === null) work[d] += flow.tuples[v] * instructions;
      else busy[d] += flow.tuples[v] * time * used;
      const [most, value] =
        time === null
          ? [own, (flow.tuples[v] * instructions) / flow.cores[v]]
          : [ownBusy, flow.tuples[v] * time];
      if (flow.cores[v] < devices[d].cores && value > most[d][0]) {
        most[d] = [value, flow.names[v], v];
      }
    });
    const add = (map, link, x, y) => {
      const load = map.get(link) ?? [0, 0];
      map.set(link, [load[0] + x, load[1] + y]);
    };
    for (const message of messagesOf(flow, assignment)) {
      const { a, to, tuples, size } = message;
      const { occupied, dearest, receives } = passOf(message, network, bandwidth);
      for (const link of occupied) add(links, link, tuples, size);
      add(overheads, dearest, tuples, 0);
      bits[a] += size;
      to.forEach((b, i) => {
        add(overheads, receives[i], 0, tuples);
        bits[b] += size;
      });
    }
    return { work, busy, operators, own, ownBusy, links, overheads, bits };
  }

  /** Return the links that a message occupies, and those whose overhead its ends pay. */
  function passOf({ a, to, tuples, size, together }, network, bandwidth) {
    const { nic, kind, count } = network;
    const sends = to.map((b) => (nic ? a : a * count + b));
    const receives = to.map((b) => (nic ? count + b : a * count + b));
    const passed = to.flatMap((b) => uplinksBetween(a, b, network));
    const costs = sends.map((link) => linkCosts(network, link, bandwidth));
    const most = (of) => sends[largest(costs.map(of))];
    const once = together && (nic || kind === "egress");
    const slowest = most(({ gap, perBit }) => tuples * gap + size * perBit);
    const own = nic ? [slowest, ...receives] : once ? [slowest] : sends;
    return {
      occupied: [...(kind === "free" ? [] : own), ...new Set(passed)],
      dearest: most(({ overhead }) => overhead),
      receives,
    };
  }

  /** Return the link of scores on which a link of sums counts: under egress, all that a device sends. */
  function scoredLink(link, { kind, nic, count }) {
    return kind === "egress" && link < ownLinks(count, nic) ? endsOf(link, count, nic)[0] : link;
  }

  /** Return [streams of a message, share of the link's load] of a link of scores, the largest first. */
  function streamsOn(link, flow, network, { assignment, bandwidth }) {
    const found = messagesOf(flow, assignment).flatMap((message) => {
      const on = passOf(message, network, bandwidth).occupied;
      const loads = on
        .filter((each) => scoredLink(each, network) === link)
        .map((each) => {
          const { gap, perBit } = linkCosts(network, each, bandwidth);
          return message.tuples * gap + message.size * perBit;
        });
      const load = loads.reduce((sum, each) => sum + each, 0);
      return load > 0 ? [[message.streams, load]] : [];
    });
    const total = found.reduce((sum, [, load]) => sum + load, 0);
    const shares = found.map(([streams, load]) => [streams, load / total]);
    return shares.sort(([, x], [, y]) => y - x);
  }

  /** Return the sums of a report's data in the form of `sumsOf`. */
  function sumsFrom({ links, overheads, own_busy: ownBusy, ...others }) {
    const map = (rows) => new Map(rows.map(([link, ...load]) => [link, load]));
    return { ...others, ownBusy, links: map(links), overheads: map(overheads) };
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
      const link = scoredLink(number, network);
      const to = kind === "egress" ? null : end;
      const load = found.get(link) ?? { link, from, to, uplink, utilisation: 0 };
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
      full: bottleneck.utilisation > most - SHOWN,
      carries: (rate * most) / bottleneck.utilisation,
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

  /**
   * Return a bound on throughput in tuples/s at any source rate, from CPU alone: total work, and the
   * heaviest operators, [cores that it can use, instructions], each on the device that suits it best.
   */
  function cpuBound(totalWork, heaviest, cluster, setting, most) {
    const capacity = cluster.devices.map((d, i) => setting.mips[i] * 1e6 * d.cores * most);
    const total = capacity.reduce((sum, c) => sum + c, 0);
    const alone = heaviest.map(([cores, work]) => {
      const speeds = cluster.devices.map(
        (d, i) => setting.mips[i] * 1e6 * Math.min(cores, d.cores),
      );
      return work / (Math.max(...speeds) * most);
    });
    return 1 / Math.max(totalWork / total, ...alone);
  }

  return { sumsOf, sumsFrom, scoreOf, streamsOn, cpuBound };
})();
