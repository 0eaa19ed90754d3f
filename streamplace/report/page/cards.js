// The figures of the chosen placement, and those of all placements side by side.
SP.cards = (() => {
  "use strict";
  const { element, named, put, number, percent, label } = SP.text;

  /** Return the bottleneck as parts of a line; the name keeps its own direction. */
  function bottleneck(score, cluster) {
    const name = element("bdi", { dir: "auto" }, label(nameOf(score, cluster)));
    return [`${score.bottleneck.kind} `, name, ` at ${percent(score.bottleneck.utilisation)}`];
  }

  function nameOf(score, cluster) {
    if (score.bottleneck.kind === "device") return score.bottleneck.name;
    const link = score.links.find((load) => load.link === score.bottleneck.link);
    const name = (end) => SP.text.isolated(SP.text.shortened(cluster.devices[end].name, 12));
    if (link.from === null) return `into ${name(link.to)}`;
    return link.to === null ? `out of ${name(link.from)}` : `${name(link.from)} → ${name(link.to)}`;
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
        full.value.replaceChildren(...bottleneck(score, problem.cluster).slice(0, 2));
        put(full.more, `at ${percent(score.bottleneck.utilisation)}${headroom(problem)}`);
        put(used.value, `${number(score.used)} of ${number(problem.cluster.devices.length)}`);
        put(used.more, `${number(score.links.length)} links carry traffic`);
      },
    };
  }

  function headroom(problem) {
    const most = problem.target_utilisation;
    return most < 1 ? `, ${percent(most)} may be used` : "";
  }

  /** Build a card a placement. `calls.select(i)` chooses one. */
  function cards(container, problems, calls) {
    const made = problems.map((problem, i) => {
      const throughput = element("strong");
      const details = element("span", { class: "more" });
      const full = element("span", { class: "more cut" });
      const edited = element("span", { class: "tag", hidden: true }, "edited");
      const picture = problem.flow
        ? element("canvas", {
            "aria-hidden": "true",
            style: `width:${SP.pictures.WIDTH}px;height:${SP.pictures.HEIGHT}px`,
          })
        : element("span", { class: "more" }, `${number(problem.graph.operators)} operators`);
      const card = element(
        "button",
        { class: "card", type: "button", onclick: () => calls.select(i) },
        picture,
        element(
          "span",
          { class: "text" },
          element("span", { class: "title" }, named(problem.title, 24), edited),
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
        one.full.replaceChildren(...bottleneck(view.score, view.problem.cluster));
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
