// Download of the edited placement as a placement file, with its edited problem.
SP.download = (() => {
  "use strict";

  /** Return the file's content. Objects keyed by names have no prototype, as names may be anything. */
  function fileOf(view) {
    const { problem, setting, score } = view;
    const assignment = Object.create(null);
    setting.assignment.forEach((d, v) => {
      assignment[problem.flow.names[v]] = problem.cluster.devices[d].name;
    });
    const cluster = {
      ...problem.cluster,
      devices: SP.times.devicesAt(problem.cluster, setting),
      network: { ...problem.cluster.network, bandwidth_mbps: setting.bandwidth },
    };
    const placer = view.edited ? "by hand" : problem.placer;
    const format = { format: "streamplace-placement", version: 1, placer };
    if (problem.schedule) return { ...format, assignment, problem: ownProblem(problem) };
    const made = {
      ...format,
      ...results(view),
      assignment,
      problem: {
        graph: problem.file,
        graph_sha256: problem.graph.sha256,
        cluster,
        source_rate: score.rate,
        model: problem.model,
      },
    };
    if (problem.source_rates.length > 1) made.problem.source_rates = ratesOf(view);
    if (problem.target_utilisation !== 1)
      made.problem.target_utilisation = problem.target_utilisation;
    if (Object.keys(problem.constraints).length) made.problem.constraints = problem.constraints;
    return made;
  }

  /** Return the problem of a file under an objective whose settings cannot be edited. */
  const ownProblem = ({ form, file }) => ({ ...form, graph: file });

  /** Return the source rates: the highest is the edited one, and the others keep their ratio to it. */
  function ratesOf({ problem, setting }) {
    const [highest] = problem.source_rates;
    const factor = setting.rate / highest;
    return problem.source_rates.map((rate) => (rate === highest ? setting.rate : rate * factor));
  }

  /** Return the score and bound; nothing if the file's model is not that of the page, bottleneck. */
  function results({ problem, score, sums, bound, boundIsFull }) {
    if (problem.model !== "bottleneck") return {};
    const { cluster } = problem;
    const name = (end) => (end === null ? null : cluster.devices[end].name);
    const result = {
      score: {
        throughput: score.throughput,
        relative_throughput: score.relative,
        bottleneck: {
          kind: score.bottleneck.kind,
          name: score.bottleneck.name,
          utilisation: score.bottleneck.utilisation,
        },
        devices: cluster.devices.map((device, d) => ({
          name: device.name,
          utilisation: score.devices[d],
          operators: sums.operators[d],
        })),
        links: score.links
          .filter((load) => load.uplink === null)
          .map(({ from, to, utilisation }) => ({ from: name(from), to: name(to), utilisation })),
        devices_used: score.used,
        model: "bottleneck",
        ...uplinks(score),
      },
    };
    const gap = Math.max(0, 1 - score.throughput / bound);
    return boundIsFull ? { ...result, bound, gap } : result;
  }

  /** Return the loads of the links that groups of devices share; nothing if none carries traffic. */
  function uplinks({ links }) {
    const shared = links.filter((load) => load.uplink !== null);
    if (shared.length === 0) return {};
    return {
      uplinks: shared.map(({ uplink: { group, direction }, utilisation }) => ({
        group,
        direction,
        utilisation,
      })),
    };
  }

  function save(view) {
    const text = `${JSON.stringify(fileOf(view), null, 1)}\n`;
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const link = SP.text.element("a", { href: url, download: "placement.json", hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  return { save };
})();
