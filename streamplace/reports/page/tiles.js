// Tiles instead of a graph that is too large to draw: one per device, filled by its utilisation.
SP.tiles = (() => {
  "use strict";
  const { element, named, percent, put } = SP.text;
  const TILE = 9; // characters of a device's name

  /**
   * Build the tiles, with the same interface as SP.graph's drawing except for hidden controls. A
   * click on a tile calls `calls.choose("device", d)`.
   */
  function tiles(container, sentence, { cluster, called }, calls) {
    const made = cluster.devices.map((_, d) => {
      const value = element("span");
      const tile = element(
        "button",
        { class: "tile", type: "button", onclick: () => calls.choose("device", d) },
        named(called.devices, d, TILE),
        value,
      );
      return { tile, value };
    });
    const grid = element("div", { class: "tiles" }, ...made.map((one) => one.tile));
    container.replaceChildren(element("p", { class: "more" }, sentence), grid);
    const mark = (score) => {
      const scale = Math.max(1, score.bottleneck.utilisation);
      made.forEach(({ tile, value }, d) => {
        const utilisation = score.devices[d];
        put(value, percent(utilisation));
        tile.style.setProperty("--used", `${(100 * utilisation) / scale}%`);
        const isFirst = score.bottleneck.kind === "device" && score.bottleneck.device === d;
        tile.classList.toggle("first", isFirst);
        tile.classList.toggle("alarm", isFirst && score.full);
      });
    };
    return {
      show: (_, score) => mark(score),
      preview: mark,
      choose(kind, number) {
        for (const tile of grid.querySelectorAll(".chosen")) tile.classList.remove("chosen");
        if (kind === "device") made[number].tile.classList.add("chosen");
      },
      recolour() {}, // the style sheet does that
      picture: () => null,
      whereIs: () => null,
      destroy: () => container.replaceChildren(),
    };
  }

  return { tiles };
})();
