// What an assignment breaks of a problem's constraints, labels and memory. Told, never forbidden.
SP.rules = (() => {
  "use strict";

  /** Return sentences, one a rule that is broken. `flow` and `sums` are those of SP.model. */
  function broken(problem, flow, sums, assignment) {
    const found = [];
    const where = problem.cluster.devices.map((device) => device.name);
    const on = (name) => where[assignment[flow.index.get(name)]];
    const said = (text) => `“${SP.text.isolated(text)}”`;
    const operator = (name) => said(problem.called.operators(flow.index.get(name)));
    const device = (name) => said(problem.called.devices(problem.network.index.get(name)));
    const rules = problem.constraints;
    for (const [v, d] of Object.entries(rules.pins ?? {})) {
      if (on(v) !== d) found.push(`${operator(v)} is pinned to ${device(d)}`);
    }
    for (const [v, devices] of Object.entries(rules.allowed ?? {})) {
      if (!devices.includes(on(v))) found.push(`${operator(v)} may not run on ${device(on(v))}`);
    }
    for (const group of rules.colocate ?? []) {
      const apart = group.find((name) => on(name) !== on(group[0]));
      if (apart !== undefined) found.push(`${operator(apart)} is to be with ${operator(group[0])}`);
    }
    for (const group of rules.exlocate ?? []) {
      const seen = new Map();
      for (const name of new Set(group)) {
        const other = seen.get(on(name));
        if (other !== undefined) found.push(`${operator(name)} is to be apart from ${operator(other)}`);
        seen.set(on(name), name);
      }
    }
    problem.file.operators.forEach((told, v) => {
      const labels = problem.cluster.devices[assignment[v]].labels ?? [];
      const lacks = (told.requires ?? []).find((label) => !labels.includes(label));
      if (lacks !== undefined)
        found.push(
          `${operator(told.name)} requires the label ${said(SP.text.shortened(lacks, SP.labels.long))}`,
        );
    });
    problem.cluster.devices.forEach((told, d) => {
      if (told.memory_bytes != null && sums.memory[d] > told.memory_bytes) {
        const needs = SP.text.number(sums.memory[d]);
        found.push(`${device(told.name)} would need ${needs} bytes of memory`);
      }
    });
    return found;
  }

  return { broken };
})();
