// Printing: light colours, the drawing as a sharp picture, and text in the place of form controls.
SP.paper = (() => {
  "use strict";
  const { element } = SP.text;

  /** Prepare the page before printing. `calls` has recolour() and picture(), a canvas or null. */
  function letPrint(container, calls) {
    const added = [];
    window.addEventListener("beforeprint", () => {
      document.documentElement.classList.add("paper");
      calls.recolour();
      const picture = calls.picture();
      if (picture !== null) {
        picture.removeAttribute("style"); // its size on the screen
        picture.className = "printed";
        container.after(picture);
        added.push(picture);
      }
      for (const field of document.querySelectorAll("td select, td input")) {
        const value = field.selectedOptions?.[0].textContent ?? field.value;
        const text = element("span", { class: "printed" }, value);
        field.after(text);
        added.push(text);
      }
    });
    window.addEventListener("afterprint", () => {
      for (const node of added.splice(0)) node.remove();
      document.documentElement.classList.remove("paper");
      calls.recolour();
    });
  }

  return { letPrint };
})();
