// What each of several jobs gets, what it loses and to which jobs, as in the placement's file.
SP.jobs = (() => {
  "use strict";
  const LENGTH = SP.labels.label;
  const { counted, element, named, number, percent, shortened, isolated } = SP.text;

  /** Show the jobs of a placement in a section, which is hidden if there are none. */
  function show(section, body, note, { jobs = [] }) {
    section.hidden = jobs.length === 0;
    const names = SP.labels.called(jobs.map((job) => job.name));
    const order = new Map(jobs.map((job, i) => [job.name, i]));
    const label = (name) => (order.has(name) ? names(order.get(name)) : shortened(name, LENGTH));
    body.replaceChildren(...jobs.map((job, i) => rowOf(job, named(names, i), label)));
    SP.text.put(note, jobs.length === 0 ? "" : sentence(jobs));
  }

  function rowOf(job, name, label) {
    const share = job.relative_throughput;
    const fill = element("span", { class: "fill" });
    fill.style.width = `${Math.min(100, 100 * share)}%`;
    const loses = job.lost > 0;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, number(job.priority)),
      element("td", {}, number(job.source_rate)),
      element("td", {}, number(job.throughput)),
      element("td", { class: "wide" }, element("span", { class: "reach" }, fill)),
      element("td", {}, percent(share)),
      element("td", { class: loses ? "alarm" : "" }, loses ? number(job.lost) : "0"),
      element("td", {}, ...takers(job, label)),
      element("td", {}, ...limit(job)),
    );
  }

  /** Return the jobs to which a job loses, the largest amounts first. */
  function takers({ lost_to: lostTo }, label) {
    const all = Object.entries(lostTo).sort((a, b) => b[1] - a[1]);
    return all.flatMap(([name, amount], i) => [
      ...(i > 0 ? [", "] : []),
      `${isolated(label(name))} (${number(amount)})`,
    ]);
  }

  function limit({ limited_by: full }) {
    if (full === null) return [];
    return [`${full.kind} `, element("bdi", { dir: "auto" }, shortened(full.name, LENGTH))];
  }

  /** Return what the table shows, in words. */
  function sentence(jobs) {
    const losing = jobs.filter((job) => job.lost > 0).length;
    const who =
      losing === 0
        ? "No job loses throughput"
        : `${number(losing)} of ${counted(jobs.length, "job")} ${losing === 1 ? "loses" : "lose"} throughput`;
    return `${who}. Rates are in tuples/s, as placed: they do not follow changes on this page. A number behind a job is what would be gained without it; these numbers need not add up to what is lost.`;
  }

  return { show };
})();
