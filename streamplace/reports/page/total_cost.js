// The total cost objective: as the makespan, with the sum of all execution and transfer times as the
// score of a pass; as in streamplace/makespan/total_cost.py.
SP.totalCost = (() => {
  "use strict";
  const { makespan } = SP;
  const { duration, number, percent, percentUp, put, roundedDown } = SP.text;
  const SAME = 1e-9; // relative difference of equal costs

  /** Return everything shown for a placement at a setting. */
  function viewOf(placement, setting) {
    const view = makespan.viewOf(placement, setting);
    const { execution, transfers } = costsOf(view.run);
    const total = execution + transfers;
    const gap = total === 0 ? 0 : Math.max(0, 1 - view.bound / total);
    const score = { ...view.score, execution, transfers, total, gap };
    return { ...view, score, first: placement.first ?? score, earliest: null };
  }

  /** Return the seconds of all operators and messages of a pass; infinite without one. */
  function costsOf(run) {
    if (run === null) return { execution: Infinity, transfers: Infinity };
    let transfers = 0;
    run.delivery.forEach((delivery, m) => {
      if (delivery === m && run.message[m] === m) transfers += secondsOf(run, m);
    });
    return { execution: run.duration.reduce((sum, seconds) => sum + seconds, 0), transfers };
  }

  /** Return the transfer time of a message, with its latency. */
  function secondsOf(run, m) {
    const { tasks, devices } = run;
    if (tasks.network !== SP.tasks.NIC) return run.transfer[m] + run.latency[m];
    const received = SP.messages
      .deliveriesOf(run, m)
      .map((k) => run.size[m] / tasks.rate_in[devices[tasks.target[k]]]);
    return Math.max(run.transfer[m], ...received) + run.latency[m];
  }

  /** Return the notes on a problem, which do not depend on edits. */
  const notesOf = (problem) => [
    "The total cost adds up all execution and transfer times, whether or not they overlap.",
    ...makespan.notesOf(problem),
  ];

  /** Build the strip of large figures. */
  function figures(container) {
    const main = SP.cards.figure("Total cost");
    const bound = SP.cards.figure("Lower bound");
    const gap = SP.cards.figure("Gap to the bound");
    const execution = SP.cards.figure("Execution");
    const transfers = SP.cards.figure("Transfers");
    const used = SP.cards.figure("Devices used");
    main.node.classList.add("main");
    const all = [main, bound, gap, execution, transfers, used];
    container.replaceChildren(...all.map(({ node }) => node));
    return {
      show({ score, first, bound: lowest, problem }) {
        const exists = score.total !== Infinity;
        const share = (seconds) =>
          exists && score.total > 0 ? percent(seconds / score.total) : "";
        put(main.value, time(score.total));
        put(main.more, exists ? `makespan ${duration(score.makespan)}${gain(score, first)}` : "");
        put(bound.value, duration(lowest, roundedDown));
        put(bound.more, "no placement costs less");
        put(gap.value, exists ? percentUp(score.gap) : "–");
        put(gap.more, "of the total cost");
        for (const [part, seconds] of [
          [execution, score.execution],
          [transfers, score.transfers],
        ]) {
          put(part.value, exists ? duration(seconds) : "–");
          put(part.more, share(seconds));
        }
        put(used.value, `${number(score.used)} of ${number(problem.cluster.devices.length)}`);
        put(used.more, "");
      },
    };
  }

  const time = (seconds) => (seconds === Infinity ? "no schedule" : duration(seconds));

  function gain({ total }, first) {
    const change = total - first.total;
    if (!(Math.abs(change) > SAME * first.total) || first.total === Infinity) return "";
    if (total === Infinity) return "";
    return `, costs ${duration(Math.abs(change))} ${change < 0 ? "less" : "more"} by your edits`;
  }

  /** Return the lines of a placement's card. */
  function lines({ score }) {
    const exists = score.total !== Infinity;
    return {
      main: time(score.total),
      details: exists ? `gap ${percentUp(score.gap)}` : "",
      limit: [exists ? `makespan ${duration(score.makespan)}` : ""],
    };
  }

  /** Return the result of an edit, for screen readers. */
  const announcement = ({ score }) => `total cost ${time(score.total)}`;

  /** Return the score and the schedule as a plain object, for tests and the browser's console. */
  function scoreObject(view) {
    const { total, execution, transfers } = view.score;
    const costs =
      total === Infinity ? { total_cost: null } : { total_cost: total, execution, transfers };
    return { ...makespan.scoreObject(view), ...costs };
  }

  return { ...makespan, viewOf, notesOf, figures, lines, announcement, scoreObject };
})();
