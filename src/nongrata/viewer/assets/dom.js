// Elements and texts. Whatever comes from a run is put in as text, never as markup.

const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}\\ud800-\\udfff]",
  "gu",
);

/** How a character that cannot be seen is written: \x1b, \u202e, \U000e0041. */
function escapeOf(character) {
  const code = character.codePointAt(0);
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}

/** A text in which control, bidi and other invisible characters are written as escapes. */
export function visible(text) {
  return text.replace(HIDDEN, escapeOf);
}

/** The same on one line. */
export function oneLine(text) {
  return visible(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

/** Append a text whose invisible characters stand out as escapes. */
export function appendVisible(parent, text) {
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    parent.append(text.slice(at, match.index));
    parent.append(element("span", { class: "escape", title: "an invisible character" }, escapeOf(match[0])));
    at = match.index + match[0].length;
  }
  parent.append(text.slice(at));
  return parent;
}

/** An element with attributes, listeners (functions named on...) and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, children);
  return made;
}

/** Give an element its children, in any nesting; nothing stands for none. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

/** A run's own text on one line, kept apart from the direction of what stands around it. */
export function named(text) {
  return appendVisible(element("bdi"), text.replace(/\n/g, " "));
}

/** A run's own text as it is, line by line. */
export function block(text, marks = [], label = null) {
  const pre = element("pre", { class: "text", role: "group", "aria-label": label });
  let at = 0;
  for (const { start, end, kind, title } of marks) {
    appendVisible(pre, text.slice(at, start));
    pre.append(appendVisible(element("mark", { class: kind, title }), text.slice(start, end)));
    at = end;
  }
  appendVisible(pre, text.slice(at));
  if (text === "") pre.append(element("span", { class: "empty" }, "(empty)"));
  // what scrolls must be reached by Tab, what does not need not
  requestAnimationFrame(() => pre.scrollHeight > pre.clientHeight && pre.setAttribute("tabindex", "0"));
  return pre;
}

/** Say something to a reader who listens. */
export function announce(sentence) {
  document.getElementById("status").textContent = sentence;
}

/** A share as a percentage: 12.5 %. */
export function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
}

/** A whole number with separated thousands. */
export function count(number) {
  return number.toLocaleString("en");
}
