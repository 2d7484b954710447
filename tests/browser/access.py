"""Who can use a page: what axe-core finds, and what the Tab key reaches."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
GRAVE = {"serious", "critical"}

# the next stop is the first of the page, wherever one has clicked before
_BEFORE_ALL = """
() => {
  const start = document.createElement("span");
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus();
  start.remove();
  window.scrollTo(0, 0);
}
"""

_MARK = """
() => {
  const sought = "a[href], button, select, input, textarea, summary, [tabindex], canvas[role]";
  const group = new Set();
  let count = 0;
  for (const each of document.querySelectorAll(sought)) {
    if (each.tabIndex < 0 || each.disabled || each.type === "hidden") continue;
    if (!each.checkVisibility({ visibilityProperty: true })) continue;
    if (each.type === "radio") {  // a group is one stop
      if (group.has(each.name)) continue;
      group.add(each.name);
    }
    each.dataset.stop = String(count++);
  }
  return count;
}
"""

_FOCUSED = """
() => {
  const look = (each) => {
    const style = getComputedStyle(each);
    return [style.outlineStyle, style.outlineWidth, style.outlineColor, style.boxShadow,
      style.backgroundColor, style.borderColor, style.textDecorationLine].join("|");
  };
  const before = window.focusedBefore;
  const result = { lookless: "", covered: "", stop: null, name: "" };
  if (before && before.look === look(before.element)) result.lookless = before.name;
  const element = document.activeElement;
  if (!element || element === document.body) { window.focusedBefore = null; return result; }
  const name = `${element.tagName.toLowerCase()}#${element.id}.${element.className} `
    + (element.textContent ?? "").trim().slice(0, 40);
  window.focusedBefore = { element, name, look: look(element) };
  const box = element.getBoundingClientRect();
  const points = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.9], [0.1, 0.9], [0.9, 0.1]];
  const seen = points.some(([x, y]) => {
    const there = document.elementFromPoint(box.x + x * box.width, box.y + y * box.height);
    return there && (element.contains(there) || there.contains(element));
  });
  return {
    ...result, stop: element.dataset.stop ?? null, name, covered: seen ? "" : name,
  };
}
"""


def violations(page: Page, within: str | None = None) -> list[str]:
    """Serious and critical violations that axe-core finds, one line each.

    Parameters
    ----------
    page
        The page.
    within
        A selector: look only there.
    """
    # evaluated, not added as an element, which the page's own policy would refuse
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        """async ([within, tags]) => (await axe.run(within ?? document, {
          runOnly: { type: "tag", values: tags }, resultTypes: ["violations"],
        })).violations""",
        [within, STANDARDS],
    )
    return [
        f"{each['impact']} {each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"][:5]
    ]


def faults_of_tab_walk(page: Page) -> list[str]:
    """Walk through a page with the Tab key: what is never reached, or reached without a sign.

    Every stop must come once, show that it is the one, and not lie under something else.
    """
    faults: list[str] = []
    page.evaluate(_BEFORE_ALL)
    expected: int = page.evaluate(_MARK)
    reached: list[str] = []
    for _ in range(expected + 5):
        page.keyboard.press("Tab")
        now = page.evaluate(_FOCUSED)
        if now["lookless"]:
            faults.append(f"focus cannot be seen: {now['lookless']}")
        if now["covered"]:
            faults.append(f"focus is covered: {now['covered']}")
        if now["stop"] is None:
            if now["name"]:
                faults.append(f"a stop that was not there before: {now['name']}")
                continue
            break
        if now["stop"] in reached:
            break
        reached.append(now["stop"])
    missed = [
        page.locator(f'[data-stop="{stop}"]').evaluate("each => each.outerHTML.slice(0, 120)")
        for stop in map(str, range(expected))
        if stop not in reached
    ]
    return faults + [f"never reached: {each}" for each in missed]
