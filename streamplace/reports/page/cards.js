// A card for each placement, and the large figures of the chosen one.
SP.cards = (() => {
  "use strict";
  const { element, named, put, counted } = SP.text;
  const ORIGIN = 30; // characters of a graph's name, and of a placer's

  /** Return a large figure: its element, its value and a line below it. */
  function figure(title) {
    const value = element("strong");
    const more = element("span", { class: "more" });
    return {
      node: element("div", { class: "figure" }, element("h3", {}, title), value, more),
      value,
      more,
    };
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
      const sentence = element("span", { class: "sentence" });
      const main = element("strong");
      const details = element("span", { class: "more" });
      const limit = element("span", { class: "more" });
      const edited = element("span", { class: "tag", hidden: true }, "edited");
      const picture = problem.drawn
        ? element("canvas", {
            "aria-hidden": "true",
            style: `width:${SP.pictures.WIDTH}px;height:${SP.pictures.HEIGHT}px`,
          })
        : element("span", { class: "more" }, counted(problem.graph.operators, "operator"));
      const card = element(
        "button",
        { class: "card", type: "button", onclick: () => calls.select(i) },
        sentence,
        picture,
        element(
          "span",
          { class: "text" },
          element("span", { class: "title" }, named(titles, i, SP.labels.label), edited),
          ...origin(problem, several),
          main,
          details,
          limit,
        ),
      );
      return { card, sentence, main, details, limit, edited, picture };
    });
    container.replaceChildren(...made.map((one) => one.card));
    container.hidden = problems.length < 2;
    return {
      show(i, view) {
        const one = made[i];
        const lines = view.problem.objective.lines(view);
        put(one.sentence, view.problem.objective.sentence(view));
        put(one.main, lines.main);
        put(one.details, lines.details);
        one.limit.replaceChildren(...lines.limit);
        one.edited.hidden = !view.edited;
      },
      draw(i, flow, placed, assignment) {
        if (problems.length > 1) SP.pictures.draw(made[i].picture, flow, placed, assignment);
      },
      choose(chosen) {
        made.forEach((one, i) => one.card.setAttribute("aria-pressed", String(i === chosen)));
      },
    };
  }

  return { cards, figure };
})();
