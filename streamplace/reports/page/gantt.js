// The Gantt view of a schedule: bars can be chosen, dragged to other devices, zoomed and scrolled.
SP.gantt = (() => {
  "use strict";
  const { chart, timeline } = SP;
  const DRAGGED = 4; // pixels after which a press becomes a drag
  const NEAR = 3; // pixels around a narrow bar that count as the bar
  const MARGIN = 1.01; // share of the makespan that is visible
  const CLOSEST = 1e-6; // smallest share of the makespan that a zoom shows

  /**
   * Build the view in a container. `calls` has preview(operator, device), move(operator, device),
   * refresh(), choose(kind, number) and unseen(number of messages that are too many to draw).
   */
  function gantt(container, problem, calls) {
    const { element } = SP.text;
    const canvas = element("canvas");
    const tip = element("div", { class: "tip", hidden: true });
    const nothing = element("p", { class: "more", hidden: true });
    container.replaceChildren(canvas, tip, nothing);
    let view = null;
    let placed = { rows: [], lane: 0, height: 0 };
    let sight = { from: 0, to: 1, scroll: 0, room: SP.sight.roomOf(container) };
    let untouched = true; // until the user zooms or pans, all of the schedule is visible
    let all = []; // messages
    let showsMessages = false;
    let [chosen, hovered, target] = [null, null, null];
    let waiting = false;

    function redraw() {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        if (!view?.run) return;
        const scene = { placed, sight, view, messages: drawn(), chosen, hovered, target };
        const left = chart.draw(canvas, scene);
        calls.unseen(left);
      });
    }

    /** Return the messages to draw: critical ones, those of the chosen operator, or all. */
    function drawn() {
      if (showsMessages) return all;
        const { critical } = view.score;
      const own = ({ from, to }) => [from, to].some((v) => v === chosen || v === hovered);
      return all.filter((one) => own(one) || critical.streams.has(one.number));
    }

    function fit(least = 0) {
      untouched = true;
      const last = Math.max(view.score.makespan, view.earliest);
      const to = Math.max(least, last > 0 ? last * MARGIN : 1);
      sight = { ...sight, from: 0, to, scroll: 0 };
      stack();
    }

    function stack() {
      placed = chart.stacked(placed.rows, chart.laneHeight(placed.rows, sight.room));
      look({});
    }

    /** Change what is visible, within the limits of the schedule. */
    function look(next) {
      const { room } = sight;
      const tallest = placed.height - (room.height - chart.TOP - chart.AXIS);
      const scroll = Math.max(0, Math.min(next.scroll ?? sight.scroll, tallest));
      sight = { ...sight, ...next, scroll };
      redraw();
    }

    function zoom(factor, x = (chart.LEFT + sight.room.width - chart.RIGHT) / 2) {
      const last = Math.max(view.score.makespan, view.earliest);
      const length = (sight.to - sight.from) / factor;
      if (!(length >= CLOSEST * last && length <= 4 * MARGIN * last)) return;
      untouched = false;
      const fixed = chart.scales(sight).seconds(x);
      const from = fixed - (fixed - sight.from) / factor;
      look({ from, to: from + length });
    }

    /** Return the operator below a point in the view, or null. */
    function operatorAt({ x, y }) {
      if (!view?.run || x < chart.LEFT - NEAR) return null;
      const { seconds, top, perSecond } = chart.scales(sight);
      const row = rowAt(top(y));
      if (row === null) return null;
      const bars = row.lanes[Math.min(row.lanes.length - 1, Math.floor((top(y) - row.top) / placed.lane))];
      const [at, near] = [seconds(x), NEAR / perSecond];
      const hit = bars.filter((bar) => bar.job === null && bar.start - near <= at && bar.end + near >= at);
      const exact = hit.find((bar) => bar.start <= at && bar.end >= at);
      return (exact ?? hit[0])?.operator ?? null;
    }

    const rowAt = (top) =>
      placed.rows.find((row) => row.top <= top && top < row.top + row.height) ?? null;

    /** Return the device of the nearest row. */
    function deviceAt({ y }) {
      const top = chart.scales(sight).top(y);
      const distance = (row) => Math.max(row.top - top, top - row.top - row.height, 0);
      return placed.rows.reduce((best, row) => (distance(row) < distance(best) ? row : best)).device;
    }

    function hover(v, point) {
      if (hovered !== v) redraw();
      hovered = v;
      tip.hidden = v === null;
      canvas.style.cursor = v === null ? "" : "grab";
      if (v === null) return;
      tip.replaceChildren(...SP.moments.tip(view, v));
      const { width, height } = sight.room;
      tip.style.left = `${Math.min(point.x + 14, Math.max(0, width - tip.offsetWidth - 4))}px`;
      const below = point.y + 16 + tip.offsetHeight <= height;
      tip.style.top = `${Math.max(0, below ? point.y + 16 : point.y - tip.offsetHeight - 8)}px`;
    }

    const resized = new ResizeObserver(() => {
      sight = { ...sight, room: SP.sight.roomOf(container) };
      if (!view?.run) return;
      if (untouched) fit();
      else stack();
    });
    resized.observe(container);

    SP.pointer.follow(canvas, DRAGGED, {
      operatorAt,
      hover,
      press(v) {
        container.focus({ preventScroll: true, focusVisible: false });
        if (v !== null) calls.choose("operator", v);
      },
      drag(v, point) {
        const d = deviceAt(point);
        if (d === target) return;
        target = d;
        calls.preview(v, d);
      },
      drop(v) {
        const d = target ?? view.setting.assignment[v];
        target = null;
        calls.move(v, d);
      },
      cancel() {
        target = null;
        calls.refresh();
      },
      pan(dx, dy) {
        untouched = false;
        const seconds = dx / chart.scales(sight).perSecond;
        look({ from: sight.from - seconds, to: sight.to - seconds, scroll: sight.scroll - dy });
      },
      device: (point) => calls.choose("device", deviceAt(point)),
      wheel(point, amount) {
        if (document.activeElement !== container) return false; // the wheel scrolls the page
        zoom(Math.exp(-amount / 300), point.x);
        return true;
      },
    });

    return {
      show(next) {
        view = next;
        canvas.hidden = view.run === null;
        nothing.hidden = view.run !== null;
        hover(null);
        if (view.run === null) {
          SP.text.put(nothing, "There is no schedule, because an operator cannot run on its device.");
          return;
        }
        const shown = SP.layout.devicesShown(view.setting.assignment, problem.network.count);
        placed.rows = timeline.rowsOf(view.run, shown);
        all = timeline.messagesOf(view.run);
        if (untouched) fit(target === null ? 0 : sight.to); // a drag never shortens what is visible
        else stack();
      },
      choose(kind, number) {
        chosen = kind === "operator" ? number : null;
        redraw();
      },
      messages(on) {
        showsMessages = on;
        redraw();
      },
      fit: () => fit(),
      zoom: (factor) => zoom(factor),
      recolour: redraw,
      /** Return the box in the window, in pixels, of an operator's bar, or the middle of a device's row. */
      whereIs(kind, number) {
        const box = container.getBoundingClientRect();
        const scale = chart.scales(sight);
        if (kind === "operator") {
          const bar = chart.boxesOf(placed, scale).get(number);
          return bar && { ...bar, x: box.left + bar.left + bar.width / 2, y: box.top + bar.top + bar.height / 2 };
        }
        const row = placed.rows.find((one) => one.device === number);
        return row && { x: box.left + chart.LEFT, y: box.top + scale.y(row.top + row.height / 2) };
      },
      destroy() {
        resized.disconnect();
        container.replaceChildren();
      },
    };
  }

  return { gantt };
})();
