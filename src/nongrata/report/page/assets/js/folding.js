// Long tables show their first rows until more is asked for.
const folding = (() => {
  const LONG = 16;
  const FIRST = 12;

  function shownRows(table) {
    const bodies = [...table.tBodies].filter((body) => !body.hidden);
    return bodies
      .flatMap((body) => [...body.rows])
      .filter((row) => row.className !== "group" && !row.hasAttribute("data-out"));
  }

  function hideEmptyGroups(table) {
    for (const body of table.tBodies) {
      const [head, ...rows] = body.rows;
      if (head?.className !== "group") continue;
      const isGone = (row) => row.hasAttribute("data-out") || row.hasAttribute("data-folded");
      head.toggleAttribute("data-out", rows.every(isGone));
    }
  }

  function prepare(table) {
    const button = document.querySelector(`.tools[data-for="${table.id}"] .more`);
    let isOpen = false;

    function update() {
      const rows = shownRows(table);
      const isLong = rows.length > LONG;
      rows.forEach((row, place) => row.toggleAttribute("data-folded", isLong && !isOpen && place >= FIRST));
      hideEmptyGroups(table);
      button.hidden = !isLong;
      button.setAttribute("aria-expanded", isOpen);
      button.textContent = isOpen
        ? page.say("Show {count} rows only", { count: FIRST })
        : page.say("Show all {count} rows", { count: rows.length });
    }

    function open(wanted) {
      isOpen = wanted;
      update();
    }

    button.addEventListener("click", () => open(!isOpen));
    table.addEventListener("reorder", update);
    filters.changed.addEventListener("change", update);
    return open;
  }

  function start() {
    const openers = [...document.querySelectorAll("main table")].map(prepare);
    document.getElementById("show-everything").addEventListener("click", () => {
      for (const open of openers) open(true);
      for (const fold of document.querySelectorAll("main details")) fold.open = true;
    });
  }

  return { start };
})();
