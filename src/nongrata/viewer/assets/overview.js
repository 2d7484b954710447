// What the run is.

import { count, element, named, percent } from "./dom.js";

export function overviewPart(overview) {
  const labels = overview.personas.filter((persona) => !persona.control).length;
  const controls = overview.personas.length - labels;
  const design = [
    `${count(labels)} labels and ${count(controls)} controls`,
    `${count(overview.configurations)} configurations`,
    overview.replicates > 1 ? `${count(overview.replicates)} replicates` : null,
    `${count(overview.questions)} questions`,
    `${count(overview.answers_in_all)} answers per model`,
  ].filter((part) => part !== null);
  return element("section", { class: "overview", "aria-labelledby": "title" },
    element("h1", { id: "title" }, named(overview.title)),
    overview.note ? element("p", {}, named(overview.note)) : null,
    element("p", { class: "design" }, design.join(" · ")),
    element("details", {}, element("summary", {}, "Design and models"),
      element("dl", { class: "facts" },
        overview.factors.map((factor) => fact([named(factor.name)],
          factor.levels.flatMap((level, i) => [i ? ", " : null, named(level)]))),
        fact("Labels", overview.personas.flatMap((persona, i) => [i ? ", " : null,
          named(persona.text ?? persona.id), persona.control ? " (control)" : null])),
        overview.models.map((model) => fact([named(model.id)], progress(model))))),
    overview.models.filter((model) => model.stored < model.in_all).map((model) =>
      element("p", { class: "unfinished" }, named(model.id), ": not finished, ", progress(model), ". Load the page again to see more.")));
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function progress(model) {
  const share = model.in_all ? model.stored / model.in_all : 1;
  return `${count(model.stored)} of ${count(model.in_all)} forward passes (${percent(share)})${model.simulated ? ", simulated" : ""}`;
}
