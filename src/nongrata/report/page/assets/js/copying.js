// A table for a spreadsheet: tab-separated, numbers in full precision, nothing that computes.
const copying = (() => {
  function inert(text) {
    const line = text.replace(/\s+/g, " ").trim();
    return /^[=+\-@]/.test(line) ? `'${line}` : line;
  }

  function cellsOf(cell, kind) {
    const numbers = [...(cell?.querySelectorAll("data") ?? [])].map((data) => data.value);
    if (kind === "number") return [numbers[0] ?? ""];
    if (kind === "estimate") return [0, 1, 2].map((place) => numbers[place] ?? "");
    return [inert(cell?.textContent ?? "")];
  }

  function headingsOf(heading) {
    const key = heading.dataset.key;
    return heading.className === "estimate" ? [key, `${key}_low`, `${key}_high`] : [key];
  }

  function separated(table) {
    const headings = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies]
      .flatMap((body) => [...body.rows])
      .filter((row) => row.className !== "group" && !row.hasAttribute("data-out"));
    const lines = rows.map((row) =>
      headings.flatMap((heading, place) => cellsOf(row.cells[place], heading.className)),
    );
    return [headings.flatMap(headingsOf), ...lines].map((line) => line.join("\t")).join("\n");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = page.element("textarea", { class: "apart" });
      field.value = text;
      document.body.append(field);
      field.select();
      const isDone = document.execCommand("copy");
      field.remove();
      return isDone;
    }
  }

  function start() {
    for (const button of document.querySelectorAll("button.copy")) {
      const table = document.getElementById(button.closest(".tools").dataset.for);
      const label = button.textContent;
      button.addEventListener("click", async () => {
        const isDone = await copy(separated(table));
        button.textContent = page.say(isDone ? "copied" : "could not be copied");
        page.announce(button.textContent);
        button.focus();
        setTimeout(() => (button.textContent = label), 1500);
      });
    }
  }

  return { start, separated };
})();
