// The links of a network: their numbers, costs and names.
SP.links = (() => {
  "use strict";

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
      for (const link of links) differs.set(link, { ...differs.get(link), ...stated(o) });
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

  /** Return the values that an override states: its bandwidth may be null, which is no limit. */
  function stated(values) {
    const entries = Object.entries(values);
    return Object.fromEntries(
      entries.filter(([key, value]) => value !== null || key === "bandwidth_mbps"),
    );
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

  /** Return the number of links of pairs or of single devices; those of groups follow them. */
  function ownLinks(devices, nic) {
    return nic ? 2 * devices : devices * devices;
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

  /** Return LogP's overhead, gap and seconds per bit of a link; null bandwidth means no limit. */
  function linkCosts(network, link, bandwidth) {
    const shared = network.shared[link - ownLinks(network.count, network.nic)];
    if (shared !== undefined) return { overhead: 0, gap: 0, perBit: 1e-6 / shared.mbps };
    const own = network.differs.get(link) ?? {};
    const mbps = own.bandwidth_mbps === undefined ? bandwidth : own.bandwidth_mbps;
    return {
      overhead: own.overhead_s ?? network.plain.overhead_s,
      gap: own.gap_s ?? network.plain.gap_s,
      perBit: mbps === null ? 0 : 1e-6 / mbps,
    };
  }

  function linkName({ from, to, uplink }, cluster) {
    if (uplink !== null) {
      return uplink.direction === "up" ? `group:${uplink.group}->` : `->group:${uplink.group}`;
    }
    const name = (end) => (end === null ? "" : cluster.devices[end].name);
    return `${name(from)}->${name(to)}`;
  }

  return { networkOf, linksBetween, uplinksBetween, endsOf, ownLinks, linkCosts, linkName };
})();
