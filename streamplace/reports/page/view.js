// Everything shown for a placement at a setting: sums, score, bound and notes.
SP.view = (() => {
  "use strict";
  const { links, model, text } = SP;
  const PASSES = { makespan: SP.makespan, "total cost": SP.totalCost };
  const SENTENCE = 300; // largest number of characters of a violated constraint

  /** Return a placement of the data, with its problem, its initial setting and the score of that. */
  function placementOf(row, graph, columns, schedule) {
    const flow = columns && {
      ...columns,
      work: SP.times.workUnder(columns, row.assignment, row.cluster.devices),
    };
    const problem = {
      ...row,
      graph,
      file: graph.file,
      flow,
      objective: PASSES[row.objective] ?? SP.throughput,
      ...(schedule && SP.makespan.fieldsOf(schedule, flow)),
      network: links.networkOf(row.cluster),
      called: {
        devices: SP.labels.called(row.cluster.devices.map((device) => device.name)),
        operators: SP.labels.called(flow?.names ?? []),
      },
      sums: row.sums && model.sumsFrom(row.sums),
      limits: SP.limits.limitsOf(graph.file, row.cluster, row.sums?.limits, row.sums?.operators),
      drawn: graph.drawn,
      heaviest: flow ? SP.flow.heaviestOf(flow) : row.heaviest,
      plainWork: flow ? SP.flow.plainWork(flow) : row.plain_work,
    };
    const first = {
      assignment: row.assignment ?? [],
      rate: row.source_rate,
      mips: row.cluster.devices.map((device) => device.mips),
      bandwidth: row.cluster.network.bandwidth_mbps,
    };
    const placement = { problem, initial: first };
    placement.first = viewOf(placement, first).score;
    return placement;
  }

  /** Return everything shown for a placement at a setting. */
  const viewOf = (placement, setting) => placement.problem.objective.viewOf(placement, setting);

  /** Return all violated constraints in words. */
  function brokenIn({ problem, setting }) {
    const broken = problem.flow
      ? SP.rules.broken(problem, problem.flow, setting.assignment)
      : problem.violations.map((line) => text.shortened(line, SENTENCE));
    return broken.map((line) => `Violated constraint: ${line}.`);
  }

  return { placementOf, viewOf, brokenIn };
})();
