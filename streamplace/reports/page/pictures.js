// Thumbnails of placements: operators in the colours of their devices.
SP.pictures = (() => {
  "use strict";
  const WIDTH = 132;
  const HEIGHT = 80;

  function draw(canvas, flow, placed, assignment) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = WIDTH * scale;
    canvas.height = HEIGHT * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const across = (WIDTH - 8) / placed.width;
    const down = (HEIGHT - 8) / placed.height;
    const at = (v) => [4 + placed.x[v] * across, 4 + placed.y[v] * down];
    for (const { device, top, height } of placed.lanes) {
      pen.fillStyle = SP.colours.lane(device);
      pen.fillRect(2, 4 + top * down, WIDTH - 4, height * down);
    }
    for (const crossing of [false, true]) {
      pen.strokeStyle = SP.colours.of(crossing ? "--crossing" : "--stream");
      pen.lineWidth = 0.8;
      pen.beginPath();
      flow.source.forEach((u, e) => {
        const w = flow.target[e];
        if ((assignment[u] !== assignment[w]) !== crossing) return;
        pen.moveTo(...at(u));
        pen.lineTo(...at(w));
      });
      pen.stroke();
    }
    const heaviest = Math.max(...flow.work, 1e-300);
    const large = flow.names.length > 60 ? 1.5 : 3;
    flow.names.forEach((_, v) => {
      pen.fillStyle = SP.colours.operator(assignment[v]);
      pen.beginPath();
      pen.arc(...at(v), 1.2 + large * Math.sqrt(flow.work[v] / heaviest), 0, 2 * Math.PI);
      pen.fill();
    });
  }

  return { draw, WIDTH, HEIGHT };
})();
