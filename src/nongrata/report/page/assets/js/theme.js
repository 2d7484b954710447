// Light, dark, or what the system wants; a chart is drawn in the theme of the moment.
const theme = (() => {
  const KEY = "nongrata-theme";
  const select = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = new EventTarget();

  function stored() {
    try {
      return sessionStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function store(name) {
    try {
      sessionStorage.setItem(KEY, name);
    } catch {
      // a local file may keep nothing
    }
  }

  function current() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ?? (system.matches ? "dark" : "light");
  }

  function choose(name) {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    changed.dispatchEvent(new Event("change"));
  }

  function start() {
    const name = stored();
    if (name === "light" || name === "dark") {
      select.value = name;
      document.documentElement.dataset.theme = name;
    }
    select.addEventListener("change", () => {
      store(select.value);
      choose(select.value);
    });
    system.addEventListener("change", () => changed.dispatchEvent(new Event("change")));
  }

  return { start, current, changed };
})();
