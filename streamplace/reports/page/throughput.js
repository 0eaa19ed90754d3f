// The throughput objective: what is shown for a placement at a setting, in figures and in words.
SP.throughput = (() => {
  "use strict";
  const { model, state } = SP;
  const {
    counted,
    element,
    isolated,
    number,
    percent,
    percentUp,
    put,
    roundedDown,
    roundedUp,
    shareOf,
  } = SP.text;
  const FACTOR_DIGITS = 3; // significant digits of a multiple of the source rate
  const MACHINES = 3; // largest number of machines that a sentence names
  const LONG = 16; // longer names of bottlenecks are shown in a smaller font
  const HALF = 11; // characters of each of two device names in a line

  /** Return everything shown for a placement at a setting. */
  function viewOf({ problem, initial, first = null }, setting) {
    const { cluster, network, flow } = problem;
    const usable = problem.target_utilisation;
    const sums = problem.sums ?? model.sumsOf(flow, cluster, network, setting);
    const score = model.scoreOf(sums, cluster, network, setting, usable);
    const boundIsFull = state.sameMachines(setting, initial);
    const ceiling = boundIsFull
      ? (problem.ceiling ?? Infinity)
      : model.cpuBound(problem.plainWork, problem.heaviest, cluster, setting, usable);
    return {
      problem,
      setting,
      sums,
      used: problem.limits.map((limit) => SP.limits.usedBy(limit, setting.assignment)),
      score,
      first: first ?? score,
      boundIsFull,
      ceiling,
      bound: Math.min(setting.rate, ceiling),
      boundNote: boundIsFull
        ? `no placement carries more${problem.loose ? "; the bound is loose" : ""}`
        : "by CPU alone (edited)",
      edited: !state.same(setting, initial),
    };
  }

  /** Return the notes on a problem, which do not depend on edits. */
  function notesOf(problem) {
    const lines = [];
    if (problem.model !== "bottleneck") {
      const share = percent(problem.own.relative_throughput);
      lines.push(
        `The placement’s own model is ${problem.model}, with a throughput of ${share} of the source rate; all figures on this page use the bottleneck model.`,
      );
    }
    const count = problem.source_rates.length;
    if (count > 1) {
      lines.push(
        `This placement is for ${count} source rates. The page shows the highest, which is the worst; the others keep their ratio to it.`,
      );
    }
    return lines;
  }

  /** Return what is used most as parts of a line; the name has its own writing direction. */
  function bottleneckParts(score, { called }) {
    const title = nameOf(score, called, SP.labels.whole, SP.labels.whole);
    const name = nameOf(score, called, SP.labels.narrow, HALF);
    const shown = element("bdi", { dir: "auto", title }, name);
    const at = ` at ${percent(score.bottleneck.utilisation)}`;
    return [`${score.bottleneck.kind} `, shown, at];
  }

  function nameOf({ bottleneck: full, links }, called, length, half) {
    if (full.kind === "device") return called.devices(full.device, length);
    if (full.kind === "operator") {
      return full.operator === null
        ? SP.text.shortened(full.name, length)
        : called.operators(full.operator, length);
    }
    const link = links.find((load) => load.link === full.link);
    return SP.text.linked(link, called.devices, half);
  }

  /** Build the strip of large figures. */
  function figures(container) {
    const throughput = SP.cards.figure("Throughput");
    const limit = SP.cards.figure("");
    const carries = SP.cards.figure("Carries up to");
    const bound = SP.cards.figure("Bound");
    const gap = SP.cards.figure("Gap to the bound");
    const used = SP.cards.figure("Devices used");
    const scale = element(
      "div",
      { class: "reach" },
      element("span", { class: "fill" }),
      element("span", { class: "mark" }),
    );
    throughput.node.append(scale);
    throughput.node.classList.add("main");
    const others = [limit, carries, bound, gap, used].map((each) => each.node);
    container.replaceChildren(throughput.node, ...others);
    return {
      show(view) {
        const { score, first, problem } = view;
        put(throughput.value, `${number(score.throughput)} tuples/s`);
        const change = score.throughput - first.throughput;
        const changed = Math.abs(change) > 1e-9 * first.throughput;
        const sign = change > 0 ? "+" : "−";
        const gain = changed ? `, ${sign}${number(Math.abs(change))} by your edits` : "";
        const offered = problem.jobs ? "that the jobs get together" : "offered";
        put(
          throughput.more,
          `${shareOf(score.throughput, score.rate)} of ${number(score.rate)} ${offered}${gain}`,
        );
        scale.firstChild.style.width = `${100 * score.relative}%`;
        scale.lastChild.style.left = `${(100 * Math.min(view.bound, score.rate)) / score.rate}%`;
        put(
          carries.value,
          score.relative < 1 ? number(score.throughput) : roundedDown(score.carries),
        );
        put(carries.more, `tuples/s${headroom(problem)}`);
        put(bound.value, roundedUp(view.ceiling));
        put(bound.more, view.boundNote);
        put(gap.value, percentUp(Math.max(0, 1 - score.throughput / view.bound)));
        put(gap.more, `at ${number(score.rate)} offered`);
        const parts = bottleneckParts(score, problem);
        put(limit.node.firstChild, word(score));
        limit.value.replaceChildren(...parts.slice(0, 2));
        limit.value.classList.toggle("small", limit.value.textContent.length > LONG);
        limit.value.classList.toggle("alarm", score.full);
        limit.more.replaceChildren(...parts.slice(2));
        put(used.value, `${number(score.used)} of ${number(problem.cluster.devices.length)}`);
        const verb = score.links.length === 1 ? "carries" : "carry";
        put(used.more, `${counted(score.links.length, "link")} ${verb} traffic`);
      },
    };
  }

  function headroom(problem) {
    const usable = problem.target_utilisation;
    return usable < 1 ? `, ${percent(usable)} of each used` : "";
  }

  /** Return what to call the device, link or operator with the largest utilisation. */
  const word = ({ full }) => (full ? "Bottleneck" : "Busiest");

  /** Return what a team lead asks first: what is carried, by how many machines, and what must not fail. */
  function sentence({ score, problem, edited }) {
    const { irreplaceable: bound, fewer_devices: fewer, cluster, called } = problem;
    const factor = score.carries / score.rate;
    const times =
      factor === Infinity ? "any multiple of" : `${roundedDown(factor, FACTOR_DIGITS)} times`;
    const all = number(cluster.devices.length);
    const enough =
      fewer === null || edited
        ? ""
        : `, of which ${number(fewer)} suffice${fewer === 1 ? "s" : ""}`;
    const names = bound.slice(0, MACHINES).map((d) => isolated(called.devices(d)));
    if (bound.length > MACHINES) names.push(`${number(bound.length - MACHINES)} more`);
    const risk =
      bound.length === 0
        ? "every operator may run on another machine"
        : `without ${names.join(" or ")}, some operator can run nowhere`;
    return `Carries ${times} the offered rate on ${number(score.used)} of ${all} machines${enough}; ${risk}.`;
  }

  /** Return the lines of a placement's card. */
  function lines(view) {
    const { score, bound, problem } = view;
    const gap = percentUp(Math.max(0, 1 - score.throughput / bound));
    return {
      main: `${number(score.throughput)} tuples/s`,
      details: `${shareOf(score.throughput, score.rate)} of ${number(score.rate)}, gap ${gap}`,
      limit: [`${word(score)}: `, ...bottleneckParts(score, problem)],
    };
  }

  /** Return the result of an edit, for screen readers. */
  const announcement = ({ score }) => `throughput ${number(score.throughput)} tuples per second`;

  /** Return the score as a plain object, for tests and the browser's console. */
  function scoreObject({ problem, score, bound, setting, edited }) {
    const { cluster } = problem;
    const name = (end) => (end === null ? null : cluster.devices[end].name);
    const loads = cluster.devices.map((device, d) => [device.name, score.devices[d]]);
    const own = score.links.filter((load) => load.uplink === null);
    const links = own.map((load) => [name(load.from), name(load.to), load.utilisation]);
    const shared = score.links.filter((load) => load.uplink !== null);
    return {
      throughput: score.throughput,
      relative_throughput: score.relative,
      bottleneck: { ...score.bottleneck },
      devices: loads,
      links,
      uplinks: shared.map(({ uplink, utilisation }) => [
        uplink.group,
        uplink.direction,
        utilisation,
      ]),
      devices_used: score.used,
      source_rate: score.rate,
      bound,
      edited,
      assignment: [...setting.assignment],
    };
  }

  return { viewOf, notesOf, figures, sentence, lines, announcement, scoreObject };
})();
