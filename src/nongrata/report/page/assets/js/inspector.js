// The number under the pointer, or in the cell that has the focus: in full, and where it stands.
const inspector = (() => {
  const box = document.getElementById("inspector");
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  // a JSON pointer as one writes it in a program: noise.models[0].ia
  function placeOf(pointer) {
    const parts = pointer.split("/").slice(1);
    const isLength = parts.at(-1) === "#";
    const steps = (isLength ? parts.slice(0, -1) : parts).map((part) =>
      part.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
    const written = steps.map((step, depth) => {
      if (/^\d+$/.test(step)) return `[${step}]`;
      if (!/^[A-Za-z_]\w*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return depth ? `.${step}` : step;
    });
    const part = written.join("");
    return isLength ? page.say("length of {part}", { part }) : part;
  }

  function reasonOf(cell) {
    const mark = cell.querySelector(".none sup")?.textContent;
    const reasons = cell.closest(".block")?.querySelectorAll(".reasons > div") ?? [];
    const found = [...reasons].find((each) => each.querySelector("sup").textContent === mark);
    return found?.querySelector("dd").textContent ?? "";
  }

  // a column has a pattern with stars, a row or the number itself what stands for them
  function pathOf(data) {
    if (data.dataset.path !== undefined) return data.dataset.path;
    const cell = data.closest("tr > *");
    const heading = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
    const pattern = heading.dataset.paths.split(" ")[[...cell.querySelectorAll("data")].indexOf(data)];
    const places = (data.dataset.at ?? cell.parentElement.dataset.at ?? "").split(".");
    return pattern.replaceAll("*", () => places.shift());
  }

  function lines(element) {
    const numbers = element.matches("data") ? [element] : [...element.querySelectorAll("data")];
    const made = numbers.map((data) =>
      page.element(
        "div",
        {},
        page.element("b", {}, data.value),
        page.element(
          "code",
          {},
          page.say("{part} in nongrata analyze --json", { part: placeOf(pathOf(data)) }),
        ),
      ),
    );
    if (!made.length && element.querySelector(".none")) {
      const reason = reasonOf(element);
      if (reason) made.push(page.element("div", {}, page.say("not defined: {reason}", { reason })));
    }
    return made;
  }

  function show(element, isFocused) {
    const made = lines(element);
    if (!made.length) return hide();
    box.replaceChildren(...made);
    box.hidden = false;
    if (isFocused) element.setAttribute("aria-describedby", box.id);
    const { left, bottom, top } = element.getBoundingClientRect();
    tooltip.put(box, left - 14, bottom + 4 + box.offsetHeight < innerHeight ? bottom - 14 : top);
  }

  function hide() {
    box.hidden = true;
  }

  const inTable = (target) => target.closest?.("main tbody tr:not(.group) > *");

  function move(cell, key) {
    const isShown = (row) => row && !row.classList.contains("group") && row.getClientRects().length;
    const rows = [...cell.closest("table").rows].filter((row) => row.closest("tbody") && isShown(row));
    const [down, right] = STEPS[key] ?? [0, 0];
    const row = rows[rows.indexOf(cell.parentElement) + down];
    const column = key === "Home" ? 0 : key === "End" ? row.cells.length - 1 : cell.cellIndex + right;
    const next = row?.cells[column];
    if (!next) return;
    cell.removeAttribute("tabindex");
    next.tabIndex = 0;
    next.focus();
  }

  function start() {
    // one stop of the Tab key for each table; arrow keys move on from there
    for (const table of document.querySelectorAll("main table")) {
      const cell = table.querySelector("tbody tr:not(.group) > *");
      if (cell) cell.tabIndex = 0;
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const cell = inTable(event.target);
      if (cell !== event.target || !(event.key in STEPS || ["Home", "End"].includes(event.key))) return;
      event.preventDefault();
      move(cell, event.key);
    });
    document.addEventListener("focusin", ({ target }) => {
      const cell = inTable(target);
      if (cell && cell === target) show(cell, true);
      else hide();
    });
    document.addEventListener("focusout", ({ target }) => target.removeAttribute?.("aria-describedby"));
    document.addEventListener("pointerover", ({ target }) => {
      if (box.contains(target)) return;
      const found = inTable(target) ?? target.closest?.("main data, header data");
      if (found) show(found, false);
      else hide();
    });
    addEventListener("scroll", hide, { passive: true });
  }

  return { start, placeOf };
})();
