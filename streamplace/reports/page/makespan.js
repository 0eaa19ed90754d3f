// The makespan objective: what is shown for a placement at a setting, in figures and in words.
SP.makespan = (() => {
  "use strict";
  const { state } = SP;
  const { counted, duration, element, number, percent, percentUp, put, roundedDown } = SP.text;
  const SAME = 1e-9; // relative difference of equal makespans

  /**
   * Return what the data of a pass adds to a problem: its task graph and order, and a flow in which
   * the work of an operator is its shortest execution time.
   */
  function fieldsOf(data, flow) {
    const tasks = SP.tasks.tasksOf(data.tasks);
    const everywhere = Array.from({ length: tasks.devices }, (_, d) => d);
    const fastest = (_, v) => Math.min(...everywhere.map((d) => SP.tasks.secondsOn(tasks, v, d)));
    return {
      schedule: { ...data, tasks },
      flow: { ...flow, work: flow.names.map(fastest) },
    };
  }

  /** Return everything shown for a placement at a setting. */
  function viewOf({ problem, initial, first = null }, setting) {
    const { schedule } = problem;
    const { run, order } = shortest(schedule, setting.assignment);
    const score = scoreOf(problem, setting.assignment, run);
    return {
      problem,
      setting,
      run,
      order,
      sums: { operators: countsOf(problem, setting.assignment) },
      used: problem.limits.map((limit) => SP.limits.usedBy(limit, setting.assignment)),
      score,
      first: first ?? score,
      bound: problem.bound_s,
      earliest: problem.bound_s, // the bound on the makespan, which the chart shows
      edited: !state.same(setting, initial),
    };
  }

  /** Return the shortest pass under the orders of a problem, with the name of its order. */
  function shortest({ tasks, orders }, assignment) {
    const passes = orders.map(({ name, ...order }) => ({
      run: SP.engine.timetable(tasks, order, assignment),
      order: name,
    }));
    return passes.reduce((best, one) => (one.run?.makespan < best.run?.makespan ? one : best));
  }

  function countsOf({ cluster }, assignment) {
    const counts = cluster.devices.map(() => 0);
    for (const d of assignment) counts[d] += 1;
    return counts;
  }

  /**
   * Return the score of a pass. Without one, because an operator cannot run on its device, the
   * makespan is infinite and no device is busy.
   */
  function scoreOf({ schedule, cluster, bound_s: bound }, assignment, run) {
    const steps = run === null ? [] : SP.critical.pathOf(run);
    const numbers = (kind) => steps.filter((step) => step.kind === kind).map((step) => step.number);
    const makespan = run?.makespan ?? Infinity;
    const longest = schedule.longest_path_s;
    return {
      makespan,
      slr: makespan === 0 ? 1 : makespan / longest,
      gap: makespan === 0 ? 0 : Math.max(0, 1 - bound / makespan),
      devices: run === null ? cluster.devices.map(() => 0) : busyShares(run, cluster),
      used: new Set(assignment).size,
      bottleneck: { utilisation: 1, device: null, link: null },
      critical: {
        steps,
        operators: new Set(numbers("operator")),
        streams: new Set(numbers("message")),
      },
      division: run === null ? null : SP.division.divide(run),
    };
  }

  /** Return the share of the makespan for which the cores of each device run operators. */
  function busyShares({ tasks, devices, duration: seconds, makespan }, cluster) {
    const busy = cluster.devices.map(() => 0);
    devices.forEach((d, v) => {
      busy[d] += seconds[v] * SP.tasks.coresOn(tasks, v, d);
    });
    return busy.map((sum, d) => (makespan === 0 ? 0 : sum / (tasks.device_cores[d] * makespan)));
  }

  /** Return the notes on a problem, which do not depend on edits. */
  function notesOf({ schedule, file }) {
    const joins = file.firing === "all"; // operators handle every element of a batch once
    const tuple = joins ? "element" : "source tuple";
    const batch = schedule.batch === 1 ? `one ${tuple}` : `${number(schedule.batch)} ${tuple}s`;
    const what = joins && schedule.batch === 1 ? "" : ` for ${batch}`;
    const lines = [`One pass of the graph${what}. ${orderText(schedule)}`];
    if (schedule.tasks.barrier) {
      lines.push("A level of operators starts only when the level before has ended.");
    }
    if (schedule.noise > 0) {
      lines.push(
        `Times vary by ±${percent(schedule.noise)} in the placement’s own objective. The page shows the pass without this noise.`,
      );
    }
    return lines;
  }

  const ORDERS = {
    fifo: "A device starts its operators in the order in which they become runnable.",
    "b-level":
      "A device starts the runnable operator with the longest remaining path first (b-level).",
    topological: "A device starts the first runnable operator in topological order.",
    sequence: "A device starts its operators in topological order and waits for the next one.",
  };

  function orderText({ orders }) {
    if (orders.length === 1) return ORDERS[orders[0].name];
    return `The schedule is the shortest of the orders ${orders.map(({ name }) => name).join(", ")}.`;
  }

  /** Build the strip of large figures. */
  function figures(container) {
    const main = SP.cards.figure("Makespan");
    const bound = SP.cards.figure("Lower bound");
    const gap = SP.cards.figure("Gap to the bound");
    const path = SP.cards.figure("Critical path");
    const most = SP.cards.figure("Largest part");
    const used = SP.cards.figure("Devices used");
    main.node.classList.add("main");
    container.replaceChildren(main.node, bound.node, gap.node, path.node, most.node, used.node);
    return {
      show({ score, first, bound: lowest, problem }) {
        put(main.value, time(score.makespan));
        put(main.more, score.makespan === Infinity ? "" : `SLR ${slr(score)}${gain(score, first)}`);
        put(bound.value, duration(lowest, roundedDown));
        put(bound.more, "no placement is faster");
        put(gap.value, score.makespan === Infinity ? "–" : percentUp(score.gap));
        put(gap.more, "of the makespan");
        put(path.value, pathText(score));
        put(path.more, messagesText(score));
        const [largest, ...others] = partTexts(score);
        put(most.value, largest ?? "–");
        put(most.more, others.join(", "));
        put(used.value, `${number(score.used)} of ${number(problem.cluster.devices.length)}`);
        put(used.more, "");
      },
    };
  }

  const time = (seconds) => (seconds === Infinity ? "no schedule" : duration(seconds));

  const slr = (score) => number(score.slr);

  function gain(score, first) {
    const change = score.makespan - first.makespan;
    if (!(Math.abs(change) > SAME * first.makespan)) return "";
    if (first.makespan === Infinity) return "";
    return `, ${duration(Math.abs(change))} ${change < 0 ? "shorter" : "longer"} by your edits`;
  }

  function pathText({ critical }) {
    return critical.steps.length === 0 ? "–" : counted(critical.operators.size, "operator");
  }

  function messagesText({ critical }) {
    return critical.streams.size === 0 ? "" : counted(critical.streams.size, "message");
  }

  /** Return the parts of the makespan with their shares, as `explain` has them, the largest first. */
  function partTexts({ division, makespan }) {
    const shares = division === null ? [] : SP.division.shares(division, makespan);
    return shares.map(([name, share]) => `${name} ${percent(share)}`);
  }

  /** Return what a card says first: nothing, as all that is computed stands below. */
  const sentence = () => "";

  /** Return the lines of a placement's card. */
  function lines({ score }) {
    const exists = score.makespan !== Infinity;
    return {
      main: time(score.makespan),
      details: exists ? `SLR ${slr(score)}, gap ${percentUp(score.gap)}` : "",
      limit: [exists ? `critical path of ${pathText(score)}` : ""],
    };
  }

  /** Return the result of an edit, for screen readers. */
  const announcement = ({ score }) => `makespan ${time(score.makespan)}`;

  /** Return the score and the schedule as a plain object, for tests and the browser's console. */
  function scoreObject({ problem, run, order, score, bound, setting, edited }) {
    const { critical, division, ...plain } = score;
    return {
      makespan: score.makespan === Infinity ? null : score.makespan,
      order,
      slr: score.slr,
      gap: score.gap,
      bound,
      start: run === null ? null : [...run.start],
      end: run === null ? null : [...run.end],
      critical_path: critical.steps.map((step) => ({ ...step })),
      division,
      devices: problem.cluster.devices.map((device, d) => [device.name, plain.devices[d]]),
      devices_used: score.used,
      edited,
      assignment: [...setting.assignment],
    };
  }

  return { fieldsOf, viewOf, notesOf, figures, sentence, lines, announcement, scoreObject };
})();
