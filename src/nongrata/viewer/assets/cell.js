// One cell: the answer, how it was read, its probabilities, the prompt as sent, where it is kept.

import { questionHref } from "./address.js";
import { differing } from "./diff.js";
import { announce, block, count, element, named, oneLine, percent } from "./dom.js";
import { FATES, fateOf } from "./fates.js";
import { RULES, WHY_NOT } from "./rules.js";

/** Everything about one cell; differences from the `other` one are marked. */
export function cellPart(cell, other, overview, { first, right, pair, close }) {
  const { answer } = cell;
  const persona = overview.personas.find((one) => one.id === answer.persona);
  const id = first ? "cell-one" : "cell-two";
  return element("article", { class: "cell", "aria-labelledby": id },
    element("header", {},
      element("h3", { id }, named(persona?.text ?? answer.persona)),
      pair === null ? null : element("button", { type: "button", class: "pair", onclick: pair }, "Compare with another cell"),
      element("button", { type: "button", class: "close", "aria-label": `Close ${oneLine(persona?.text ?? answer.persona)}`, onclick: close }, "Close")),
    element("p", { class: "tags" }, Object.entries(answer.levels).map(([factor, level]) =>
      element("span", { class: other && other.answer.levels[factor] !== level ? "tag differs" : "tag" }, named(factor), " ", named(level))),
      overview.replicates > 1 ? element("span", { class: "tag" }, `replicate ${answer.replicate + 1}`) : null),
    verdict(cell),
    cell.same_as === null ? null : element("p", {}, "The same request as ",
      element("a", { href: questionHrefOf(cell) }, "an earlier configuration"), ": it was sent once, and both have its answer."),
    answer.error === null ? null : [element("h4", {}, "What went wrong"), block(answer.error, [], "Error")],
    answer.text === null ? null : written(cell),
    reading(cell),
    answer.label_probabilities === null ? null : probabilities(cell, right),
    prompt(cell, other),
    kept(cell));
}

function questionHrefOf(cell) {
  return questionHref(new URLSearchParams(location.search).get("id"), { cell: cell.same_as });
}

function verdict({ answer }) {
  const fate = fateOf(answer);
  return element("p", { class: "verdict" }, element("span", { class: `sign ${fate}`, "aria-hidden": "true" }, FATES[fate].sign),
    " ", element("strong", {}, FATES[fate].word),
    answer.label === null ? null : [": label ", named(answer.label), ", ", named(answer.choice)]);
}

function written({ answer, trace }) {
  const marks = trace?.text_start == null ? []
    : [{ start: trace.text_start, end: trace.text_end, kind: "decided", title: `rule ${trace.rule}` }];
  return [heading("Answer as written", answer.text), block(answer.text, points(answer.text, marks), "Answer as written")];
}

function reading({ answer, trace, offered }) {
  if (answer.rule === null) return null;
  const parts = [element("h4", {}, "How it was read"),
    element("p", {}, "Rule ", element("code", {}, answer.rule), `: ${RULES[answer.rule] ?? "a rule of another version"}.`)];
  if (trace === null) return parts;
  if (trace.rule !== answer.rule) {
    parts.push(element("p", { class: "trouble" }, "This version reads the text differently: rule ", element("code", {}, trace.rule), ". What was stored stands above."));
  }
  if (trace.thinking) parts.push(element("p", {}, "Thinking, or what follows the end of the turn, was left out."));
  const marks = trace.start === null ? [] : [{ start: trace.start, end: trace.end, kind: "decided", title: `rule ${trace.rule}` }];
  const decided = trace.start === null ? "The text as a whole decided." : "The marked place decided.";
  if (trace.seen === answer.text) parts.push(element("p", {}, `${decided} The parser saw the text as it stands above.`));
  else parts.push(element("p", {}, `${decided} The parser saw:`), block(trace.seen, points(trace.seen, marks), "What the parser saw"));
  const others = trace.declarations.filter((one) => one.why_not);
  if (others.length) {
    parts.push(element("p", {}, "Looked like declarations too:"), element("ul", { class: "declarations" }, others.map((one) =>
      element("li", {}, named(slice(trace.seen, one)), ` – rule ${one.rule}`,
        one.option === null ? null : [", option ", named(offered[one.option].label)], `: ${WHY_NOT[one.why_not] ?? RULES[one.why_not] ?? one.why_not}`))));
  }
  return parts;
}

/** Positions count characters; strings of this language count UTF-16 units. */
function points(text, marks) {
  if (!/[\ud800-\udbff]/.test(text)) return marks;
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return marks.map((mark) => ({ ...mark, start: starts[mark.start], end: starts[mark.end] }));
}

function slice(text, { start, end }) {
  const [place] = points(text, [{ start, end }]);
  return text.slice(place.start, place.end);
}

function probabilities({ answer, offered }, right) {
  const row = (label, text, share, isRight) => element("tr", {}, element("th", { scope: "row" }, label),
    element("td", {}, text), element("td", { class: "number" }, percent(share, 2), isRight ? " ✓" : ""),
    element("td", {}, bar(share)));
  const rows = offered.map(({ label, text, option }) =>
    row(named(label), named(text), answer.label_probabilities[label], option === right));
  const about = answer.reading === "free" ? "Probability of each label at the place that decided, given the text before it"
    : "Probability of each label under this configuration’s sampling";
  return [element("h4", {}, "Label probabilities"), element("table", { class: "probabilities" },
    element("caption", {}, about),
    element("thead", {}, element("tr", {}, ["Label", "Option", "Probability", "Bar"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows, row("other", "any other token", answer.outside, false))),
  element("p", { class: "small" }, `Largest error that unseen tokens can cause: ${bound(answer.bound)}.`)];
}

function bound(value) {
  return value < 1e-6 ? "less than 0.0001 points" : `${(100 * value).toPrecision(2)} points`;
}

function bar(share) {
  const made = element("span", { class: "bar-of wide", "aria-hidden": "true" }, element("span", {}));
  made.firstChild.style.width = `${100 * share}%`;
  return made;
}

function prompt(cell, other) {
  const turns = [["system", "System turn"], ["user", "User turn"], ["prefill", "Start of the assistant’s turn"]];
  return [element("h4", {}, "Prompt as sent"),
    other === null ? null : element("p", { class: "small" }, "Words that the other prompt has not are marked."),
    turns.filter(([name]) => name !== "prefill" || cell.answer.prefill || other?.answer.prefill).map(([name, title]) => {
      const text = cell.answer[name];
      const marks = other === null ? [] : differing(text, other.answer[name]).map(([start, end]) => ({ start, end, kind: "differs" }));
      return [heading(title, text, "h5"), block(text, marks, title)];
    })];
}

function heading(title, text, level = "h4") {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy as JSON: ${title}`, onclick: async () => {
    const json = JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    try {
      await navigator.clipboard.writeText(json);
      announce("Copied");
      button.textContent = "Copied";
    } catch {
      announce("This browser does not let the page copy");
    }
  } }, "Copy as JSON");
  return element("div", { class: "with-copy" }, element(level, {}, title), button);
}

function kept({ answer, stored, model }) {
  const facts = [["Model", answer.model + (model.simulated ? " (simulated)" : "")], ["Reading", answer.reading]];
  if (stored !== null) {
    facts.push(["Request key", stored.request], ["Shard", stored.shard]);
    if (stored.finish !== null) facts.push(["Ended", stored.finish === "length" ? "at the token limit" : "by itself"]);
    for (const [name, title] of [["prompt_tokens", "Prompt tokens"], ["cached_tokens", "of them cached"], ["completion_tokens", "Tokens written"]]) {
      if (stored[name] !== null) facts.push([title, count(stored[name])]);
    }
  }
  return element("details", {}, element("summary", {}, "Where it comes from"),
    element("dl", { class: "facts" }, facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, named(value))))),
    block(JSON.stringify(model.identity, null, 1), [], "Identity of the model"));
}
