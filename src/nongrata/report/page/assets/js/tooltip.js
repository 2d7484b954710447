// The tooltip of charts: a small list of names and values beside the pointer.
const tooltip = (() => {
  const box = page.element("div", { id: "tooltip", hidden: "", "aria-hidden": "true" });
  document.body.append(box);

  function filled(value) {
    if (typeof value !== "object") return [String(value)];
    const list = page.element("dl");
    for (const [name, text] of Object.entries(value)) {
      const shown = page.element("bdi", {}, text === null ? "–" : String(text));
      list.append(
        page.element("div", {}, page.element("dt", {}, name), page.element("dd", {}, shown)),
      );
    }
    return [list];
  }

  // beside a point, inside the window
  function put(panel, x, y) {
    const { offsetWidth: width, offsetHeight: height } = panel;
    const left = Math.min(x + 14, innerWidth - width - 8);
    const below = y + 18 + height < innerHeight;
    panel.style.left = `${Math.max(8, left)}px`;
    panel.style.top = `${below ? y + 18 : Math.max(8, y - height - 10)}px`;
  }

  function show(handler, event, item, value) {
    if (value === null || value === undefined || value === "") {
      box.hidden = true;
      return;
    }
    box.replaceChildren(...filled(value));
    box.hidden = false;
    put(box, event.clientX, event.clientY);
  }

  return { show, put };
})();
