// A chart as a file: always light and on white, with its title, as it is shown now.
const saving = (() => {
  const WIDTH = 760;

  async function drawn(id) {
    const apart = page.element("div", { class: "apart", style: `width: ${WIDTH}px` });
    document.body.append(apart);
    const spec = charts.specification(id, true);
    const config = { ...page.given.themes.light, background: "white" };
    const result = await charts.embed(apart, spec, { config, renderer: "svg" });
    await charts.tell(result, charts.settings(id));
    return { view: result.view, remove: () => (result.finalize(), apart.remove()) };
  }

  async function save(id, kind) {
    const { view, remove } = await drawn(id);
    try {
      const href =
        kind === "svg"
          ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
          : await view.toImageURL("png", 3);
      page.element("a", { href, download: `${id}.${kind}` }).click();
      if (kind === "svg") setTimeout(() => URL.revokeObjectURL(href), 10_000);
    } finally {
      remove();
    }
  }

  function start() {
    for (const button of document.querySelectorAll("button.save")) {
      const id = button.closest(".tools").dataset.for;
      button.addEventListener("click", () => save(id, button.dataset.as));
    }
  }

  return { start };
})();
