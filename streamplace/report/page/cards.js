// The figures of the chosen placement, and a card for each placement.
SP.cards = (() => {
  "use strict";
  const { element, named, put, number, counted, percent } = SP.text;
  const ORIGIN = 30; // characters of a graph's name, and of a placer's
  const LONG = 16; // longer names of bottlenecks are shown in a smaller font
  const HALF = 11; // characters of each of two device names in a line

  /** Return the bottleneck as parts of a line; the name has its own writing direction. */
  function bottleneck(score, { called }) {
    const title = nameOf(score, called, SP.labels.whole, SP.labels.whole);
    const name = nameOf(score, called, SP.labels.narrow, HALF);
    const shown = element("bdi", { dir: "auto", title }, name);
    return [`${score.bottleneck.kind} `, shown, ` at ${percent(score.bottleneck.utilisation)}`];
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

  function figure(title) {
    const value = element("strong");
    const more = element("span", { class: "more" });
    return {
      node: element("div", { class: "figure" }, element("h3", {}, title), value, more),
      value,
      more,
    };
  }

  /** Build the strip of large figures. */
  function figures(container) {
    const throughput = figure("Throughput");
    const bound = figure("Bound");
    const gap = figure("Gap to the bound");
    const full = figure("Bottleneck");
    const used = figure("Devices used");
    const scale = element(
      "div",
      { class: "reach" },
      element("span", { class: "fill" }),
      element("span", { class: "mark" }),
    );
    throughput.node.append(scale);
    throughput.node.classList.add("main");
    container.replaceChildren(throughput.node, bound.node, gap.node, full.node, used.node);
    return {
      show(view) {
        const { score, first, problem } = view;
        put(throughput.value, `${number(score.throughput)} tuples/s`);
        const change = score.throughput - first.throughput;
        const changed = Math.abs(change) > 1e-9 * first.throughput;
        const sign = change > 0 ? "+" : "−";
        const gain = changed ? `, ${sign}${number(Math.abs(change))} by your edits` : "";
        put(throughput.more, `${percent(score.relative)} of ${number(score.rate)} offered${gain}`);
        scale.firstChild.style.width = `${100 * score.relative}%`;
        scale.lastChild.style.left = `${(100 * Math.min(view.bound, score.rate)) / score.rate}%`;
        put(bound.value, number(view.bound));
        put(bound.more, view.boundNote);
        put(gap.value, percent(Math.max(0, 1 - score.throughput / view.bound)));
        put(gap.more, "below the bound");
        full.value.replaceChildren(...bottleneck(score, problem).slice(0, 2));
        full.value.classList.toggle("small", full.value.textContent.length > LONG);
        put(full.more, `at ${percent(score.bottleneck.utilisation)}${headroom(problem)}`);
        put(used.value, `${number(score.used)} of ${number(problem.cluster.devices.length)}`);
        const verb = score.links.length === 1 ? "carries" : "carry";
        put(used.more, `${counted(score.links.length, "link")} ${verb} traffic`);
      },
    };
  }

  function headroom(problem) {
    const usable = problem.target_utilisation;
    return usable < 1 ? `, ${percent(usable)} may be used` : "";
  }

  /** Return the placer, and the graph's name if there are several graphs, as a line or nothing. */
  function origin({ graph, placer }, several) {
    const name = several && graph.name ? [SP.text.shortened(graph.name, ORIGIN)] : [];
    if (placer) name.push(`by ${SP.text.shortened(placer, ORIGIN)}`);
    if (name.length === 0) return [];
    const title = [graph.name, placer].map((text) => SP.text.shortened(text, SP.labels.whole));
    const options = { class: "more", dir: "auto", title: title.join(", ") };
    return [element("span", options, name.join(", "))];
  }

  /** Build a card per placement. `calls.select(i)` chooses one. */
  function cards(container, problems, calls) {
    const several = new Set(problems.map((problem) => problem.graph)).size > 1;
    const titles = SP.labels.called(problems.map((problem) => problem.title));
    const made = problems.map((problem, i) => {
      const throughput = element("strong");
      const details = element("span", { class: "more" });
      const full = element("span", { class: "more" });
      const edited = element("span", { class: "tag", hidden: true }, "edited");
      const picture = problem.flow
        ? element("canvas", {
            "aria-hidden": "true",
            style: `width:${SP.pictures.WIDTH}px;height:${SP.pictures.HEIGHT}px`,
          })
        : element("span", { class: "more" }, counted(problem.graph.operators, "operator"));
      const card = element(
        "button",
        { class: "card", type: "button", onclick: () => calls.select(i) },
        picture,
        element(
          "span",
          { class: "text" },
          element("span", { class: "title" }, named(titles, i, SP.labels.label), edited),
          ...origin(problem, several),
          throughput,
          details,
          full,
        ),
      );
      return { card, throughput, details, full, edited, picture };
    });
    container.replaceChildren(...made.map((one) => one.card));
    container.hidden = problems.length < 2;
    return {
      show(i, view) {
        const one = made[i];
        put(one.throughput, `${number(view.score.throughput)} tuples/s`);
        const gap = percent(Math.max(0, 1 - view.score.throughput / view.bound));
        put(
          one.details,
          `${percent(view.score.relative)} of ${number(view.score.rate)}, gap ${gap}`,
        );
        one.full.replaceChildren(...bottleneck(view.score, view.problem));
        one.edited.hidden = !view.edited;
      },
      draw(i, flow, placed, assignment) {
        if (flow && problems.length > 1)
          SP.pictures.draw(made[i].picture, flow, placed, assignment);
      },
      choose(chosen) {
        made.forEach((one, i) => one.card.setAttribute("aria-pressed", String(i === chosen)));
      },
    };
  }

  return { figures, cards, bottleneckParts: bottleneck };
})();
