// Utilisation bars of devices (with editable speeds) and of links that carry traffic.
SP.bars = (() => {
  "use strict";
  const { element, named, put, percent, number, counted } = SP.text;
  const LINKS = 200; // largest number of link rows; the busiest links are shown
  const HALF = 10; // characters of each of two device names in a row
  const SORTED = 20; // largest number of devices that are listed in the order of the cluster

  function bar(name) {
    const fill = element("span", { class: "fill" });
    const mark = element("span", { class: "mark" });
    const meter = element(
      "span",
      {
        class: "bar",
        role: "meter",
        "aria-label": `utilisation of ${SP.text.isolated(name)}`,
        "aria-valuemin": "0",
      },
      fill,
      mark,
    );
    const value = element("span", { class: "value" });
    return {
      meter,
      value,
      /** Show a utilisation; `isFirst` marks what is used most, and `full` whether that is full. */
      set(utilisation, scale, usable, isFirst, full) {
        fill.style.width = `${Math.min(100, (100 * utilisation) / scale)}%`;
        mark.style.left = `${(100 * usable) / scale}%`;
        fill.style.setProperty("--allowed", `${(100 * usable) / Math.max(utilisation, usable)}%`);
        for (const node of [meter, value]) {
          node.classList.toggle("first", isFirst);
          node.classList.toggle("alarm", isFirst && full);
        }
        meter.setAttribute("aria-valuenow", String(Number((100 * utilisation).toPrecision(6))));
        meter.setAttribute(
          "aria-valuetext",
          percent(utilisation) + (isFirst ? (full ? ", bottleneck" : ", busiest") : ""),
        );
        put(value, percent(utilisation));
      },
    };
  }

  /**
   * Build the rows of devices; if there are many, the busiest of the original placement come first.
   * `calls` has mips(device, text) and choose(kind, number).
   */
  function devices(body, problem, first, calls) {
    const { cluster, called, limits, schedule } = problem;
    const facts = cluster.devices.map(factsOf);
    const hasFacts = facts.some((texts) => texts.length > 0);
    const hasUses = limits.length > 0 || hasFacts || first.used < cluster.devices.length;
    const { narrow, whole } = SP.labels;
    const rows = cluster.devices.map((device, d) => {
      const shown = bar(called.devices(d));
      const input = element("input", {
        type: "number",
        min: "0",
        step: "any",
        "aria-label": `MIPS of ${SP.text.isolated(called.devices(d))}`,
        onchange: () => calls.mips(d, input.value),
      });
      const swatch = element("span", { class: "swatch" });
      const runs = element("td", { class: "count" });
      const button = element(
        "button",
        { class: "plain", type: "button", onclick: () => calls.choose("device", d) },
        swatch,
        named(called.devices, d, narrow),
      );
      const cores = device.cores > 1 ? ` × ${number(device.cores)}` : "";
      const row = element(
        "tr",
        { title: called.devices(d, whole) },
        element("th", { scope: "row" }, button),
        element("td", { class: "wide" }, shown.meter),
        element("td", {}, shown.value),
        runs,
        ...(schedule ? [] : [element("td", { class: "speed" }, input, cores)]),
      );
      const uses = element("td", { colspan: "5" });
      const rowOfUses = element("tr", { class: "uses" }, uses);
      const both = hasUses ? [row, rowOfUses] : [row];
      return { shown, input, swatch, runs, uses, rows: both };
    });
    const order = rows.map((_, d) => d);
    if (rows.length > SORTED) order.sort((a, b) => first.devices[b] - first.devices[a] || a - b);
    body.replaceChildren(...order.flatMap((d) => rows[d].rows));
    return {
      show({ sums, score, setting, used }, usable) {
        const scale = Math.max(1, score.bottleneck.utilisation);
        rows.forEach((row, d) => {
          const isFirst = score.bottleneck.kind === "device" && score.bottleneck.device === d;
          row.shown.set(score.devices[d], scale, usable, isFirst, score.full);
          put(row.runs, number(sums.operators[d]));
          const idle = sums.operators[d] === 0 ? [SP.rules.whyIdle(problem, setting, d)] : [];
          showUses(row.uses, [...idle, ...facts[d]], limits, used, d);
          if (schedule) return;
          if (row.input !== document.activeElement || Number(row.input.value) !== setting.mips[d]) {
            SP.text.fill(row.input, String(setting.mips[d]));
          }
        });
      },
      recolour() {
        rows.forEach((row, d) => {
          row.swatch.style.background = SP.colours.operator(d);
        });
      },
    };
  }

  /** Return the group, the price and the labels of a device, as texts. */
  function factsOf({ group, price, labels = [] }) {
    const short = (text) => SP.text.isolated(SP.text.shortened(text, SP.labels.label));
    return [
      ...(group == null ? [] : [short(group)]),
      ...(price == null ? [] : [`price ${number(price)}`]),
      ...(labels.length === 0 ? [] : [`labels ${labels.map(short).join(", ")}`]),
    ];
  }

  /** Show facts and what is used of the memory and resources of device d; an excess stands out. */
  function showUses(cell, facts, limits, used, d) {
    const texts = limits.map((limit, k) => {
      const use = SP.limits.useOf(limit, used[k], d);
      return limit.name === null ? `memory ${use}` : use;
    });
    put(cell, [...texts.filter((text) => text !== null), ...facts].join(" · "));
    const exceeds = limits.some((limit, k) => SP.limits.excessOf(limit, used[k], d) !== null);
    cell.classList.toggle("alarm", exceeds);
  }

  /**
   * Build the rows of links, the busiest first; rows are reused while their links carry traffic.
   * `calls` has choose(kind, number).
   */
  function links(body, note, called, calls) {
    let kept = new Map();
    return {
      show(score, usable) {
        const scale = Math.max(1, score.bottleneck.utilisation);
        const busiest = [...score.links].sort(
          (a, b) => b.utilisation - a.utilisation || a.link - b.link,
        );
        const shown = busiest.slice(0, LINKS);
        const next = new Map();
        for (const load of shown)
          next.set(load.link, kept.get(load.link) ?? made(load, called, calls));
        kept = next;
        const rows = [...kept.values()].map((entry) => entry.row);
        if (
          rows.length !== body.children.length ||
          rows.some((row, i) => row !== body.children[i])
        ) {
          body.replaceChildren(...rows);
        }
        for (const load of shown) {
          const isFirst = score.bottleneck.link === load.link;
          kept.get(load.link).shown.set(load.utilisation, scale, usable, isFirst, score.full);
        }
        const more = busiest.length - shown.length;
        put(note, linkNote(busiest.length, more));
      },
    };
  }

  function linkNote(count, more) {
    if (count === 0) return "No stream crosses between devices.";
    return more > 0
      ? `and ${counted(more, "more link")} that ${more === 1 ? "is" : "are"} less busy`
      : "";
  }

  function made(load, called, calls) {
    const { narrow, whole } = SP.labels;
    const { from, to, uplink } = load;
    const half = (d) => named(called, d, HALF);
    const parts = [];
    if (uplink !== null) parts.push(SP.text.linked(load, called, narrow));
    else if (from === null) parts.push("into ", named(called, to, narrow));
    else if (to === null) parts.push("out of ", named(called, from, narrow));
    else parts.push(half(from), " → ", half(to));
    const shown = bar(SP.text.linked(load, called));
    const onclick = () => calls.choose("link", load.link);
    const row = element(
      "tr",
      { title: SP.text.linked(load, called, whole) },
      element(
        "th",
        { scope: "row" },
        element(
          "button",
          { class: "plain", type: "button", onclick },
          element("span", {}, ...parts),
        ),
      ),
      element("td", { class: "wide" }, shown.meter),
      element("td", {}, shown.value),
    );
    return { shown, row };
  }

  return { devices, links };
})();
