// The table of operators. Those with several instances have a row that opens the instances' rows.
SP.operators = (() => {
  "use strict";
  const { counted, element, named, percent, put, shortened } = SP.text;
  const DEVICES = 4; // largest number of devices named in the row of an operator with instances

  /** Return the operators of a file with the indices of their instances: { name, members }. */
  function groupsOf(file) {
    const found = new Map();
    file.operators.forEach((row, v) => {
      const name = row.instance_of ?? row.name;
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(v);
    });
    return [...found].map(([name, members]) => ({ name, members }));
  }

  /** Return groups and their members, the heaviest first. */
  function sorted(groups, work) {
    const heavier = (a, b) => work[b] - work[a] || a - b;
    const all = groups.map(({ name, members }) => ({
      name,
      members: [...members].sort(heavier),
      work: members.reduce((sum, v) => sum + work[v], 0),
    }));
    return all.sort((a, b) => b.work - a.work || a.members[0] - b.members[0]);
  }

  /** Build the table of the operators of a graph that the page knows. */
  function table(body, view, calls) {
    const { flow, file, called } = view.problem;
    const groups = sorted(groupsOf(file), flow.work);
    const names = SP.labels.called(groups.map((group) => group.name));
    const total = flow.work.reduce((sum, work) => sum + work, 0) || 1;
    const rows = new Map(); // operator -> the select of its device, and the tag of what limits the job
    const parents = [];
    const made = groups.flatMap((group, g) => {
      const own = group.members.map((v) => rowOf(view, v, flow.work[v] / total, rows, calls));
      if (own.length === 1) return own;
      const parent = parentOf(group, (length) => named(names, g, length), group.work / total, own);
      parents.push({ ...parent, members: group.members });
      return [parent.row, ...own];
    });
    body.replaceChildren(...made);
    body.classList.toggle("grouped", parents.length > 0);
    let shown = null;
    const show = (assignment, { bottleneck, full }) => {
      rows.forEach(({ limits }, v) => {
        limits.hidden = !(full && bottleneck.operator === v);
      });
      if (assignment === shown) return;
      assignment.forEach((d, v) => {
        if (shown !== null && d !== shown[v]) choose(rows.get(v).select, called.devices, d);
      });
      for (const { where, members } of parents) put(where, devicesOf(members, assignment, called));
      shown = assignment;
    };
    show(view.setting.assignment, view.score);
    return { show };
  }

  /** Return the row of an operator, or of an instance. */
  function rowOf(view, v, share, rows, calls) {
    const { operators } = view.problem.called;
    const select = SP.controls.deviceSelect(view, v, calls);
    const onclick = () => calls.choose("operator", v);
    const pins = Object.keys(view.problem.constraints.pins ?? {});
    const pinned = pins.includes(view.problem.file.operators[v].name);
    const tags = pinned ? [element("span", { class: "tag" }, "pinned")] : [];
    const limits = element("span", { class: "tag alarm", hidden: true }, "bottleneck");
    const button = element(
      "button",
      { class: "plain", type: "button", onclick },
      named(operators, v, SP.labels.long),
    );
    rows.set(v, { select, limits });
    return element(
      "tr",
      { title: operators(v, SP.labels.whole) },
      element("th", { scope: "row" }, button),
      element("td", {}, percent(share)),
      element("td", {}, select, ...tags, limits),
    );
  }

  /** Return the row of an operator with instances, whose button shows and hides their rows. */
  function parentOf({ members }, nameOf, share, children) {
    const button = element(
      "button",
      {
        class: "plain opens",
        type: "button",
        "aria-expanded": "false",
        onclick: () => {
          const closed = button.getAttribute("aria-expanded") === "false";
          button.setAttribute("aria-expanded", String(closed));
          for (const child of children) child.hidden = !closed;
        },
      },
      nameOf(SP.labels.long),
      element("span", { class: "more" }, counted(members.length, "instance")),
    );
    for (const child of children) {
      child.hidden = true;
      child.classList.add("instance");
    }
    const where = element("td", { class: "more" });
    const row = element(
      "tr",
      { class: "parent" },
      element("th", { scope: "row" }, button),
      element("td", {}, percent(share)),
      where,
    );
    return { row, where };
  }

  /** Return the devices of instances with the number on each, those with the most first. */
  function devicesOf(members, assignment, { devices }) {
    const count = new Map();
    for (const v of members) count.set(assignment[v], (count.get(assignment[v]) ?? 0) + 1);
    const most = [...count].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const named = most
      .slice(0, DEVICES)
      .map(([d, n]) => `${SP.text.isolated(devices(d, SP.labels.narrow))} × ${n}`);
    const more = most.length - named.length;
    return [...named, ...(more > 0 ? [`${counted(more, "more device")}`] : [])].join(", ");
  }

  /** Choose a device in a select, which may not have it as an option yet. */
  function choose(select, called, d) {
    if (![...select.children].some((each) => each.value === String(d))) {
      select.append(SP.controls.option(called, d));
    }
    select.value = String(d);
  }

  /**
   * Build the table of a graph that is not drawn, from rows [name, instances, share of all CPU,
   * devices]; `count` is the number of all operators.
   */
  function summary(body, rows, count) {
    const names = SP.labels.called(rows.map(([name]) => name));
    const made = rows.map(([name, instances, share, devices], i) =>
      element(
        "tr",
        { title: shortened(name, SP.labels.whole) },
        element(
          "th",
          { scope: "row" },
          named(names, i, SP.labels.long),
          " ",
          element("span", { class: "more" }, counted(instances, "instance")),
        ),
        element("td", {}, percent(share)),
        element("td", { class: "more" }, `on ${counted(devices, "device")}`),
      ),
    );
    body.classList.remove("grouped");
    const more = count - rows.length;
    if (more > 0) {
      const text = `and ${counted(more, "more operator")} with less work`;
      made.push(element("tr", {}, element("td", { class: "more", colspan: "3" }, text)));
    }
    body.replaceChildren(...made);
  }

  return { groupsOf, table, summary };
})();
