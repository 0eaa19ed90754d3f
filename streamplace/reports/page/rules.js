// Constraints, labels and limits: which are in force, which an assignment violates, and why an operator
// may not run on a device. Violations are reported, but not prevented.
SP.rules = (() => {
  "use strict";
  const { counted, isolated, shortened } = SP.text;
  const quoted = (text) => `“${isolated(text)}”`;
  const label = (name) => quoted(shortened(name, SP.labels.long));
  const and = (names) => names.join(", ");

  /** Return the value of a name, which may be any text, or undefined. */
  const of = (values, name) => (values && Object.hasOwn(values, name) ? values[name] : undefined);

  /** Return functions (name) -> the quoted label of an operator or device. */
  function namesOf({ called, flow, network }) {
    return {
      operator: (name) => (flow ? quoted(called.operators(flow.index.get(name))) : label(name)),
      device: (name) => quoted(called.devices(network.index.get(name))),
    };
  }

  /** Return why operator v may not run on device d, whatever the others do: one phrase per rule. */
  function forbidding(problem, v, d) {
    const { cluster, constraints: rules, file, limits } = problem;
    const { device } = namesOf(problem);
    const [row, where] = [file.operators[v], cluster.devices[d]];
    const [pin, allowed] = [of(rules.pins, row.name), of(rules.allowed, row.name)];
    const found = [];
    if (pin !== undefined && pin !== where.name) found.push(`is pinned to ${device(pin)}`);
    if (allowed !== undefined && !allowed.includes(where.name)) {
      found.push(`may not run on ${device(where.name)}`);
    }
    const lacks = (row.requires ?? []).find((name) => !(where.labels ?? []).includes(name));
    if (lacks !== undefined) found.push(`requires a device with the label ${label(lacks)}`);
    const { kind = null } = where;
    const time = SP.times.stated(SP.times.timesOf(row), kind);
    if (time === null || (time === undefined && row.instructions === null)) {
      found.push(
        `cannot run on devices ${kind === null ? "without a kind" : `of kind ${label(kind)}`}`,
      );
    }
    return { rules: found, fits: limits.every((limit) => limit.needs[v] <= limit.room[d]) };
  }

  /** Return why a menu does not offer device d for operator v, or null. */
  function whyNot(problem, v, d) {
    const { rules, fits } = forbidding(problem, v, d);
    return rules[0] ?? (fits ? null : "needs more memory, slots or resources than the device has");
  }

  /** Return why nothing runs on device d, as far as that is certain at a setting, as a phrase. */
  function whyIdle(problem, { rate, mips }, d) {
    const { cluster, flow, target_utilisation: usable } = problem;
    if (!flow || rate === undefined) return "not used";
    const allowed = flow.names.map((_, v) => v).filter((v) => whyNot(problem, v, d) === null);
    if (allowed.length === 0) return "not used: no operator may run there";
    const { cores } = cluster.devices[d];
    const speed = (v) => mips[d] * 1e6 * Math.min(cores, flow.cores[v]) * usable;
    const isTooHeavy = (v) => flow.times[v].size === 0 && rate * flow.work[v] > speed(v);
    return `not used${allowed.every(isTooHeavy) ? ": too slow for each operator that may run there" : ""}`;
  }

  /** Return one sentence per violated rule. `flow` is that of SP.flow. */
  function broken(problem, flow, assignment) {
    const { cluster, constraints: rules, file } = problem;
    const { operator, device } = namesOf(problem);
    const violations = file.operators.flatMap((row, v) =>
      forbidding(problem, v, assignment[v]).rules.map(
        (phrase) => `${operator(row.name)} ${phrase}`,
      ),
    );
    const on = (name) => assignment[flow.index.get(name)];
    for (const group of rules.colocate ?? []) {
      const apart = group.find((name) => on(name) !== on(group[0]));
      if (apart !== undefined)
        violations.push(`${operator(apart)} must share a device with ${operator(group[0])}`);
    }
    const groupOf = (name) => cluster.devices[on(name)].group ?? on(name);
    const separate = (groups, where, phrase) => {
      for (const group of groups ?? []) {
        const taken = new Map();
        for (const name of new Set(group)) {
          const other = taken.get(where(name));
          if (other !== undefined)
            violations.push(`${operator(name)} must not ${phrase} ${operator(other)}`);
          taken.set(where(name), name);
        }
      }
    };
    separate(rules.exlocate, on, "share a device with");
    separate(rules.apart_groups, groupOf, "be in the same group of devices as");
    for (const limit of problem.limits) {
      const used = SP.limits.usedBy(limit, assignment);
      cluster.devices.forEach((row, d) => {
        const excess = SP.limits.excessOf(limit, used, d);
        if (excess !== null) violations.push(`${device(row.name)} would need ${excess}`);
      });
    }
    return violations;
  }

  /** Return the constraints and labels of a problem, one sentence each. */
  function inForce(problem) {
    const { constraints: rules, file, limits } = problem;
    const { operator, device } = namesOf(problem);
    const entries = (values) => Object.entries(values ?? {});
    const groups = (all, phrase) =>
      (all ?? []).map((group) => `${and(group.map(operator))} ${phrase}`);
    const required = (file?.operators ?? []).filter((row) => row.requires?.length > 0);
    const named = limits.map(({ name }) =>
      name === null ? "memory" : shortened(name, SP.labels.long),
    );
    return [
      ...entries(rules.pins).map(([v, d]) => `${operator(v)} is pinned to ${device(d)}`),
      ...entries(rules.allowed).map(
        ([v, on]) => `${operator(v)} may run on ${and(on.map(device))}`,
      ),
      ...groups(rules.colocate, "share a device"),
      ...groups(rules.exlocate, "are on different devices"),
      ...groups(rules.apart_groups, "are in different groups of devices"),
      ...required.map((row) => {
        const noun = counted(row.requires.length, "label").replace(/^\S+ /u, "");
        return `${operator(row.name)} requires the ${noun} ${and(row.requires.map(label))}`;
      }),
      ...(named.length > 0 ? [`no device exceeds its ${and(named)}`] : []),
    ];
  }

  return { whyNot, whyIdle, broken, inForce };
})();
