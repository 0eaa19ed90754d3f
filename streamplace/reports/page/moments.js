// What happens when to an operator, a stream or a device of a schedule, in words.
SP.moments = (() => {
  "use strict";
  const { counted, duration, element, isolated } = SP.text;

  /** Return what an operator waited for before its start, in words. */
  function reason(view, v) {
    const { run, problem } = view;
    const { operators, streams, source } = run.tasks;
    const [{ waitedFor }, before] = SP.critical.stepOf(run, v);
    const name = (w) => isolated(problem.called.operators(w));
    const message = (k) => `the message of ${name(source[k])}`;
    if (before === null) return "nothing";
    const what = before < operators ? name(before) : message((before - operators) % streams);
    if (waitedFor === "device") return `the device, used by ${what}`;
    if (waitedFor === "level") return `the level before, ended by ${what}`;
    return before < operators ? `the end of ${what}` : what;
  }

  /** Return the execution time of an operator, and the cores that it holds. */
  function takes({ run }, v) {
    const cores = SP.tasks.coresOn(run.tasks, v, run.devices[v]);
    return `${duration(run.duration[v])} on ${counted(cores, "core")}`;
  }

  /** Return the lines of the box that appears next to a bar. */
  function tip(view, v) {
    const { run, problem, setting, score } = view;
    const { operators, devices } = problem.called;
    const row = (...parts) => element("div", {}, ...parts);
    const [start, end] = [run.start[v], run.end[v]];
    return [
      element("strong", {}, SP.text.named(operators, v, SP.labels.label)),
      row("on ", SP.text.named(devices, setting.assignment[v], SP.labels.label)),
      row(`${duration(start)} to ${duration(end)} (${takes(view, v)})`),
      row(`waited for ${reason(view, v)}`),
      ...(score.critical.operators.has(v) ? [row("on the critical path")] : []),
    ];
  }

  /** Return the rows of an operator's details. */
  function operator(view, v) {
    const { run, score } = view;
    if (run === null) return [["Schedule", "none"]];
    return [
      ["Start", duration(run.start[v])],
      ["End", duration(run.end[v])],
      ["Takes", takes(view, v)],
      ["Waits for", reason(view, v)],
      ["Critical path", score.critical.operators.has(v) ? "yes" : "no"],
    ];
  }

  /** Return the rows of a stream's details. */
  function stream(view, e) {
    const { run, score } = view;
    if (run === null) return [["Schedule", "none"]];
    const k = run.delivery[e];
    if (k < 0) return [["Message", "none"]];
    const m = run.message[k];
    return [
      ["Size", SP.text.bytes(run.size[m] / 8)],
      ["May start", duration(run.mayStart[m])],
      ["Starts", duration(run.begin[m])],
      ["Arrives", duration(run.arrival[k])],
      ["Critical path", score.critical.streams.has(k) ? "yes" : "no"],
    ];
  }

  return { tip, operator, stream };
})();
