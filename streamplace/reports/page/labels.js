// Names as labels: long names are shortened but stay different. As in streamplace/display/view.py.
SP.labels = (() => {
  "use strict";
  const LENGTHS = { narrow: 14, label: 26, long: 48, whole: 400 }; // characters
  const KEPT = 6; // largest number of characters kept around the part in which names differ

  /** Return the characters of a name, without line breaks. */
  const charactersOf = (name) => Array.from(name.replace(/\s+/gu, " "));

  /** Return at most `length` characters: the beginning and the end, where names tend to differ. */
  function ends(characters, length) {
    if (characters.length <= length) return characters.join("");
    const tail = Math.floor((length - 1) / 2);
    const head = characters.slice(0, length - 1 - tail).join("");
    return `${head}…${characters.slice(characters.length - tail).join("")}`;
  }

  /** Return distinct labels of at most `length` characters (8 or more), even for equal names. */
  function labels(names, length) {
    const all = names.map(charactersOf);
    const result = all.map((characters) => ends(characters, length));
    const alike = new Map();
    result.forEach((label, i) => {
      if (!alike.has(label)) alike.set(label, []);
      alike.get(label).push(i);
    });
    for (const group of alike.values()) {
      if (group.length === 1) continue;
      const different = differences(
        group.map((i) => all[i]),
        length,
      );
      group.forEach((i, k) => {
        result[i] = ends(different[k], length);
      });
    }
    return numbered(all, result, length);
  }

  /** Return the parts in which names differ, with as many characters before them as fit. */
  function differences(names, length) {
    const shortest = Math.min(...names.map((name) => name.length));
    const same = (at) => names.every((name) => name.at(at) === names[0].at(at));
    let before = 0;
    while (before < shortest && same(before)) before += 1;
    let after = 0;
    while (after < shortest - before && same(-1 - after)) after += 1;
    const kept = Math.min(KEPT, Math.floor((length - 2) / 3));
    return names.map((name) => {
      const end = name.length - Math.max(0, after - kept);
      const first = Math.max(0, Math.min(before - kept, end - (length - 2)));
      const last = Math.min(name.length, Math.max(end, first + length - 2));
      return [
        ...(first ? "…" : ""),
        ...name.slice(first, last),
        ...(last < name.length ? "…" : ""),
      ];
    });
  }

  /** Number the labels that are still equal. */
  function numbered(all, result, length) {
    const taken = new Set();
    return result.map((first, i) => {
      let label = first;
      for (let number = 2; taken.has(label); number++) {
        const mark = ` (${number})`;
        label = ends(all[i], Math.max(3, length - mark.length)) + mark;
      }
      taken.add(label);
      return label;
    });
  }

  /** Return a function (index, length) -> label of a name; labels are computed once per length. */
  function called(names) {
    const made = new Map();
    return (i, length = LENGTHS.label) => {
      if (!made.has(length)) made.set(length, labels(names, length));
      return made.get(length)[i];
    };
  }

  return { called, labels, ...LENGTHS };
})();
