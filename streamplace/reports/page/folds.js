// Long tables: their first rows, and a button that shows the others. Nothing scrolls inside the page.
SP.folds = (() => {
  "use strict";
  const ROWS = 40; // as in style.css

  /** Fold a table's body while it has many rows that do not open already. */
  function fold(body) {
    let opened = false;
    const button = SP.text.element(
      "button",
      {
        type: "button",
        class: "unfold",
        onclick: () => {
          opened = true;
          update();
        },
      },
      "Show all rows",
    );
    const update = () => {
      const folded = !opened && body.rows.length > ROWS && !body.classList.contains("grouped");
      body.classList.toggle("folded", folded);
      button.hidden = !folded;
    };
    body.closest("table").after(button);
    new MutationObserver(update).observe(body, { childList: true });
    update();
  }

  return { fold };
})();
