// What is shown: blocks and rows about what is chosen, and those about nothing in particular.
const filters = (() => {
  const HIDING = ["model", "domain", "factor"];
  const selects = [...document.querySelectorAll("select[data-facet]")];
  const values = page.given.facets;
  const changed = new EventTarget();
  // several models side by side are more than a reader wants at first
  const initial = { model: (values.model ?? []).length > 1 ? values.model[0] : "" };
  const choice = {};

  const standard = (facet) => initial[facet] ?? "";
  const isOut = (element, facets) =>
    facets.some((facet) => {
      const about = element.dataset[facet];
      return about !== undefined && choice[facet] && about !== choice[facet];
    });

  function fill(select) {
    const facet = select.dataset.facet;
    const every = facet === "persona" ? page.say("nothing") : page.say("all");
    select.append(new Option(every, ""));
    for (const value of values[facet]) select.append(new Option(value, value));
    select.addEventListener("change", () => choose({ [facet]: select.value }));
  }

  // a row about a label says so, or is headed by its name
  const labelOf = (row) => row.dataset.persona ?? row.cells[0].textContent;

  function applyToTable(table) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const content = rows.filter((row) => !row.classList.contains("group"));
    for (const row of content) {
      row.toggleAttribute("data-out", isOut(row, HIDING));
      row.classList.toggle("picked", !!choice.persona && labelOf(row) === choice.persona);
    }
    return content.length > 0 && content.every((row) => row.hasAttribute("data-out"));
  }

  function apply() {
    const blocks = [...document.querySelectorAll(".block")];
    for (const block of blocks) {
      const tables = [...block.querySelectorAll("table")];
      const empty = tables.map(applyToTable);
      const nothing = block.classList.contains("table") && empty[0];
      block.toggleAttribute("data-out", isOut(block, HIDING) || nothing);
    }
    for (const facet of [...HIDING, "persona"]) charts.choose(facet, choice[facet] ?? "");
    for (const select of selects) select.value = choice[select.dataset.facet] ?? "";
    const hidden = blocks.filter((block) => block.hasAttribute("data-out")).length;
    const counts = { hidden, all: blocks.length };
    page.announce(
      hidden
        ? page.say("{hidden} of {all} blocks are hidden by the filter", counts)
        : page.say("all {all} blocks are shown", counts),
    );
    document.getElementById("chosen").textContent = inWords();
    changed.dispatchEvent(new Event("change"));
  }

  function inWords() {
    const templates = {
      model: "model {name}",
      domain: "domain {name}",
      factor: "factor {name}",
      persona: "label {name} is highlighted",
    };
    const parts = Object.entries(templates)
      .filter(([facet]) => choice[facet])
      .map(([facet, template]) => page.say(template, { name: choice[facet] }));
    return parts.length ? page.say("Shown here: {choice}.", { choice: parts.join("; ") }) : "";
  }

  function remember(place) {
    const told = Object.entries(choice).filter(([facet, value]) => value !== standard(facet));
    address.write(place, Object.fromEntries(told));
  }

  function choose(news, place = address.read().place) {
    Object.assign(choice, news);
    apply();
    remember(place);
  }

  // what a link asks for; a value that is not there is no choice
  function asked(chosen) {
    const known = Object.entries(chosen).filter(
      ([facet, value]) => values[facet] && (value === "" || values[facet].includes(value)),
    );
    return Object.fromEntries(known);
  }

  // a place that the filter hides is shown by choosing what it is about
  function neededFor(element) {
    const news = {};
    const block = element.closest(".block");
    for (const each of [block, element]) {
      for (const facet of HIDING) {
        const about = each?.dataset[facet];
        if (about !== undefined && choice[facet] && about !== choice[facet]) news[facet] = about;
      }
    }
    return news;
  }

  function go() {
    const { place, chosen } = address.read();
    Object.assign(choice, asked(chosen));
    const target = place ? document.getElementById(place) : null;
    choose(target ? neededFor(target) : {}, place);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
    target.scrollIntoView();
  }

  function start() {
    for (const select of selects) fill(select);
    for (const facet of [...HIDING, "persona"]) choice[facet] = standard(facet);
    document.querySelector("form.bar").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", go);
    go();
  }

  return { start, changed };
})();
