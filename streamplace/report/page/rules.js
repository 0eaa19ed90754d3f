// What an assignment breaks of a problem's constraints, labels and memory. Told, never forbidden.
SP.rules = (() => {
  "use strict";

  /** Return sentences, one a rule that is broken. `flow` and `sums` are those of SP.model. */
  function broken(problem, flow, sums, assignment) {
    const found = [];
    const where = problem.cluster.devices.map((device) => device.name);
    const on = (name) => where[assignment[flow.index.get(name)]];
    const said = (name) => `“${SP.text.isolated(SP.text.label(name))}”`;
    const rules = problem.constraints;
    for (const [operator, device] of Object.entries(rules.pins ?? {})) {
      if (on(operator) !== device) found.push(`${said(operator)} is pinned to ${said(device)}`);
    }
    for (const [operator, devices] of Object.entries(rules.allowed ?? {})) {
      if (!devices.includes(on(operator))) {
        found.push(`${said(operator)} may not run on ${said(on(operator))}`);
      }
    }
    for (const group of rules.colocate ?? []) {
      const apart = group.find((name) => on(name) !== on(group[0]));
      if (apart !== undefined) found.push(`${said(apart)} is to be with ${said(group[0])}`);
    }
    for (const group of rules.exlocate ?? []) {
      const seen = new Map();
      for (const name of new Set(group)) {
        const other = seen.get(on(name));
        if (other !== undefined) found.push(`${said(name)} is to be apart from ${said(other)}`);
        seen.set(on(name), name);
      }
    }
    problem.file.operators.forEach((operator, v) => {
      const labels = problem.cluster.devices[assignment[v]].labels ?? [];
      const lacks = (operator.requires ?? []).find((label) => !labels.includes(label));
      if (lacks !== undefined)
        found.push(`${said(operator.name)} requires the label ${said(lacks)}`);
    });
    problem.cluster.devices.forEach((device, d) => {
      if (device.memory_bytes != null && sums.memory[d] > device.memory_bytes) {
        const needs = SP.text.number(sums.memory[d]);
        found.push(`${said(device.name)} would need ${needs} bytes of memory`);
      }
    });
    return found;
  }

  return { broken };
})();
