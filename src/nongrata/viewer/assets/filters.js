// Which labels, configurations and outcomes of a question are shown.

import { here, set } from "./address.js";
import { element, named, oneLine } from "./dom.js";
import { FATES } from "./fates.js";

/** Places of what an address chooses; nothing chosen means all. */
export function shownOf(page, overview, query) {
  const labels = query.getAll("label");
  const levels = query.getAll("level");
  const outcomes = query.getAll("only").filter((name) => page.outcomes.includes(name));
  const places = (array, keep) => array.flatMap((item, i) => (keep(item) ? [i] : []));
  return {
    personas: places(page.personas, (id) => !labels.length || labels.includes(id)),
    configurations: places(page.configurations, (ids) => overview.factors.every((factor, f) => {
      const wanted = levels.filter((name) => name.startsWith(`${factor.name}:`));
      return !wanted.length || wanted.includes(`${factor.name}:${ids[f]}`);
    })),
    outcomes,
    marks: query.get("marks") === "options" ? "options" : "signs",
  };
}

/** The controls for it. */
export function filters(place, page, overview, query) {
  const open = new Set([...place.querySelectorAll("details[open]")].map((one) => one.dataset.name));
  const active = document.activeElement?.closest("#filters") ? document.activeElement.dataset.key : null;
  place.replaceChildren(
    element("div", { class: "controls" },
      element("label", {}, "Cells show ", select("marks", [["", "right or wrong"], ["options", "option chosen (A: the source’s first)"]], query)),
      overview.replicates > 1 ? element("label", {}, "Replicate ", select("replicate",
        Array.from({ length: overview.replicates }, (_, i) => [i ? String(i) : "", String(i + 1)]), query)) : null),
    element("div", { class: "choices" },
      group("label", "Labels", overview.personas.map((persona) => [persona.id, persona.text ?? persona.id]), "label", (id) => id, query),
      overview.factors.map((factor) => group(`level ${factor.name}`, factor.name,
        factor.levels.map((level) => [level, level]), "level", (id) => `${factor.name}:${id}`, query)),
      group("only", "Highlight", page.outcomes.map((name) => [name, `${FATES[name].sign} ${FATES[name].word}`]), "only", (id) => id, query)));
  for (const one of place.querySelectorAll("details")) one.open = open.has(one.dataset.name);
  if (active) [...place.querySelectorAll("[data-key]")].find((one) => one.dataset.key === active)?.focus();
}

function select(name, options, query) {
  const made = element("select", { "data-key": name, onchange: (event) => set({ [name]: event.target.value || null }) },
    options.map(([value, text]) => element("option", { value }, text)));
  made.value = query.get(name) ?? "";
  return made;
}

function group(name, title, options, parameter, valueOf, query) {
  const chosen = query.getAll(parameter).filter((value) => options.some(([id]) => valueOf(id) === value));
  const change = (id, on) => {
    const others = here().getAll(parameter).filter((value) => !chosen.includes(value));
    const mine = options.map(([one]) => valueOf(one)).filter((value) => (value === valueOf(id) ? on : chosen.includes(value)));
    set({ [parameter]: [...others, ...mine] });
  };
  const clear = () => set({ [parameter]: here().getAll(parameter).filter((value) => !chosen.includes(value)) });
  return element("details", { class: "choice", "data-name": name },
    element("summary", {}, named(title), chosen.length ? ` (${chosen.length} of ${options.length})` : " (all)"),
    element("fieldset", {}, element("legend", { class: "visually-hidden" }, oneLine(title)),
      options.map(([id, text]) => element("label", {}, element("input", { type: "checkbox", "data-key": `${name} ${id}`,
        checked: chosen.includes(valueOf(id)), onchange: (event) => change(id, event.target.checked) }), " ", named(text))),
      chosen.length ? element("button", { type: "button", "data-key": `${name} all`, onclick: clear }, "Show all") : null));
}
