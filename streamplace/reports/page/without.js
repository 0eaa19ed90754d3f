// What the loss of a machine stops, what is left without moving anything, and what has to move.
SP.without = (() => {
  "use strict";
  const { counted, isolated, number, percent } = SP.text;
  const NAMES = 6; // largest number of operators that a sentence names
  const SOME_BOUND = "Some may run on no other machine.";

  /** Return operator v and those that must share its device. */
  function unitOf({ constraints, flow }, v) {
    const unit = new Set([flow.names[v]]);
    for (let size = 0; size < unit.size; ) {
      size = unit.size;
      for (const group of constraints.colocate ?? []) {
        if (group.some((name) => unit.has(name))) group.forEach((name) => unit.add(name));
      }
    }
    return [...unit].map((name) => flow.index.get(name));
  }

  /** Return the operators on device d, those that wait for them, those bound to it, and the share left. */
  function lossOf(view, d) {
    const { problem, setting } = view;
    const { cluster, flow, network } = problem;
    const stopped = setting.assignment.flatMap((on, v) => (on === d ? [v] : []));
    const rest = SP.flow.flowWithout(flow, new Set(stopped));
    const taken = ({ tuples }) => flow.sources.reduce((sum, v) => sum + tuples[v], 0);
    const sums = SP.model.sumsOf(rest, cluster, network, setting);
    const { relative } = SP.model.scoreOf(
      sums,
      cluster,
      network,
      setting,
      problem.target_utilisation,
    );
    const idle = (v) => flow.tuples[v] > 0 && rest.tuples[v] === 0 && !stopped.includes(v);
    const others = cluster.devices.map((_, e) => e).filter((e) => e !== d);
    const mayRun = (unit, e) => unit.every((v) => SP.rules.whyNot(problem, v, e) === null);
    const isBound = (v) => !others.some((e) => mayRun(unitOf(problem, v), e));
    return {
      stopped,
      waiting: flow.names.filter((_, v) => idle(v)).length,
      bound: stopped.filter(isBound),
      left: (taken(rest) / taken(flow)) * relative,
    };
  }

  /** Return what the loss of device d does, in sentences. */
  function sentences(view, d) {
    const { problem, score, sums } = view;
    const count = sums.operators[d];
    if (count === 0) return ["Nothing runs there, so nothing stops."];
    const stops = `${counted(count, "operator")} ${count === 1 ? "stops and has" : "stop and have"} to move`;
    const elsewhere =
      count === 1 ? "It may run on another machine." : "Each may run on another machine.";
    const remains = (share) =>
      `${percent(share)} of ${number(score.rate)} tuples/s is left without a move.`;
    if (!problem.flow) {
      const isBound = problem.irreplaceable.includes(d);
      return [
        `${stops}.`,
        ...(problem.left === null ? [] : [remains(problem.left[d])]),
        isBound ? SOME_BOUND : elsewhere,
      ];
    }
    const names = (operators) =>
      operators
        .slice(0, NAMES)
        .map((v) => isolated(problem.called.operators(v)))
        .join(", ") +
      (operators.length > NAMES ? ` and ${number(operators.length - NAMES)} more` : "");
    const { stopped, waiting, bound, left } = lossOf(view, d);
    const rest = problem.irreplaceable.includes(d) ? SOME_BOUND : elsewhere; // by limits of a group
    const wait = waiting === 1 ? "waits" : "wait";
    return [
      `${stops}: ${names(stopped)}.`,
      ...(waiting > 0 ? [`${counted(waiting, "other operator")} ${wait} for them.`] : []),
      remains(left),
      bound.length > 0 ? `${names(bound)} may run on no other machine.` : rest,
    ];
  }

  /** Build the control: a choice of a device, and what its loss does. */
  function control(select, list) {
    let [view, chosen] = [null, null];
    const update = () => SP.controls.notes(list, chosen === null ? [] : sentences(view, chosen));
    select.addEventListener("change", () => {
      chosen = select.value === "" ? null : Number(select.value);
      update();
    });
    return {
      choose(d) {
        chosen = d;
        select.value = String(d);
      },
      start({ cluster, called }) {
        chosen = null;
        const options = cluster.devices.map((_, d) => SP.controls.option(called.devices, d));
        select.replaceChildren(SP.text.element("option", { value: "" }, "none"), ...options);
      },
      show(next) {
        view = next;
        update();
      },
    };
  }

  return { control, lossOf };
})();
