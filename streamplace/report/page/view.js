// Everything shown for a placement at a setting: sums, score, bound and notes.
SP.view = (() => {
  "use strict";
  const { model, state, text } = SP;
  const BROKEN = 2; // largest number of violated constraints that are shown
  const SENTENCE = 300; // largest number of characters of each

  /** Return a placement of the data, with its problem and its edit history. */
  function placementOf(row, graph, flow) {
    const problem = {
      ...row,
      graph,
      file: graph.file,
      flow,
      network: model.networkOf(row.cluster),
      called: {
        devices: SP.labels.called(row.cluster.devices.map((device) => device.name)),
        operators: SP.labels.called(flow?.names ?? []),
      },
      sums: row.sums && model.sumsFrom(row.sums),
      limits: SP.limits.limitsOf(graph.file, row.cluster, row.sums?.limits),
      heaviest: flow ? model.heaviestOf(flow) : row.heaviest,
      plainWork: flow ? model.plainWork(flow) : row.plain_work,
    };
    const first = {
      assignment: row.assignment ?? [],
      rate: row.source_rate,
      mips: row.cluster.devices.map((device) => device.mips),
      bandwidth: row.cluster.network.bandwidth_mbps,
      kind: null,
    };
    const placement = { problem, edits: state.history(first) };
    placement.first = viewOf(placement, first).score;
    return placement;
  }

  /** Return everything shown for a placement at a setting. */
  function viewOf({ problem, edits, first = null }, setting) {
    const { cluster, network, flow } = problem;
    const usable = problem.target_utilisation;
    const { assignment, bandwidth } = setting;
    const sums = problem.sums ?? model.sumsOf(flow, assignment, cluster, network, bandwidth);
    const score = model.scoreOf(sums, cluster, network, setting, usable);
    const boundIsFull = state.sameMachines(setting, edits.first);
    return {
      problem,
      setting,
      sums,
      used: problem.limits.map((limit) => SP.limits.usedBy(limit, setting.assignment)),
      score,
      first: first ?? score,
      boundIsFull,
      bound: boundIsFull
        ? Math.min(setting.rate, problem.ceiling ?? Infinity)
        : model.cpuBound(problem.plainWork, problem.heaviest, cluster, setting, usable),
      boundNote: boundIsFull ? "no placement exceeds it" : "by CPU alone (edited)",
      edited: !state.same(setting, edits.first),
    };
  }

  /** Return the notes on a problem, which do not depend on edits. */
  function notesOf(problem) {
    const lines = [];
    if (problem.model !== "bottleneck") {
      const share = text.percent(problem.own.relative_throughput);
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

  /** Return the violated constraints: the first ones in words, then the number of the others. */
  function brokenIn({ problem, setting }) {
    const broken = problem.flow
      ? SP.rules.broken(problem, problem.flow, setting.assignment)
      : [problem.violation]
          .filter((line) => line !== null)
          .map((line) => text.shortened(line, SENTENCE));
    const lines = broken.slice(0, BROKEN).map((line) => `Violated constraint: ${line}.`);
    const more = broken.length - lines.length;
    return more > 0 ? [...lines, `and ${text.counted(more, "more violated constraint")}`] : lines;
  }

  return { placementOf, viewOf, notesOf, brokenIn };
})();
