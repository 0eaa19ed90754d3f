// Violated constraints, labels and limits of an assignment: reported, but not prevented.
SP.rules = (() => {
  "use strict";

  /** Return one sentence per violated rule. `flow` is that of SP.flow. */
  function broken(problem, flow, assignment) {
    const violations = [];
    const where = problem.cluster.devices.map((device) => device.name);
    const on = (name) => where[assignment[flow.index.get(name)]];
    const quoted = (text) => `“${SP.text.isolated(text)}”`;
    const operator = (name) => quoted(problem.called.operators(flow.index.get(name)));
    const device = (name) => quoted(problem.called.devices(problem.network.index.get(name)));
    const rules = problem.constraints;
    for (const [v, d] of Object.entries(rules.pins ?? {})) {
      if (on(v) !== d) violations.push(`${operator(v)} is pinned to ${device(d)}`);
    }
    for (const [v, devices] of Object.entries(rules.allowed ?? {})) {
      if (!devices.includes(on(v))) violations.push(`${operator(v)} may not run on ${device(on(v))}`);
    }
    for (const group of rules.colocate ?? []) {
      const apart = group.find((name) => on(name) !== on(group[0]));
      if (apart !== undefined)
        violations.push(`${operator(apart)} must share a device with ${operator(group[0])}`);
    }
    for (const group of rules.exlocate ?? []) {
      const taken = new Map();
      for (const name of new Set(group)) {
        const other = taken.get(on(name));
        if (other !== undefined)
          violations.push(`${operator(name)} must not share a device with ${operator(other)}`);
        taken.set(on(name), name);
      }
    }
    const groupOf = (name) => problem.cluster.devices[assignment[flow.index.get(name)]].group ?? null;
    for (const group of rules.apart_groups ?? []) {
      const taken = new Map();
      for (const name of new Set(group)) {
        const where = groupOf(name) ?? assignment[flow.index.get(name)];
        const other = taken.get(where);
        if (other !== undefined) {
          const apart = `${operator(name)} must not be in the same group of devices as`;
          violations.push(`${apart} ${operator(other)}`);
        }
        taken.set(where, name);
      }
    }
    problem.file.operators.forEach((row, v) => {
      const labels = problem.cluster.devices[assignment[v]].labels ?? [];
      const lacks = (row.requires ?? []).find((label) => !labels.includes(label));
      if (lacks !== undefined) {
        const label = quoted(SP.text.shortened(lacks, SP.labels.long));
        violations.push(`${operator(row.name)} requires a device with the label ${label}`);
      }
    });
    problem.file.operators.forEach((row, v) => {
      const { kind = null } = problem.cluster.devices[assignment[v]];
      const time = SP.times.stated(SP.times.timesOf(row), kind);
      if (time === null || (time === undefined && row.instructions === null)) {
        const where = kind === null ? "without a kind" : `of kind ${quoted(kind)}`;
        violations.push(`${operator(row.name)} cannot run on devices ${where}`);
      }
    });
    for (const limit of problem.limits) {
      const used = SP.limits.usedBy(limit, assignment);
      problem.cluster.devices.forEach((row, d) => {
        const excess = SP.limits.excessOf(limit, used, d);
        if (excess !== null) violations.push(`${device(row.name)} would need ${excess}`);
      });
    }
    return violations;
  }

  return { broken };
})();
