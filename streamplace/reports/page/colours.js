// A colour for every device: hues far apart for the first ones; red is reserved for the bottleneck.
SP.colours = (() => {
  "use strict";
  const FIRST = [212, 38, 160, 272, 96, 320, 186, 56, 244, 22];
  const GOLDEN = 137.508; // golden angle in degrees, which spreads further hues evenly
  const WIDTH = 320; // range of hues, from 20 to 340, which leaves out red
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const isDark = () =>
    dark.matches && !document.documentElement.classList.contains("paper");

  const hue = (d) => (d < FIRST.length ? FIRST[d] : 20 + ((d * GOLDEN) % WIDTH));

  const tone = (d, saturation, lightness) =>
    `hsl(${hue(d).toFixed(0)}, ${saturation}%, ${lightness}%)`;

  return {
    isDark,
    onChange: (then) => dark.addEventListener("change", then),
    operator: (d) => (isDark() ? tone(d, 48, 60) : tone(d, 55, 50)),
    edge: (d) => (isDark() ? tone(d, 45, 80) : tone(d, 60, 32)),
    lane: (d) => (isDark() ? tone(d, 24, 17) : tone(d, 55, 96)),
    rim: (d) => (isDark() ? tone(d, 22, 32) : tone(d, 40, 82)),
    /** Return a colour variable of the style sheet. */
    of: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  };
})();
