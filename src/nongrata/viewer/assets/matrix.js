// Labels x configurations: what became of each answer. One cell at a time is reached by Tab, the
// others by the arrow keys.

import { element, named, oneLine } from "./dom.js";
import { FATES } from "./fates.js";

export const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Address of a cell: label, levels and replicate. */
export function cellName(page, p, c) {
  const replicate = page.replicates[c] > page.replicate ? page.replicate : 0;
  return [page.personas[p], ...page.configurations[c], replicate].join(",");
}

function short(text) {
  const line = oneLine(text);
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Write under the matrix which cell the reader is at. */
function read(target) {
  const cell = target.closest("td[data-name]");
  if (cell) document.getElementById("readout").textContent = cell.getAttribute("aria-label");
}

export class Matrix {
  #cells = new Map();
  #rows = [];
  #choose;
  #at = [0, 0];

  /**
   * @param page what the server says of the question
   * @param overview what it says of the run
   * @param shown places of the labels and configurations to show, and which outcomes
   * @param choose called with a cell's name, and whether it is to stand beside the first
   */
  constructor(page, overview, shown, choose) {
    this.#choose = choose;
    this.table = element("table", { role: "grid", class: "matrix", "aria-label": "Answers by label and configuration",
      "aria-multiselectable": true, "aria-rowcount": shown.personas.length + overview.factors.length,
      "aria-colcount": shown.configurations.length + 2,
      onkeydown: (event) => this.#key(event), onclick: (event) => this.#click(event),
      onfocusin: (event) => this.#focus(event.target), onmouseover: (event) => read(event.target) });
    this.table.append(this.#head(page, overview, shown.configurations), this.#body(page, overview, shown));
    this.#enter(0, 0);
  }

  /** Mark the cells that are looked at. */
  select(names) {
    for (const cell of this.table.querySelectorAll("[aria-selected=true]")) {
      cell.setAttribute("aria-selected", "false");
      delete cell.dataset.turn;
    }
    names.forEach((name, turn) => {
      const cell = name && this.#cells.get(name);
      if (!cell) return;
      cell.setAttribute("aria-selected", "true");
      cell.dataset.turn = turn === 0 ? "first" : "second";
    });
    const first = names[0] && this.#cells.get(names[0]);
    if (first && !this.table.contains(document.activeElement)) {
      this.#enter(...this.#placeOf(first));
      read(first);
    }
  }

  #head(page, overview, configurations) {
    const head = element("thead");
    overview.factors.forEach((factor, f) => {
      const row = element("tr", { role: "row" },
        element("th", { role: "columnheader", scope: "row", class: "corner" }, named(factor.name)));
      for (let i = 0; i < configurations.length;) {
        const same = (c) => page.configurations[c].slice(0, f + 1).join(",");
        let wide = 1;
        while (i + wide < configurations.length && same(configurations[i + wide]) === same(configurations[i])) wide++;
        const level = page.configurations[configurations[i]][f];
        row.append(element("th", { role: "columnheader", scope: "colgroup", colspan: wide, title: oneLine(level),
          class: wide === 1 ? "level narrow" : "level" }, element("span", {}, named(level))));
        i += wide;
      }
      row.append(element("th", { role: "columnheader", scope: "col", class: "sum" },
        f === overview.factors.length - 1 ? "right" : element("span", { class: "visually-hidden" }, "right")));
      head.append(row);
    });
    return head;
  }

  #body(page, overview, { personas, configurations, outcomes, marks }) {
    const wide = page.configurations.length;
    const body = element("tbody");
    for (const p of personas) {
      const persona = overview.personas[p];
      const row = element("tr", { role: "row" }, element("th", { role: "rowheader", scope: "row" },
        element("span", { class: persona.control ? "control" : null }, named(persona.text ?? persona.id))));
      const cells = [];
      let right = 0;
      let obtained = 0;
      for (const c of configurations) {
        const at = p * wide + c;
        const fate = page.outcomes[page.fates[at]];
        if (fate === "right") right++;
        if (fate !== "missing" && fate !== "error") obtained++;
        const cell = this.#cell(page, persona, c, fate, page.options[at], page.duplicates[at], marks);
        cell.dataset.name = cellName(page, p, c);
        if (outcomes.length && !outcomes.includes(fate)) cell.classList.add("dim");
        this.#cells.set(cell.dataset.name, cell);
        cells.push(cell);
      }
      row.append(...cells, element("td", { role: "gridcell", class: "sum" }, obtained ? `${right}/${obtained}` : "–"));
      this.#rows.push(cells);
      body.append(row);
    }
    return body;
  }

  #cell(page, persona, c, fate, option, duplicate, marks) {
    const { sign, word } = FATES[fate];
    const letter = option >= 0 ? LETTERS[option] ?? String(option + 1) : sign;
    const what = option >= 0 ? `, option ${letter} (${short(page.question.choices[option])})` : "";
    const label = `${oneLine(persona.text ?? persona.id)}, ${page.configurations[c].map(oneLine).join(", ")}: ` +
      `${word}${what}${duplicate ? ", same request as an earlier configuration" : ""}`;
    return element("td", { role: "gridcell", tabindex: -1, "aria-selected": "false", "aria-label": label,
      class: `${fate}${duplicate ? " duplicate" : ""}` },
      element("span", { "aria-hidden": "true" }, marks === "options" ? letter : sign));
  }

  #placeOf(cell) {
    const row = this.#rows.findIndex((cells) => cells.includes(cell));
    return [row, row < 0 ? -1 : this.#rows[row].indexOf(cell)];
  }

  #enter(row, column) {
    if (!this.#rows[row]?.[column]) return null;
    this.#rows[this.#at[0]]?.[this.#at[1]]?.setAttribute("tabindex", "-1");
    this.#at = [row, column];
    this.#rows[row][column].setAttribute("tabindex", "0");
    return this.#rows[row][column];
  }

  #focus(target) {
    const cell = target.closest("td[data-name]");
    if (cell) this.#enter(...this.#placeOf(cell));
    read(target);
  }

  #click(event) {
    const cell = event.target.closest("td[data-name]");
    if (!cell) return;
    cell.focus();
    this.#choose(cell.dataset.name, event.shiftKey);
  }

  #key(event) {
    const cell = event.target.closest("td[data-name]");
    if (!cell || event.altKey || event.metaKey) return;
    const [row, column] = this.#at;
    const [rows, columns] = [this.#rows.length - 1, this.#rows[0].length - 1];
    const clamp = (value, most) => Math.max(0, Math.min(value, most));
    const all = event.ctrlKey;
    const moves = {
      ArrowRight: [row, all ? columns : column + 1],
      ArrowLeft: [row, all ? 0 : column - 1],
      ArrowDown: [all ? rows : row + 1, column],
      ArrowUp: [all ? 0 : row - 1, column],
      Home: [all ? 0 : row, 0],
      End: [all ? rows : row, columns],
      PageDown: [row + 10, column],
      PageUp: [row - 10, column],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(cell.dataset.name, event.shiftKey);
    } else if (moves[event.key]) {
      event.preventDefault();
      const [down, along] = moves[event.key];
      const next = this.#enter(clamp(down, rows), clamp(along, columns));
      next?.focus();
      next?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
}
