// One question: its text, what became of it everywhere, and the answers that are looked at.

import { here, listHref, questionHref, set, view } from "./address.js";
import { cellPart } from "./cell.js";
import { ask, Newest } from "./data.js";
import { announce, block, count, element, fill, named, oneLine, percent, visible } from "./dom.js";
import { FATES } from "./fates.js";
import { filters, shownOf } from "./filters.js";
import { LETTERS, Matrix } from "./matrix.js";

export class QuestionView {
  #main;
  #overview;
  #newest = new Newest();
  #cells = new Newest();
  #key = null;
  #page = null;
  #drawn = null;
  #matrix = null;
  #looked = new Map();
  #reveals = false;
  #pairing = false;
  #timer = 0;

  constructor(main, overview) {
    this.#main = main;
    this.#overview = overview;
    document.addEventListener("keydown", (event) => this.#shortcut(event));
  }

  leave() {
    clearTimeout(this.#timer);
    this.#key = null;
  }

  async show() {
    const query = here();
    const wanted = new URLSearchParams(query);
    for (const name of ["cell", "beside", "label", "level", "only", "marks"]) wanted.delete(name);
    const key = wanted.toString();
    if (key !== this.#key) {
      this.#key = key;
      this.#main.setAttribute("aria-busy", "true");
      try {
        const page = await this.#newest.of(ask("/api/question", wanted));
        if (page === null || view() !== "question") return;
        this.#page = page;
        this.#build();
      } catch (error) {
        this.#key = null;
        this.#main.replaceChildren(element("p", {}, element("a", { href: listHref() }, "All questions")),
          element("p", { class: "trouble", role: "alert" }, visible(error.message)));
        return;
      } finally {
        this.#main.removeAttribute("aria-busy");
      }
    }
    this.#draw();
    await this.#look();
  }

  #build() {
    const { question } = this.#page;
    document.title = `${oneLine(question.id)} – nongrata view`;
    this.#drawn = null;
    this.#looked.clear();
    this.#main.replaceChildren(
      this.#around(),
      element("h1", {}, named(question.id)),
      this.#text(question),
      element("div", { id: "figures" }, this.#figures()),
      element("section", { class: "answers", "aria-labelledby": "answers-title" },
        element("h2", { id: "answers-title" }, "Answers"),
        element("div", { id: "filters" }),
        element("p", { class: "hint" }, "Arrow keys move between cells; Enter shows a cell’s prompt and answer, Shift+Enter (or Shift+click) puts a second one beside it."),
        element("div", { class: "scroll", id: "matrix" }), element("p", { class: "readout", id: "readout", "aria-hidden": "true" }, "\u00a0"), legend(this.#page)),
      element("section", { id: "cells", class: "cells", "aria-label": "Prompts and answers" }));
    announce(`Question ${oneLine(question.id)}`);
    this.#await();
  }

  /** While figures are counted, ask for them again; all else of the page stays as it is. */
  #await() {
    clearTimeout(this.#timer);
    const { current, trouble } = this.#page.counting;
    if (current || trouble) return;
    const key = this.#key;
    this.#timer = setTimeout(async () => {
      try {
        const page = await ask("/api/question", new URLSearchParams(key));
        if (key !== this.#key) return;
        for (const name of ["figures", "counting", "position", "listed", "before", "after"]) this.#page[name] = page[name];
        fill(document.getElementById("figures"), this.#figures());
        if (!this.#main.querySelector(".around").contains(document.activeElement)) this.#main.querySelector(".around").replaceWith(this.#around());
        this.#await();
      } catch {
        // the next page that is asked for says what is wrong
      }
    }, 700);
  }

  #around() {
    const { before, after, position, listed } = this.#page;
    const link = (id, text, rel) => id === null ? element("span", { class: "off" }, text)
      : element("a", { href: questionHref(id, kept()), rel, title: oneLine(id) }, text);
    return element("nav", { class: "around", "aria-label": "Questions" },
      element("a", { href: listHref() }, "All questions"),
      link(before, "Previous (k)", "prev"),
      position === null ? null : element("span", {}, `${count(position)} of ${count(listed)}`),
      link(after, "Next (j)", "next"));
  }

  #text(question) {
    return element("section", { class: "question", "aria-label": "Question" },
      question.context ? block(question.context, [], "Context") : null,
      block(question.text, [], "Question text"),
      element("ol", { class: "options", "aria-label": "Options" }, question.choices.map((choice, i) =>
        element("li", { class: i === question.answer ? "is-right" : null },
          element("span", { class: "letter" }, LETTERS[i] ?? String(i + 1)), element("span", {}, named(choice)),
          i === question.answer ? element("strong", {}, " ✓ right") : null))),
      element("p", { class: "tags" }, ["source", "domain", "subject"].filter((name) => question[name])
        .map((name) => element("span", { class: "tag" }, `${name} `, named(question[name])))));
  }

  #figures() {
    const { figures, counting } = this.#page;
    if (figures === null) return element("p", { class: "counting" }, `Still counting how much answers flip, ${Math.floor(100 * counting.done)} %.`);
    return element("p", { class: "said" },
      `Right in ${percent(figures.right)} of the answers under labels. Between two configurations an answer flips between right and not right in `,
      `${percent(figures.flips)} of the pairs, and names another option in ${percent(figures.option_flips)}.`,
      figures.flips_most === null ? null : [" The label that flips most: ", named(this.#nameOf(figures.flips_most)), ` (${percent(figures.label_flips, 0)}).`]);
  }

  #nameOf(id) {
    return this.#overview.personas.find((persona) => persona.id === id)?.text ?? id;
  }

  #draw() {
    const query = here();
    const shown = shownOf(this.#page, this.#overview, query);
    const key = JSON.stringify(shown);
    if (key !== this.#drawn) {
      this.#drawn = key;
      filters(document.getElementById("filters"), this.#page, this.#overview, query);
      const place = document.getElementById("matrix");
      if (shown.personas.length && shown.configurations.length) {
        this.#matrix = new Matrix(this.#page, this.#overview, shown, (name, beside) => this.#choose(name, beside));
        place.replaceChildren(this.#matrix.table);
      } else {
        this.#matrix = null;
        place.replaceChildren(element("p", {}, "No cell is chosen."));
      }
    }
    this.#matrix?.select([query.get("cell"), query.get("beside")]);
  }

  #choose(name, beside) {
    const query = here();
    this.#reveals = true;
    if ((beside || this.#pairing) && query.get("cell") && query.get("cell") !== name) set({ beside: name });
    else set({ cell: name, beside: query.get("beside") === name ? null : query.get("beside") });
    this.#pairing = false;
  }

  /** The next cell that is chosen stands beside the one that is shown. */
  #pair() {
    this.#pairing = true;
    const sentence = "Choose the cell to put beside it.";
    document.getElementById("readout").textContent = sentence;
    announce(sentence);
    document.getElementById("matrix").scrollIntoView({ block: "nearest" });
    document.querySelector("#matrix td[tabindex='0']")?.focus({ preventScroll: true });
    document.getElementById("readout").textContent = sentence;
  }

  async #look() {
    const query = here();
    const names = [query.get("cell"), query.get("beside")].filter((name) => name);
    const place = document.getElementById("cells");
    if (!place) return; // the question is still loading, and looks here when it is built
    let found;
    try {
      found = await this.#cells.of(Promise.all(names.map((name) => this.#cell(name))));
    } catch (error) {
      place.replaceChildren(element("p", { class: "trouble", role: "alert" }, visible(error.message)));
      return;
    }
    if (found === null || view() !== "question") return;
    if (found.length) announce(`Shown below: ${found.map((cell) => `${oneLine(this.#nameOf(cell.answer.persona))}, ${Object.values(cell.answer.levels).map(oneLine).join(", ")}`).join("; beside it ")}`);
    place.classList.toggle("two", found.length === 2);
    place.replaceChildren(...found.map((cell, i) => cellPart(cell, found[1 - i] ?? null, this.#overview, {
      first: i === 0,
      right: this.#page.question.answer,
      pair: found.length === 1 ? () => this.#pair() : null,
      close: () => set(i === 0 ? { cell: query.get("beside"), beside: null } : { beside: null }),
    })));
    if (this.#reveals && found.length) reveal(place);
    this.#reveals = false;
  }

  async #cell(name) {
    const query = new URLSearchParams({ id: this.#page.question.id, model: this.#page.model, cell: name });
    if (!this.#looked.has(name)) this.#looked.set(name, await ask("/api/cell", query));
    return this.#looked.get(name);
  }

  #shortcut(event) {
    if (view() !== "question" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const rel = { j: "next", k: "prev" }[event.key];
    if (rel) document.querySelector(`.around a[rel=${rel}]`)?.click();
    if (event.key === "Escape" && here().get("cell")) set({ cell: null, beside: null });
  }
}

/** What stays chosen from one question to the next. */
function kept() {
  const query = here();
  const names = ["cell", "beside", "label", "level", "only", "marks", "replicate"];
  return Object.fromEntries(names.filter((name) => query.has(name)).map((name) => [name, query.getAll(name)]));
}

/** Bring what was chosen into view, and leave the matrix there too. */
function reveal(place) {
  const below = place.getBoundingClientRect().top - 0.72 * window.innerHeight;
  if (below > 0) window.scrollBy({ top: below, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

function legend(page) {
  const number = page.outcomes.map(() => 0);
  for (const fate of page.fates) number[fate]++;
  return element("ul", { class: "legend", "aria-label": "What the signs mean" },
    page.outcomes.map((name, i) => element("li", {}, element("span", { class: `sign ${name}`, "aria-hidden": "true" }, FATES[name].sign),
      ` ${FATES[name].word} ${count(number[i])}`)),
    page.duplicates.some((is) => is) ? element("li", {}, element("span", { class: "sign duplicate", "aria-hidden": "true" }, " "),
      ` same request as an earlier configuration`) : null);
}
