// Light or dark: as the system says, or as the reader says.

const KEY = "nongrata-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function startTheme(button) {
  let chosen = stored();
  const show = () => {
    const dark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // the choice then lasts as long as the page
    }
    show();
  });
  system.addEventListener("change", show);
  show();
}
