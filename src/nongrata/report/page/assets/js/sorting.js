// Headings that sort: first the more telling direction, then the other, then the original order.
const sorting = (() => {
  const collator = new Intl.Collator(page.given.language, { numeric: true });
  const NUMERIC = ["number", "estimate"];

  function keyOf(cell) {
    const data = cell?.querySelector("data");
    if (data) return Number(data.value);
    const text = cell?.textContent.trim() ?? "";
    return cell?.querySelector(".none") || text === "" ? null : text;
  }

  function compare(a, b, direction) {
    if (a === null || b === null) return (a === null) - (b === null); // undefined is always last
    const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
    return direction === "descending" ? -order : order;
  }

  function prepare(table) {
    const bodies = [...table.tBodies];
    const rows = bodies.flatMap((body) => [...body.rows].filter((row) => row.className !== "group"));
    const homes = new Map(rows.map((row) => [row, row.parentElement]));
    const sorted = table.createTBody();
    sorted.hidden = true;

    function restore() {
      for (const row of rows) homes.get(row).append(row);
    }

    function order(column, direction) {
      const keys = new Map(rows.map((row) => [row, keyOf(row.cells[column])]));
      const ordered = [...rows].sort((a, b) => compare(keys.get(a), keys.get(b), direction));
      sorted.append(...ordered);
    }

    function show(heading, column, direction) {
      for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
      if (direction) heading.setAttribute("aria-sort", direction);
      if (direction) order(column, direction);
      else restore();
      sorted.hidden = !direction;
      for (const body of bodies) body.hidden = !!direction;
      const name = heading.textContent.trim();
      page.announce(
        direction ? page.say(`sorted by {column}, ${direction}`, { column: name })
          : page.say("original order"),
      );
      table.dispatchEvent(new Event("reorder"));
    }

    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = page.element("button", { type: "button", class: "sort" });
      button.append(...heading.childNodes);
      heading.append(button);
      const both = ["ascending", "descending"];
      const first = NUMERIC.includes(heading.className) ? both.reverse() : both;
      const next = { [first[0]]: first[1], [first[1]]: null };
      button.addEventListener("click", () => {
        const now = heading.getAttribute("aria-sort");
        show(heading, column, now ? next[now] : first[0]);
      });
    });
  }

  function start() {
    for (const table of document.querySelectorAll("main table")) {
      if (table.tBodies[0]?.rows.length > 1) prepare(table);
    }
  }

  return { start };
})();
