// The run in a few lines, and the list of its questions.

import { go, here, listHref, listQuery, questionHref, set, view } from "./address.js";
import { ask, Newest } from "./data.js";
import { announce, count, element, fill, named, oneLine, percent, visible } from "./dom.js";
import { FATES } from "./fates.js";
import { overviewPart } from "./overview.js";

const ORDERS = {
  flips: "flips most first",
  option_flips: "option changes most first",
  label_flips: "one label flips most first",
  right: "right least often first",
  id: "by id",
  study: "in the study's order",
};
const WAIT = 700;

export class ListView {
  #main;
  #overview;
  #newest = new Newest();
  #form = null;
  #results = null;
  #timer = 0;

  constructor(main, overview) {
    this.#main = main;
    this.#overview = overview;
  }

  leave() {
    clearTimeout(this.#timer);
    this.#form = null;
  }

  async show() {
    document.title = `${oneLine(this.#overview.title)} – nongrata view`;
    if (this.#form === null) this.#build();
    this.#fill();
    await this.#load();
  }

  #build() {
    this.#form = this.#controls();
    this.#results = element("div", { id: "results" });
    this.#main.replaceChildren(
      overviewPart(this.#overview),
      element("section", { "aria-labelledby": "questions-title" },
        element("h2", { id: "questions-title" }, "Questions"), explained(), this.#form, this.#results),
    );
  }

  #controls() {
    const choice = (name, label, options) =>
      element("label", {}, label, " ",
        element("select", { name }, options.map(([value, text]) => element("option", { value }, text))));
    const counted = (counts) =>
      Object.entries(counts).map(([name, number]) => [name, `${oneLine(name)} (${count(number)})`]);
    const outcomes = this.#overview.outcomes.map((name) => [name, FATES[name].word]);
    const form = element("form", { class: "controls", role: "search", "aria-label": "Find questions" },
      element("label", { class: "search" }, "Search ",
        element("input", { type: "search", name: "search", autocomplete: "off",
          placeholder: "words in question, options or id" })),
      choice("source", "Source", [["", "all"], ...counted(this.#overview.sources)]),
      choice("domain", "Domain", [["", "all"], ...counted(this.#overview.domains)]),
      choice("outcome", "Has an answer that is", [["", "anything"], ...outcomes]),
      choice("sort", "Order", Object.entries(ORDERS)),
      choice("order", "Direction", [["", "as said"], ["reverse", "the other way round"]]));
    let typing = 0;
    const apply = (replace) => {
      const changes = Object.fromEntries(new FormData(form));
      if (changes.sort === "flips") changes.sort = null;
      set({ ...changes, page: null }, { replace });
    };
    form.addEventListener("input", (event) => {
      if (event.target.name !== "search") return;
      clearTimeout(typing);
      typing = setTimeout(() => view() === "list" && apply(true), 250);
    });
    form.addEventListener("change", (event) => event.target.name === "search" || apply(false));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(typing);
      apply(false);
    });
    return form;
  }

  #fill() {
    const query = here();
    for (const field of this.#form.elements) {
      const value = query.get(field.name) ?? (field.name === "sort" ? "flips" : "");
      if (field !== document.activeElement || field.type !== "search") field.value = value;
    }
  }

  async #load() {
    clearTimeout(this.#timer);
    let found;
    try {
      found = await this.#newest.of(ask("/api/questions", listQuery()));
    } catch (error) {
      this.#results.replaceChildren(element("p", { class: "trouble", role: "alert" }, visible(error.message)));
      return;
    }
    if (found === null || view() !== "list") return;
    fill(this.#results,
      counting(found.counting),
      element("p", { class: "found" }, `${count(found.total)} ${found.total === 1 ? "question" : "questions"}`),
      element("ol", { class: "questions", start: (found.page - 1) * found.size + 1 },
        found.questions.map((question) => this.#entry(question))),
      pages(found),
    );
    if (!found.counting.current && !found.counting.trouble) {
      this.#timer = setTimeout(() => this.#load(), WAIT);
    } else {
      announce(`${found.total} questions`);
    }
  }

  #entry(question) {
    const figures = question.figures;
    const texts = Object.fromEntries(this.#overview.personas.map((persona) => [persona.id, persona.text]));
    const others = figures === null ? [] : Object.entries(figures.outcomes)
      .filter(([name, number]) => number && name !== "right" && name !== "wrong")
      .map(([name, number]) => element("span", { class: `tag ${name}` }, `${FATES[name].sign} ${count(number)} ${FATES[name].word}`));
    return element("li", {},
      element("div", { class: "what" },
        element("a", { href: questionHref(question.id) }, named(question.id)),
        element("p", { class: "snippet" }, named(question.text)),
        element("p", { class: "tags" }, element("span", { class: "tag" }, named(question.source)),
          question.domain === question.source ? null : element("span", { class: "tag" }, named(question.domain)), others)),
      figures === null ? null : element("dl", { class: "figures" },
        figure("Flips", figures.flips), figure("Option flips", figures.option_flips), figure("Right", figures.right),
        element("div", { class: "most" }, element("dt", {}, "Flips most"),
          element("dd", {}, figures.flips_most === null ? "none"
            : [named(texts[figures.flips_most] ?? figures.flips_most), ` ${percent(figures.label_flips, 0)}`]))));
  }
}

function explained() {
  const item = (name, text) => element("div", {}, element("dt", {}, name), element("dd", {}, text));
  return element("details", {}, element("summary", {}, "What the figures mean"),
    element("dl", { class: "facts" },
      item("Flips", "Of all pairs of configurations, the share in which one answer is right and the other is not; the mean over labels, controls left out."),
      item("Option flips", "The same for the option chosen; no option is a choice of its own."),
      item("Right", "Share of right answers among those obtained, controls left out."),
      item("Flips most", "The label with the largest share of flips.")),
    element("p", { class: "small" }, "Configurations that send the same request count once. Answers at temperatures above 0 are drawn at random: a flip need not be due to the configuration, and a question that flips is no finding. What is, the report and “nongrata analyze” say."));
}

function figure(name, share) {
  const bar = element("span", { class: "bar-of" }, element("span", {}));
  bar.firstChild.style.width = `${100 * (share ?? 0)}%`;
  return element("div", {}, element("dt", {}, name), element("dd", {}, percent(share), bar));
}

function counting({ ready, current, done, trouble }) {
  if (trouble) return element("p", { class: "trouble" }, `The figures could not be counted: ${visible(trouble)}`);
  if (current) return null;
  const share = `${Math.floor(100 * done)} %`;
  return element("p", { class: "counting" }, ready
    ? `There are new answers: counting again, ${share}; the figures below are from before.`
    : `Still counting how much answers flip, ${share}: until then questions stand in the study's order, and no outcome is filtered.`);
}

function pages({ page, pages: all }) {
  if (all < 2) return null;
  const link = (number, text, rel) =>
    number < 1 || number > all ? element("span", { class: "off" }, text)
      : element("a", { href: listHref({ page: number }), rel }, text);
  const jump = element("input", { type: "number", min: 1, max: all, value: page, "aria-label": "Page",
    onchange: (event) => go(listHref({ page: event.target.value })) });
  return element("nav", { class: "pages", "aria-label": "Pages" },
    link(page - 1, "Previous page", "prev"), element("span", {}, jump, ` of ${count(all)}`),
    link(page + 1, "Next page", "next"));
}
