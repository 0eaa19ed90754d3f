// Controls: source rate, bandwidth, and the device of an operator. All work by keyboard.
SP.controls = (() => {
  "use strict";
  const { element, number } = SP.text;
  const STEPS = 1000; // steps of the slider, from a tenth to ten times the original rate

  /** Connect the slider and the number field of the source rate; the slider is logarithmic. */
  function rate(slider, field, calls) {
    let middle = 1;
    slider.min = "0";
    slider.max = String(STEPS);
    const valueAt = (step) => Number((middle * 10 ** ((2 * step) / STEPS - 1)).toPrecision(4));
    const stepOf = (value) => Math.round(((Math.log10(value / middle) + 1) / 2) * STEPS);
    slider.addEventListener("input", () => calls.rate(valueAt(Number(slider.value)), "slider"));
    slider.addEventListener("change", () => calls.settle());
    field.addEventListener("change", () => calls.rate(field.value, null));
    return {
      start(first) {
        middle = first;
      },
      show(value) {
        const step = String(Math.min(STEPS, Math.max(0, stepOf(value))));
        if (valueAt(Number(slider.value)) !== value) slider.value = step;
        SP.text.fill(field, String(value));
        slider.setAttribute("aria-valuetext", `${number(value)} tuples/s`);
      },
    };
  }

  function bandwidth(field, calls) {
    // an invalid number reads as empty, but empty means no limit, so return invalid text instead
    const value = () => (field.validity.badInput ? "invalid" : field.value);
    field.addEventListener("change", () => calls.bandwidth(value()));
    return {
      show(value) {
        SP.text.fill(field, value === null ? "" : String(value));
      },
    };
  }

  /** Return an option for device d; `why` says why it is forbidden, and is null if it is not. */
  function option(called, d, why = null) {
    const title = called(d, SP.labels.whole) + (why === null ? "" : `: the operator ${why}`);
    return element("option", { value: String(d), title, disabled: why !== null }, called(d));
  }

  /** Return a select for an operator's device; its other options are added on first use. */
  function deviceSelect(view, v, calls) {
    const { cluster, called } = view.problem;
    const now = view.setting.assignment[v];
    const select = element("select", {
      "aria-label": `device of ${SP.text.isolated(called.operators(v))}`,
      onchange: () => calls.move(v, Number(select.value)),
    });
    const fill = () => {
      if (select.children.length === cluster.devices.length) return;
      const chosen = select.value;
      const offered = (_, d) => option(called.devices, d, SP.rules.whyNot(view.problem, v, d));
      select.replaceChildren(...cluster.devices.map(offered));
      select.value = chosen;
    };
    select.append(option(called.devices, now));
    select.addEventListener("focus", fill);
    select.addEventListener("pointerdown", fill);
    return select;
  }

  /** Show notes, one per line. */
  function notes(container, lines) {
    const text = lines.join("\n");
    if (container.dataset.shown === text) return;
    container.dataset.shown = text;
    container.replaceChildren(...lines.map((line) => element("li", { dir: "auto" }, line)));
  }

  return { rate, bandwidth, deviceSelect, option, notes };
})();
