// Main script: reads the data, shows the chosen placement, and handles edits, undo and redo.
(() => {
  "use strict";
  const { state, text } = SP;
  const { viewOf } = SP.view;
  const FOLLOWS = [
    "All figures still follow changes of the source rate, device speeds and bandwidth.",
    "Operators can be moved in the schedule and in the list below.",
  ];
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const flows = data.graphs.map((graph) => graph.file && SP.flow.flowOf(graph.file));
  const placements = data.placements.map((row) =>
    SP.view.placementOf(
      row,
      data.graphs[row.graph],
      row.assignment ? flows[row.graph] : null,
      data.schedules?.[row.schedule],
    ),
  );
  let chosen = 0;
  let selected = null; // { kind, number } of the operator, stream or device in the details
  let shown = {}; // parts of the page that belong to the chosen placement
  let trial = null; // a setting that is only previewed, while an operator is dragged
  const timing = { firstPicture: null, lastEdit: null };

  const edits = state.history(placements.map(({ initial }) => initial));
  const now = () => placements[chosen];
  const setting = () => edits.now()[chosen];
  const view = () => viewOf(now(), trial ?? setting());

  function edit(next) {
    edits.set(edits.now().with(chosen, next));
    refresh();
  }

  const calls = {
    get network() {
      return now().problem.network;
    },
    drawn() {
      timing.firstPicture ??= performance.now();
    },
    preview(v, d) {
      trial = state.moved(setting(), v, d);
      const preview = view();
      shown.graph.preview(preview.score, trial.assignment);
      shown.gantt?.show(preview);
      figures(preview);
    },
    refresh() {
      trial = null;
      refresh();
    },
    move(v, d) {
      trial = null;
      if (setting().assignment[v] === d) refresh();
      else edit(state.moved(setting(), v, d));
    },
    rate(value, kind) {
      const rate = state.valid(value);
      if (rate !== null)
        edits.set(
          edits.now().map((one) => state.withRate(one, rate)),
          kind,
        );
      refresh();
    },
    unseen(count) {
      const some = `${text.counted(count, "message")} in sight ${count === 1 ? "is" : "are"} not drawn: zoom in.`;
      text.put(at("unseen"), count > 0 ? some : "");
    },
    settle: () => edits.settle(),
    mips(d, value) {
      const mips = state.valid(value);
      if (value.trim() !== "" && Number(value) === 0) without.choose(d); // no machine is as slow
      if (mips === null) refresh();
      else edit(state.withMips(setting(), d, mips));
    },
    bandwidth(value) {
      const mbps = value.trim() === "" ? null : state.valid(value);
      if (mbps === null && value.trim() !== "") refresh();
      else edit(state.withBandwidth(setting(), mbps));
    },
    choose(kind, number) {
      selected = { kind, number };
      shown.graph.choose(kind, number);
      shown.gantt?.choose(kind, number);
      SP.details.show(at("details"), view(), selected, calls);
      if (kind === "operator") text.put(at("announcement"), placeOf(number));
    },
    select,
  };

  const cards = SP.cards.cards(
    at("cards"),
    placements.map((placement) => placement.problem),
    calls,
  );
  const rate = SP.controls.rate(at("slider"), at("rate"), calls);
  const bandwidth = SP.controls.bandwidth(at("bandwidth"), calls);
  const without = SP.without.control(at("without"), at("loss"));

  /** Show the figures of a view: everything but the drawing and the input fields. */
  function figures(current) {
    const usable = current.problem.target_utilisation ?? 1;
    shown.strip.show(current);
    cards.show(chosen, current);
    text.put(
      at("sentence"),
      placements.length > 1 ? "" : current.problem.objective.sentence(current),
    );
    shown.devices.show(current, usable);
    shown.links?.show(current.score, usable);
    SP.frame.legend(current.score);
    SP.facts.show(at("facts"), at("rules"), current, data.written);
    SP.controls.notes(at("broken"), SP.view.brokenIn(current));
  }

  function refresh(gently = true) {
    const began = performance.now();
    const current = view();
    shown.graph.show(current.setting, current.score, gently);
    shown.gantt?.show(current);
    figures(current);
    if (!current.problem.schedule) {
      rate.show(current.setting.rate);
      bandwidth.show(current.setting.bandwidth);
      without.show(current);
    }
    shown.operators?.show(current.setting.assignment, current.score);
    SP.details.show(at("details"), current, selected, calls);
    at("undo").disabled = !edits.canUndo();
    at("redo").disabled = !edits.canRedo();
    at("reset").disabled = edits.isFirst();
    text.put(at("announcement"), current.problem.objective.announcement(current));
    showCards();
    timing.lastEdit = performance.now() - began;
  }

  /** Show the cards of all placements whose settings have changed. */
  function showCards() {
    placements.forEach((placement, i) => {
      const next = edits.now()[i];
      if (placement.carded === next) return;
      placement.carded = next;
      if (i !== chosen) cards.show(i, viewOf(placement, next));
      thumbnail(i);
    });
  }

  function thumbnail(i) {
    const { problem } = placements[i];
    if (placements.length < 2 || !problem.drawn) return;
    const { assignment } = edits.now()[i];
    const placed = SP.layout.lanesOf(
      SP.layout.layersOf(problem.flow),
      assignment,
      problem.network.count,
    );
    cards.draw(i, problem.flow, placed, assignment);
  }

  function select(i) {
    chosen = i;
    trial = null;
    selected = null;
    const { problem } = now();
    shown.graph?.destroy();
    shown.gantt?.destroy();
    SP.frame.show(problem);
    shown = {
      graph: drawingOf(problem),
      gantt: problem.schedule && SP.gantt.gantt(at("gantt"), problem, calls),
      strip: problem.objective.figures(at("figures")),
      devices: SP.bars.devices(at("devices"), problem, now().first, calls),
      links: problem.schedule
        ? null
        : SP.bars.links(at("links"), at("links-note"), problem.called.devices, calls),
    };
    shown.devices.recolour();
    shown.gantt?.messages(at("messages").checked);
    without.start(problem);
    cards.choose(i);
    const guesses = problem.guesses ? [`${problem.guesses}.`] : [];
    SP.controls.notes(at("notes"), [...guesses, ...problem.objective.notesOf(problem)]);
    SP.jobs.show(at("jobs-section"), at("jobs"), at("jobs-note"), problem);
    refresh(false);
    at("operators").replaceChildren();
    if (problem.operators) {
      SP.operators.summary(at("operators"), problem.operators, problem.graph.logical);
    }
    if (problem.flow) setTimeout(() => listOperators(i)); // after the first picture: many rows
  }

  function listOperators(i) {
    if (i !== chosen || shown.operators) return;
    shown.operators = SP.operators.table(at("operators"), view(), calls);
  }

  function drawingOf(problem) {
    const box = at("graph");
    box.replaceChildren();
    if (problem.drawn) {
      return SP.graph.drawing(box, problem, setting().assignment, calls);
    }
    requestAnimationFrame(calls.drawn);
    const noun = problem.graph.logical === undefined ? "operator" : "instance";
    const sentence = `${text.counted(problem.graph.operators, noun)} are too many to draw (at most ${data.drawn}), so the devices are shown instead. ${FOLLOWS[problem.schedule ? 1 : 0]}`;
    return SP.tiles.tiles(box, sentence, problem, calls);
  }

  /** Return the chosen operator and its device, for the arrow keys; null if no graph is drawn. */
  function whereNow() {
    const { problem } = now();
    if (!problem.flow) return null;
    const operator = selected?.kind === "operator" ? selected.number : null;
    const device = setting().assignment[operator];
    const [operators, devices] = [problem.flow.names.length, problem.network.count];
    return { operator, device, operators, devices };
  }

  /** Return an operator with its device, as text for screen readers. */
  function placeOf(v) {
    const { operators, devices } = now().problem.called;
    return `operator ${operators(v)} on ${devices(setting().assignment[v])}`;
  }

  /** Undo or redo an edit, and show a placement that it changes. */
  function step(change) {
    const before = edits.now();
    change();
    const isChanged = (_, i) => edits.now()[i] !== before[i];
    if (isChanged(null, chosen)) refresh();
    else if (before.some(isChanged)) select(before.findIndex(isChanged));
  }

  const undo = () => step(edits.undo);
  const redo = () => step(edits.redo);

  SP.keys.history(undo, redo);
  for (const id of ["graph", "gantt"]) SP.keys.arrows(at(id), whereNow, calls);
  at("undo").addEventListener("click", undo);
  at("redo").addEventListener("click", redo);
  at("reset").addEventListener("click", () => step(edits.reset));
  at("save").addEventListener("click", () => SP.download.save(view()));
  at("fit").addEventListener("click", () => shown.graph.fit());
  at("zoom-in").addEventListener("click", () => shown.graph.zoom(1.3));
  at("zoom-out").addEventListener("click", () => shown.graph.zoom(1 / 1.3));
  at("messages").addEventListener("change", () => shown.gantt?.messages(at("messages").checked));
  at("gantt-fit").addEventListener("click", () => shown.gantt?.fit());
  at("gantt-in").addEventListener("click", () => shown.gantt?.zoom(1.3));
  at("gantt-out").addEventListener("click", () => shown.gantt?.zoom(1 / 1.3));
  function recolour() {
    shown.graph.recolour();
    shown.gantt?.recolour();
    shown.devices.recolour();
    placements.forEach((_, i) => thumbnail(i));
  }

  SP.colours.onChange(recolour);
  SP.paper.letPrint(at("graph"), { recolour, picture: () => shown.graph.picture() });
  for (const id of ["devices", "links", "operators"]) SP.folds.fold(at(id));

  at("everywhere").hidden = placements.length < 2;
  rate.start(placements.find(({ problem }) => !problem.schedule)?.initial.rate ?? 1);
  select(0);

  window.streamplace = Object.freeze({
    /** The score of the chosen placement as it is edited now; links as [from, to, utilisation], uplinks as [group, direction, utilisation]. */
    score: () => now().problem.objective.scoreObject(view()),
    /** The position in pixels and the look of an operator ("operator", index) or a device's lane ("device", index). */
    whereIs: (kind, number) => shown.graph.whereIs(kind, number),
    /** The same in the schedule: a bar's box or the middle of a device's row. */
    whereInSchedule: (kind, number) => shown.gantt?.whereIs(kind, number) ?? null,
    /** The operator, stream or device in the details as { kind, number }, or null. */
    chosen: () => (selected === null ? null : { ...selected }),
    /** Milliseconds to the first picture, and for the last edit. */
    timing: () => ({ ...timing }),
  });
})();
