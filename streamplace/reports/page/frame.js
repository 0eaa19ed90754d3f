// The parts around the drawing: titles, and what is shown for an objective and a size of graph.
SP.frame = (() => {
  "use strict";
  const { text } = SP;
  const { counted } = text;
  const at = (id) => document.getElementById(id);
  const KEYS =
    "the left and right arrow keys choose an operator, up and down move it to another device";

  const LINKS = {
    pair: "links of device pairs",
    nic: "network interfaces",
    egress: "a link per sender",
    free: "links without queues",
  };

  /** Say what the mark in the legend means for a score. */
  function legend({ full, critical }) {
    text.put(at("alarmed"), critical ? "critical path" : full ? "bottleneck" : "busiest");
    at("alarmed").previousElementSibling.classList.toggle("alarm", Boolean(critical) || full);
  }

  /** Show and label the parts of the page that a problem needs. */
  function show(problem) {
    const scheduled = problem.schedule !== undefined;
    document.body.classList.toggle("scheduled", scheduled);
    at("timeline").hidden = !scheduled;
    at("gantt").setAttribute("aria-label", `Schedule: ${KEYS}`);
    for (const id of ["offer", "what-if", "links-section", "model"]) at(id).hidden = scheduled;
    text.put(at("sized"), scheduled ? "its shortest time" : "CPU work");
    text.put(at("share"), scheduled ? "Share of all time" : "Share of all CPU");
    at("legend-pin").hidden = Object.keys(problem.constraints.pins ?? {}).length === 0;
    text.put(at("speed"), scheduled ? "" : "MIPS");
    at("operators-section").hidden = !problem.flow && !problem.operators;
    const side = at("details").parentElement; // tiles leave room below them
    (problem.drawn ? side : at("picture").parentElement).append(at("links-section"));
    at("save").hidden = !problem.flow;
    for (const id of ["fit", "zoom-in", "zoom-out", "legend"]) at(id).hidden = !problem.drawn;
    const box = at("graph");
    box.classList.toggle("absent", !problem.drawn);
    box.setAttribute("role", problem.drawn ? "application" : "group");
    box.setAttribute("aria-label", problem.drawn ? `Graph: ${KEYS}` : "Devices");
    box.tabIndex = problem.drawn ? 0 : -1;
    titles(problem);
  }

  /** Return the number of operators, and of their instances if some have several. */
  function operatorsOf({ operators, logical }) {
    if (logical === undefined) return counted(operators, "operator");
    return `${counted(logical, "operator")} in ${counted(operators, "instance")}`;
  }

  function titles(problem) {
    const { graph, cluster, network } = problem;
    text.put(at("title"), text.shortened(graph.name || problem.title, 120));
    const placer = problem.placer ? ` · placed by ${text.shortened(problem.placer, 40)}` : "";
    text.put(
      at("subtitle"),
      `${operatorsOf(graph)} · ${counted(graph.streams, "stream")} · ${counted(cluster.devices.length, "device")}, ${LINKS[cluster.network.kind]}${placer}`,
    );
    text.put(
      at("how"),
      SP.layout.allShown(problem.network.count)
        ? "Drag an operator into another lane, or use the arrow keys."
        : "Drag an operator into another lane. Idle devices have no lane: choose them in the list of operators below.",
    );
    text.put(at("network"), network.nic ? "per interface" : "per link");
  }

  return { show, legend };
})();
