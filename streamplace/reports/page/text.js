// Numbers and names as text, and elements for them. Names reach the page only through textContent.
const SP = {};

SP.text = (() => {
  "use strict";
  // As in streamplace.display.text
  const DIGITS = 6; // significant digits of a number
  const ROUNDING = 2e-9; // relative difference that counts as none
  const NEGLIGIBLE = 1e-6; // share that counts as none
  const SMALLEST_SHARE = 5e-4; // less would be shown as 0.0%
  const BYTES = [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ];
  const TIMES = [
    [1e-9, "ns"],
    [1e-6, "us"],
    [1e-3, "ms"],
    [1, "s"],
  ];

  /** Return a number with some significant digits, and commas between thousands. */
  function number(value, digits = DIGITS) {
    if (value === Infinity) return "unlimited";
    const [mantissa, exponent] = value
      .toExponential(digits - 1)
      .split("e")
      .map(Number);
    if (exponent < -4 || exponent >= digits) {
      return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
    }
    const [whole, rest = ""] = value.toFixed(digits - 1 - exponent).split(".");
    const decimals = rest.replace(/0+$/u, "");
    return whole.replace(/\B(?=(\d{3})+$)/gu, ",") + (decimals && `.${decimals}`);
  }

  /** Return a limit as `number` does, but rounded away from what it limits: up (1) or down (-1). */
  function towards(direction, value, digits) {
    const text = number(value, digits);
    const shown = Number(text.replaceAll(",", ""));
    if (!Number.isFinite(value) || (shown - value) * direction >= -ROUNDING * Math.abs(value))
      return text;
    const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
    return number(shown + direction * step, digits);
  }

  const roundedUp = (value, digits = DIGITS) => towards(1, value, digits);
  const roundedDown = (value, digits = DIGITS) => towards(-1, value, digits);

  /** Return a count with its noun, in the singular or plural. */
  function counted(count, noun) {
    return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
  }

  /** Return a share in percent; above 0 it is never 0%, above 1 never 100%. */
  function percent(share) {
    const over = share - 1;
    if (NEGLIGIBLE < over && over < SMALLEST_SHARE) return "100.1%";
    if (ROUNDING < share && share < SMALLEST_SHARE) return "<0.1%";
    // a million percent and more, which would be wider than columns and pages
    if (share >= 1e4) return `${(100 * share).toExponential(1).replace(/\+(\d)$/, "+0$1")}%`;
    return `${(100 * share).toFixed(1)}%`;
  }

  /** Return an upper limit in percent, rounded up. */
  const percentUp = (share) =>
    `${(100 * (Math.ceil((share - NEGLIGIBLE) * 1e3) / 1e3)).toFixed(1)}%`;

  /** Return the share that a value is of a whole; what is below all of it is never 100%. */
  function shareOf(value, whole) {
    if (number(value) === number(whole)) return percent(1);
    const share = value / whole;
    return percent(share < 1 - ROUNDING ? Math.min(share, 0.999) : share);
  }

  /** Return a time in s, ms, us or ns; `written` rounds the number. */
  function duration(seconds, written = number) {
    if (seconds === 0) return "0 s";
    for (const [least, unit] of TIMES) {
      const text = written(seconds / least);
      if (unit === "s" || Number(text.replaceAll(",", "")) < 1e3) return `${text} ${unit}`;
    }
  }

  /** Return a moment of a scale up to `last` seconds whose marks are `step` seconds apart. */
  function moment(seconds, step, last) {
    const [size, unit] = TIMES.findLast(([least]) => last >= least) ?? TIMES[0];
    const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
    return `${(seconds / size).toFixed(decimals)} ${unit}`;
  }

  /** Return a number of bytes in B, kB, MB, GB or TB. */
  function bytes(count) {
    const [factor, unit] = BYTES.find(([size]) => count >= size) ?? [1, "B"];
    return `${number(count / factor, 3)} ${unit}`;
  }

  /** Return the beginning of a text in complete characters, without line breaks. */
  function shortened(name, length) {
    const characters = Array.from(name.slice(0, 4 * length + 4).replace(/\s+/gu, " "));
    if (characters.length <= length) return characters.join("");
    return `${characters.slice(0, length - 1).join("")}…`;
  }

  /** Return text whose writing direction does not affect the text around it. */
  const isolated = (name) => `\u2068${name}\u2069`;

  /** Return an element; children are elements or texts, which are never parsed as markup. */
  function element(tag, options = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (key === "class") made.className = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false)
        made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  /** Return a name as an element with its own writing direction; see SP.labels.called. */
  function named(called, i, length) {
    return element("bdi", { dir: "auto", title: called(i, SP.labels.whole) }, called(i, length));
  }

  /** Return a link as the names of its ends, each with its own writing direction. */
  function linked({ from, to, uplink }, called, length) {
    const name = (end) => isolated(called(end, length));
    if (uplink !== null) {
      const group = isolated(shortened(uplink.group, length ?? SP.labels.label));
      return uplink.direction === "up" ? `out of group ${group}` : `into group ${group}`;
    }
    if (from === null) return `into ${name(to)}`;
    return to === null ? `out of ${name(from)}` : `${name(from)} → ${name(to)}`;
  }

  /** Fill a list of terms with [term, value] rows; those whose value is null are left out. */
  function terms(list, pairs) {
    const shown = pairs.filter(([, value]) => value != null);
    list.replaceChildren(
      ...shown.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]),
    );
    return list;
  }

  /** Change an element's text only if it differs, because every change forces a layout. */
  function put(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** Fill in a field, and remember the value to detect unfinished typing. */
  function fill(field, value) {
    field.value = value;
    field.dataset.shown = value;
  }

  return {
    fill,
    number,
    roundedUp,
    roundedDown,
    counted,
    percent,
    percentUp,
    shareOf,
    duration,
    moment,
    bytes,
    shortened,
    isolated,
    element,
    named,
    terms,
    linked,
    put,
  };
})();
