// The picture of a schedule on a canvas: bars of operators, messages, the makespan and the bound.
SP.chart = (() => {
  "use strict";
  const LEFT = 130; // pixels for the names of devices
  const RIGHT = 64; // pixels for the label of the makespan
  const AXIS = 24; // pixels for the moments
  const TOP = 20; // pixels for the labels of the lines
  const GAP = 6; // pixels between devices
  const THIN = 6; // pixels of the thinnest lane
  const THICK = 56; // and of the thickest
  const LETTER = 6.2; // mean width of a letter in pixels
  const MANY = 3000; // messages that are drawn at once
  const FONT = "system-ui, Segoe UI, Roboto, Helvetica Neue, sans-serif";

  /** Return the height of a lane in pixels at which all rows fit, within limits. */
  function laneHeight(rows, room) {
    const lanes = rows.reduce((sum, row) => sum + row.lanes.length, 0);
    const height = (room.height - TOP - AXIS - rows.length * GAP) / Math.max(1, lanes);
    return Math.min(THICK, Math.max(THIN, height));
  }

  /** Return rows with their `top` and `height` in pixels from the first row's top, and the extent. */
  function stacked(rows, lane) {
    let top = 0;
    const placed = rows.map((row) => {
      const height = row.lanes.length * lane;
      const made = { ...row, top, height };
      top += height + GAP;
      return made;
    });
    return { rows: placed, lane, height: Math.max(0, top - GAP) };
  }

  /**
   * Return the scales of a picture. `sight` has from and to (seconds), scroll (pixels) and room
   * (width, height).
   */
  function scales({ from, to, scroll, room }) {
    const perSecond = Math.max(1, room.width - LEFT - RIGHT) / (to - from);
    return {
      x: (seconds) => LEFT + (seconds - from) * perSecond,
      y: (top) => TOP + top - scroll,
      seconds: (x) => from + (x - LEFT) / perSecond,
      top: (y) => y - TOP + scroll,
      perSecond,
    };
  }

  /** Return the box of a bar in pixels; it is never too narrow to be visible. */
  function boxOf(bar, row, number, lane, { x, y }) {
    const left = x(bar.start);
    const exact = x(bar.end) - left;
    const width = Math.max(1.5, exact > 6 ? exact - 1 : exact); // bars side by side stay distinct
    const margin = lane > 12 ? 1.5 : 0.5;
    return { left, top: y(row.top + number * lane) + margin, width, height: lane - 2 * margin };
  }

  /** Return the boxes of operators that may be visible, by operator. */
  function boxesOf({ rows, lane }, scale) {
    const boxes = new Map();
    for (const row of rows) {
      row.lanes.forEach((bars, number) => {
        for (const bar of bars) {
          if (bar.job === null) boxes.set(bar.operator, boxOf(bar, row, number, lane, scale));
        }
      });
    }
    return boxes;
  }

  /**
   * Draw a schedule. `scene` has placed (see `stacked`), sight, view, messages (to be drawn), chosen
   * and hovered (operators, or null), target (the device below a dragged operator, or null). Return
   * the number of messages in sight that are too many to draw.
   */
  function draw(canvas, scene) {
    const { placed, sight, view } = scene;
    const { room } = sight;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(room.width * ratio);
    canvas.height = Math.round(room.height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const scale = scales(sight);
    const ink = {
      text: SP.colours.of("--ink"),
      soft: SP.colours.of("--soft"),
      line: SP.colours.of("--line"),
      alarm: SP.colours.of("--alarm"),
      message: SP.colours.of("--crossing"),
      inside: SP.colours.isDark() ? "#10141a" : "#ffffff",
    };
    const bottom = room.height - AXIS;
    const tools = { pen, scale, ink, room, bottom };
    clipped(pen, 0, TOP, room.width, bottom - TOP, () => lanes(tools, scene));
    moments(tools, sight);
    const left = clipped(pen, LEFT - 2, TOP, room.width - LEFT - RIGHT + 8, bottom - TOP, () => {
      bars(tools, scene);
      return messages(tools, scene, boxesOf(placed, scale));
    });
    limits(tools, view);
    return left;
  }

  function clipped(pen, left, top, width, height, then) {
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    const result = then();
    pen.restore();
    return result;
  }

  const visible = ({ scale, bottom }, { top, height }) =>
    scale.y(top + height) >= TOP && scale.y(top) <= bottom;

  /** Draw the lanes of devices and their names. */
  function lanes(tools, { placed, view, target }) {
    const { pen, scale, ink, room } = tools;
    const { called } = view.problem;
    for (const row of placed.rows) {
      if (!visible(tools, row)) continue;
      const top = scale.y(row.top);
      pen.fillStyle = SP.colours.lane(row.device);
      pen.fillRect(LEFT - 2, top, room.width - LEFT - RIGHT + 8, row.height);
      if (target === row.device) {
        pen.strokeStyle = ink.text;
        pen.setLineDash([5, 4]);
        pen.strokeRect(LEFT - 2, top, room.width - LEFT - RIGHT + 8, row.height);
        pen.setLineDash([]);
      }
      const share = `  ${SP.text.percent(view.score.devices[row.device])}`;
      pen.font = `600 ${Math.max(8, Math.min(12, placed.lane + GAP - 2))}px ${FONT}`;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillStyle = ink.text;
      const name = called.devices(row.device, SP.labels.narrow);
      pen.fillText(SP.text.isolated(name) + share, LEFT - 10, top + row.height / 2, LEFT - 14);
    }
  }

  /** Draw the moments below the lanes. */
  function moments({ pen, scale, ink, room, bottom }, { from, to }) {
    const { step, moments: marks } = SP.timeline.ticks(from, to, (room.width - LEFT - RIGHT) / 90);
    pen.font = `11px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const moment of marks) {
      const x = Math.round(scale.x(moment)) + 0.5;
      pen.strokeStyle = ink.line;
      pen.beginPath();
      pen.moveTo(x, TOP);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.fillStyle = ink.soft;
      pen.fillText(SP.text.moment(moment, step, to), x, bottom + 6);
    }
  }

  /** Draw the bars of operators and jobs; those outside the picture are left out. */
  function bars(tools, { placed, sight, view, chosen, hovered }) {
    const { pen, scale, ink } = tools;
    const { critical } = view.score;
    const { operators } = view.problem.called;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const row of placed.rows) {
      if (!visible(tools, row)) continue;
      row.lanes.forEach((list, number) => {
        for (const bar of list) {
          if (bar.end < sight.from || bar.start > sight.to) continue;
          const box = boxOf(bar, row, number, placed.lane, scale);
          if (bar.job !== null) {
            pen.fillStyle = ink.message;
            pen.fillRect(box.left, box.top + box.height / 4, box.width, box.height / 2);
            continue;
          }
          const v = bar.operator;
          pen.fillStyle = SP.colours.operator(row.device);
          pen.fillRect(box.left, box.top, box.width, box.height);
          const on = critical.operators.has(v);
          if (on || v === chosen || v === hovered) outline(pen, box, on ? ink.alarm : ink.text);
          if (v === chosen && on) outline(pen, inset(box, 2), ink.text);
          label(pen, box, operators, v, ink.inside);
        }
      });
    }
  }

  const inset = ({ left, top, width, height }, by) => ({
    left: left + by,
    top: top + by,
    width: Math.max(0, width - 2 * by),
    height: Math.max(0, height - 2 * by),
  });

  /** Outline a box; a narrow one gets a line of its colour at its lower edge and is filled. */
  function outline(pen, box, colour) {
    if (box.width < 5) {
      pen.fillStyle = colour;
      pen.fillRect(box.left, box.top, box.width, box.height);
      return;
    }
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.strokeRect(box.left + 1, box.top + 1, box.width - 2, Math.max(1, box.height - 2));
    pen.lineWidth = 1;
  }

  function label(pen, box, called, v, colour) {
    const letters = Math.floor((Math.min(box.width, 400) - 8) / LETTER);
    if (letters < 2 || box.height < 10) return;
    pen.font = `${Math.min(12, box.height - 1)}px ${FONT}`;
    pen.fillStyle = colour;
    const name = letters < 8 ? SP.text.shortened(called(v), letters) : called(v, letters);
    const left = Math.max(box.left, LEFT);
    pen.fillText(SP.text.isolated(name), left + 4, box.top + box.height / 2, box.width - 8);
  }

  /**
   * Draw messages as lines from the sender's bar, where they begin, to where they arrive. Return the
   * number of those that are too many.
   */
  function messages({ pen, scale, ink }, { messages: shown, sight, view }, boxes) {
    let left = 0;
    for (const on of [false, true]) {
      const some = shown.filter(({ number, begin, arrival }) => {
        const inside = arrival >= sight.from && begin <= sight.to;
        return inside && view.score.critical.streams.has(number) === on;
      });
      pen.strokeStyle = on ? ink.alarm : ink.message;
      pen.lineWidth = on ? 1.8 : 1;
      pen.globalAlpha = on ? 1 : 0.55;
      pen.beginPath();
      left += Math.max(0, some.length - MANY);
      for (const { from, to, begin, arrival } of some.slice(0, MANY)) {
        const [a, b] = [boxes.get(from), boxes.get(to)];
        if (!a || !b) continue;
        const down = b.top > a.top;
        const [y, end] = [a.top + (down ? a.height : 0), b.top + (down ? 0 : b.height)];
        const x = scale.x(arrival);
        pen.moveTo(scale.x(begin), y);
        pen.lineTo(x, end);
        pen.moveTo(x - 2, end + (down ? -5 : 5)); // an arrow's head
        pen.lineTo(x, end);
        pen.lineTo(x + 2, end + (down ? -5 : 5));
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 1;
    return left;
  }

  /** Draw the lines of the lower bound and of the makespan, with their values. */
  function limits(tools, { earliest, score }) {
    const close =
      earliest !== null && Math.abs(tools.scale.x(earliest) - tools.scale.x(score.makespan)) < 130;
    const text = `bound ${SP.text.duration(earliest)}`;
    if (earliest !== null) line(tools, earliest, text, [4, 4], close ? "right" : "center");
    line(tools, score.makespan, SP.text.duration(score.makespan), [], close ? "left" : "center");
  }

  function line({ pen, scale, ink, room, bottom }, seconds, text, dashes, align) {
    const x = Math.round(scale.x(seconds)) + 0.5;
    if (x < LEFT || x > room.width - RIGHT + 6) return;
    pen.strokeStyle = ink.text;
    pen.setLineDash(dashes);
    pen.beginPath();
    pen.moveTo(x, TOP - 4);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `600 11px ${FONT}`;
    pen.textAlign = align;
    pen.textBaseline = "bottom";
    pen.fillStyle = ink.text;
    pen.fillText(text, x + { left: 3, right: -3, center: 0 }[align], TOP - 5);
  }

  return { draw, stacked, laneHeight, scales, boxesOf, LEFT, RIGHT, TOP, AXIS };
})();
