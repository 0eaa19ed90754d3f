// In place of a graph too large to draw: a tile for every device, filled as far as it is used.
SP.tiles = (() => {
  "use strict";
  const { element, named, percent, put } = SP.text;
  const TILE = 9; // characters of a device's name

  /** Build the tiles; they can do what SP.graph's drawing can, but for what is hidden. `calls.choose("device", d)` is told which one was chosen. */
  function tiles(container, sentence, { cluster, called }, calls) {
    const made = cluster.devices.map((_, d) => {
      const told = element("span");
      const tile = element(
        "button",
        { class: "tile", type: "button", onclick: () => calls.choose("device", d) },
        named(called.devices, d, TILE),
        told,
      );
      return { tile, told };
    });
    const grid = element("div", { class: "tiles" }, ...made.map((one) => one.tile));
    container.replaceChildren(element("p", { class: "more" }, sentence), grid);
    return {
      show(_, score) {
        const scale = Math.max(1, score.bottleneck.utilisation);
        made.forEach(({ tile, told }, d) => {
          const utilisation = score.devices[d];
          put(told, percent(utilisation));
          tile.style.setProperty("--used", `${(100 * utilisation) / scale}%`);
          tile.classList.toggle("full", score.bottleneck.device === d);
        });
      },
      choose(kind, number) {
        for (const tile of grid.querySelectorAll(".chosen")) tile.classList.remove("chosen");
        if (kind === "device") made[number].tile.classList.add("chosen");
      },
      recolour() {}, // the style sheet does
      whereIs: () => null,
      destroy: () => container.replaceChildren(),
    };
  }

  return { tiles };
})();
