// Binary heaps of numbers.
SP.queues = (() => {
  "use strict";

  /** Return an empty heap; `precedes(a, b)` is its order, which no two different numbers share. */
  function heap(precedes) {
    const items = [];

    function rise(i) {
      const item = items[i];
      while (i > 0) {
        const parent = (i - 1) >> 1;
        if (!precedes(item, items[parent])) break;
        items[i] = items[parent];
        i = parent;
      }
      items[i] = item;
    }

    function sink(item) {
      let i = 0;
      for (;;) {
        let child = 2 * i + 1;
        if (child >= items.length) break;
        if (child + 1 < items.length && precedes(items[child + 1], items[child])) child += 1;
        if (precedes(item, items[child])) break;
        items[i] = items[child];
        i = child;
      }
      items[i] = item;
    }

    return {
      /** The first number; undefined if the heap is empty. */
      first: () => items[0],
      push(item) {
        items.push(item);
        rise(items.length - 1);
      },
      pop() {
        const first = items[0];
        const last = items.pop();
        if (items.length > 0) sink(last);
        return first;
      },
    };
  }

  return { heap };
})();
