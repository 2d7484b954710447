// Everything that is selected stands in the address, so that a link opens the same view.

const LIST = ["model", "search", "source", "domain", "outcome", "sort", "order", "page"];
const listeners = [];

/** The parameters of the address as it is. */
export function here() {
  return new URLSearchParams(location.search);
}

/** Which view the address names. */
export function view() {
  return location.pathname === "/question" ? "question" : "list";
}

/** Call back when the address has changed, by a link, a control or the browser's buttons. */
export function onMove(listener) {
  listeners.push(listener);
}

/** Go to an address; `replace` leaves no step to go back to. */
export function go(href, { replace = false } = {}) {
  if (href !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", href);
  }
  for (const listener of listeners) listener();
}

/** Change parameters of the address: a value, several, or null for none. */
export function set(changes, options) {
  const query = here();
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== "") query.append(name, one);
    }
  }
  go(href(location.pathname, query), options);
}

/** The address of the list as it was left. */
export function listHref(changes = {}) {
  return href("/", listQuery(changes));
}

/** The address of a question, with the list it was found in. */
export function questionHref(id, more = {}) {
  const query = listQuery();
  query.set("id", id);
  for (const [name, value] of Object.entries(more)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one);
  }
  return href("/question", query);
}

/** The parameters that choose and order a list. */
export function listQuery(changes = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of here()) {
    if (LIST.includes(name)) query.set(name, value);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  return query;
}

function href(path, query) {
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

window.addEventListener("popstate", () => {
  for (const listener of listeners) listener();
});

// links inside the page change the view without loading it again
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target) return;
  const target = new URL(link.href);
  if (target.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(target.pathname + target.search);
  document.getElementById("main").focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
