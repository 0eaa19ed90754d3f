// Details of the chosen operator, stream or device.
SP.details = (() => {
  "use strict";
  const { element, number, bytes, counted, percent, shortened } = SP.text;

  const STREAMS = 8; // largest number of streams of a link that are listed

  const line = (text) => element("bdi", { dir: "auto", class: "whole" }, text);
  const name = (text) => line(shortened(text, SP.labels.whole));
  const named = (called, i) => line(called(i, SP.labels.whole));

  const rows = (pairs) => SP.text.terms(element("dl"), pairs);

  function operator(view, v, calls) {
    const { file, called, schedule } = view.problem;
    const row = file.operators[v];
    return [
      element("h3", {}, "Operator ", named(called.operators, v)),
      rows([
        ["Device", SP.controls.deviceSelect(view, v, calls)],
        ...(schedule ? SP.moments.operator(view, v) : rates(view, v)),
        ["Emits", `${number(row.payload_bytes ?? 0)} bytes per tuple`],
        ["Memory", row.memory_bytes ? bytes(row.memory_bytes) : null],
        ["Takes", taken(row)],
        ["Requires", row.requires ? name(row.requires.join(", ")) : null],
        ["Instance of", row.instance_of ? name(row.instance_of) : null],
      ]),
    ];
  }

  /** Return the rows of what an operator does per second. */
  function rates(view, v) {
    const { flow, cluster } = view.problem;
    const { setting } = view;
    const d = setting.assignment[v];
    const capacity = setting.mips[d] * 1e6 * cluster.devices[d].cores;
    const devices = SP.times.devicesAt(cluster, setting);
    const time = SP.times.timeOn(flow, v, devices[d]); // seconds, or null
    const instructions = SP.times.instructionsOn(flow, v, devices[d], devices);
    const work = flow.tuples[v] * instructions * setting.rate;
    const perTuple =
      time === null
        ? `${number(instructions)} instructions per tuple`
        : `${number(time)} s per tuple on devices of kind ${SP.text.isolated(devices[d].kind)}`;
    return [
      ["Processes", `${number(flow.tuples[v] * setting.rate)} tuples/s`],
      ["Work", `${perTuple}, ${number(work / 1e6)} MIPS`],
      ["Device use", percent(work / capacity)],
      [
        "Use of its cores",
        cluster.devices[d].cores > flow.cores[v]
          ? `${percent((work * cluster.devices[d].cores) / (capacity * flow.cores[v]))} of ${counted(flow.cores[v], "core")}`
          : null,
      ],
    ];
  }

  /** Return the resources that an operator takes, or null. */
  function taken({ resources = {} }) {
    const amounts = Object.entries(resources);
    if (amounts.length === 0) return null;
    return name(amounts.map(([resource, amount]) => `${number(amount)} ${resource}`).join(", "));
  }

  function stream(view, e) {
    const { flow, called } = view.problem;
    const { setting } = view;
    const [a, b] = [flow.source[e], flow.target[e]].map((v) => setting.assignment[v]);
    const where =
      a === b
        ? ["within ", named(called.devices, a)]
        : [named(called.devices, a), " → ", named(called.devices, b)];
    return [
      element(
        "h3",
        {},
        "Stream ",
        named(called.operators, flow.source[e]),
        " → ",
        named(called.operators, flow.target[e]),
      ),
      rows([
        ["Path", element("span", {}, ...where)],
        ...(view.problem.schedule ? SP.moments.stream(view, e) : traffic(view, e)),
        ["Payload", `${number(flow.bits[e] / 8)} bytes per tuple`],
        ["Selectivity", number(flow.selectivity[e])],
      ]),
    ];
  }

  /** Return the rows of what a stream carries per second. */
  function traffic({ problem: { flow }, setting }, e) {
    const tuples = flow.streamTuples[e] * setting.rate;
    return [
      ["Carries", `${number(tuples)} tuples/s`],
      ["Traffic", `${number((tuples * flow.bits[e]) / 1e6)} Mbit/s`],
    ];
  }

  /** Return the largest streams on a link, [name, share of its load], and the number of all. */
  function streamsOn({ problem, setting }, link) {
    const { flow, network, called, streams } = problem;
    const pair = (ends) => ends.map(SP.text.isolated).join(" → ");
    if (!flow) {
      const { count = 0, rows: known = [] } = streams[link] ?? {};
      const short = (text) => shortened(text, SP.labels.label);
      return [known.map(([u, w, share]) => [pair([short(u), short(w)]), share]), count];
    }
    const all = SP.model.streamsOn(link, flow, network, setting);
    const largest = all.slice(0, STREAMS).map(([[e, ...others], share]) => {
      const ends = pair([flow.source[e], flow.target[e]].map((v) => called.operators(v)));
      return [others.length > 0 ? `${ends} and ${number(others.length)} more` : ends, share];
    });
    return [largest, all.length];
  }

  function link(view, l) {
    const load = view.score.links.find((each) => each.link === l);
    if (load === undefined) return [];
    const [largest, count] = streamsOn(view, l);
    const tableRows = largest.map(([text, share]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", dir: "auto" }, text),
        element("td", {}, percent(share)),
      ),
    );
    const more = count - largest.length;
    return [
      element("h3", {}, "Link ", line(SP.text.linked(load, view.problem.called.devices))),
      rows([
        ["Utilisation", percent(load.utilisation)],
        ["Streams", counted(count, "stream")],
      ]),
      element("table", {}, element("tbody", {}, ...tableRows)),
      element("p", { class: "more" }, more > 0 ? `and ${number(more)} more` : ""),
    ];
  }

  function device(view, d) {
    const { cluster, called, limits, schedule } = view.problem;
    const { setting, score, sums } = view;
    const row = cluster.devices[d];
    const use = (limit) => SP.limits.useOf(limit, view.used[limits.indexOf(limit)], d);
    const isResource = ({ name: called, isSlots }) => called !== null && !isSlots;
    const resources = limits.filter(isResource).flatMap((limit) => use(limit) ?? []);
    const of = (which) => limits.filter(which).map(use)[0] ?? null;
    const memory = row.memory_bytes == null ? "no limit" : bytes(row.memory_bytes);
    return [
      element("h3", {}, "Device ", named(called.devices, d)),
      rows([
        [schedule ? "Busy" : "Utilisation", percent(score.devices[d])],
        ["Runs", counted(sums.operators[d], "operator")],
        ["Speed", `${number(setting.mips[d])} MIPS, ${counted(row.cores, "core")}`],
        ["Slots", of(({ isSlots }) => isSlots)],
        ["Memory", of((limit) => limit.name === null) ?? memory],
        ["Resources", resources.length > 0 ? line(resources.join(", ")) : null],
        ["Group", row.group ? name(row.group) : null],
        ["Price", row.price == null ? null : `${number(row.price)} per unit of time`],
        ["Kind", row.kind ? name(row.kind) : null],
        ["Labels", row.labels ? name(row.labels.join(", ")) : null],
      ]),
    ];
  }

  /** Return the device, link or operator with the largest utilisation as { kind, number }, or null. */
  function busiest({ bottleneck }) {
    const found = ["operator", "link", "device"].find((kind) => bottleneck[kind] != null);
    return found === undefined ? null : { kind: found, number: bottleneck[found] };
  }

  /** Show the details of what is chosen, or else of what is used most. */
  function show(container, view, chosen, calls) {
    const kinds = { operator, stream, device, link };
    const { kind, number } = chosen ?? busiest(view.score) ?? {};
    if (kind === undefined) {
      const hint = view.problem.flow
        ? "Choose an operator, a stream or a device."
        : "Choose a device.";
      container.replaceChildren(element("p", { class: "more" }, hint));
      return;
    }
    const inUse = container.contains(document.activeElement);
    container.replaceChildren(...kinds[kind](view, number, calls));
    if (inUse) container.querySelector("select")?.focus(); // keeps the keyboard focus
  }

  return { show };
})();
