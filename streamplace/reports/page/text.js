// Numbers and names as text, and elements for them. Names reach the page only through textContent.
const SP = {};

SP.text = (() => {
  "use strict";
  const grouped = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
  const large = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const BYTES = [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ];
  const TIMES = [
    [3600, "h"],
    [120, "min"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];

  const ROUNDING = 2e-9; // relative difference that counts as none, as in streamplace.display.text

  function number(value) {
    if (value === Infinity) return "unlimited";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e12 || size < 1e-4)) return value.toExponential(2);
    return size >= 1000 ? large.format(value) : grouped.format(value);
  }

  /** Return a limit as `number` does, but rounded away from what it limits: up (1) or down (-1). */
  function towards(direction, value) {
    const text = number(value);
    const shown = Number(text.replaceAll(",", ""));
    if (!Number.isFinite(value) || (shown - value) * direction >= -ROUNDING * Math.abs(value))
      return text;
    const size = Math.abs(value);
    const digits = size >= 1e12 || size < 1e-4 ? 3 : 4;
    const step = 10 ** (Math.floor(Math.log10(size)) - digits + 1);
    return number(shown + direction * (size >= 1000 && size < 1e12 ? 1 : step));
  }

  const roundedUp = (value) => towards(1, value);
  const roundedDown = (value) => towards(-1, value);

  /** Return a count with its noun, in the singular or plural. */
  function counted(count, noun) {
    return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  }

  function percent(share) {
    const value = share * 100;
    if (value >= 1e7) return `${value.toExponential(1)} %`;
    return `${value >= 1000 ? large.format(value) : value.toFixed(1)} %`;
  }

  /** Return an upper limit in percent, rounded up. */
  const percentUp = (share) => percent(Math.ceil((share - ROUNDING) * 1e3) / 1e3);

  /** Return a time in h, min, s, ms, µs or ns. */
  function duration(seconds, written = number) {
    if (seconds === 0) return "0 s";
    const [least, unit] = TIMES.find(([least]) => seconds >= least) ?? TIMES.at(-1);
    return `${written(seconds / (unit === "min" ? 60 : least))} ${unit}`;
  }

  /** Return a moment of a scale up to `last` seconds whose marks are `step` seconds apart. */
  function moment(seconds, step, last) {
    const [least, unit] = TIMES.find(([least]) => last >= least) ?? TIMES.at(-1);
    const size = unit === "min" ? 60 : least;
    const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
    return `${(seconds / size).toFixed(decimals)} ${unit}`;
  }

  /** Return a number of bytes in B, kB, MB, GB or TB. */
  function bytes(count) {
    const [factor, unit] = BYTES.find(([size]) => count >= size) ?? [1, "B"];
    return `${grouped.format(count / factor)} ${unit}`;
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
