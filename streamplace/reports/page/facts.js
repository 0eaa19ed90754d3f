// Facts about a placement besides its figures: files, date, price, groups of devices and latency.
SP.facts = (() => {
  "use strict";
  const { counted, duration, element, number, shortened } = SP.text;
  const rounded = (value) => number(value, 2); // no more digits of a latency are certain
  const DIGEST = 12; // characters of a graph's SHA-256

  /** Show the facts in a list of terms, and the constraints in force in another list. */
  function show(terms, rules, { problem, setting, sums, edited }, written) {
    const {
      cluster,
      graph,
      placer,
      title,
      latency,
      inputs = [],
      source_rates: rates = [],
    } = problem;
    const isUsed = (d) => sums.operators[d] > 0;
    const used = cluster.devices.filter((_, d) => isUsed(d));
    const text = (value, length) => element("bdi", { dir: "auto" }, shortened(value, length));
    const rows = [
      ["File", text(title, SP.labels.whole)],
      [
        "Graph",
        element(
          "span",
          {},
          text(graph.name || "unnamed", 120),
          ` (SHA-256 ${graph.sha256.slice(0, DIGEST)}…)`,
        ),
      ],
      ["Made from", inputs.length > 0 ? text(inputs.join(", "), SP.labels.whole) : null],
      ["Placed by", placer ? text(placer, 120) : null],
      ["Page written", written],
      [
        "Offered",
        rates.length > 0 ? `${rates.map((rate) => number(rate)).join(", ")} tuples/s` : null,
      ],
      [
        "Target",
        problem.target_utilisation < 1
          ? `${SP.text.percent(problem.target_utilisation)} of each device and link`
          : null,
      ],
      ["Price", priceOf(used, cluster.devices)],
      ["Groups", groupsOf(used, cluster.devices)],
      ["Latency", latency && edited ? `${latency}, before your edits` : latency],
      ["In its run", runOf(problem.own ?? {})],
    ];
    SP.text.terms(terms, rows);
    const inForce = SP.rules.inForce(problem);
    SP.controls.notes(rules, inForce.length > 0 ? inForce : ["none"]);
  }

  /** Return the latencies and losses that a run under the placement's own model gave, or null. */
  function runOf({ latency_s: latency, dropped = 0 }) {
    const parts = Object.entries(latency ?? {}).map(([name, s]) => `${name} ${duration(s, rounded)}`);
    const lost = dropped > 0 ? [`${number(dropped)} tuples dropped by sources`] : [];
    if (parts.length > 0) parts[0] = `latency: ${parts[0]}`;
    return parts.length + lost.length > 0 ? [parts.join(", "), ...lost].join("; ") : null;
  }

  /** Return the price of the devices in use and of all, per unit of time; null if none has one. */
  function priceOf(used, all) {
    if (all.every(({ price }) => price == null)) return null;
    const sum = (devices) => devices.reduce((total, { price }) => total + (price ?? 0), 0);
    return `${number(sum(used))} for the devices in use, ${number(sum(all))} for all, per unit of time`;
  }

  /** Return the groups of devices, such as racks, and how many are in use; null if there are none. */
  function groupsOf(used, all) {
    const names = (devices) =>
      new Set(devices.map(({ group }) => group).filter((group) => group != null));
    const [some, every] = [names(used), names(all)];
    if (every.size === 0) return null;
    return `${number(some.size)} of ${counted(every.size, "group")} in use`;
  }

  return { show };
})();
