// On paper every chart that is not filtered out is there, as a drawing of lines, in light colours.
const printing = (() => {
  const WIDTH = 660;
  let removers = [];

  async function draw(place) {
    const copy = page.element("div", { class: "printed", style: `width: ${WIDTH}px` });
    place.after(copy);
    removers.push(() => copy.remove());
    const config = page.given.themes.light;
    const spec = charts.specification(place.dataset.chart);
    const result = await charts.embed(copy, spec, { config, renderer: "svg" });
    removers.push(() => result.finalize());
    await charts.tell(result, charts.settings(place.dataset.chart));
  }

  function start() {
    // nothing in drawing waits for a timer or a network, so all of it is done before the page is
    // laid out for paper
    addEventListener("beforeprint", () => {
      if (!document.documentElement.dataset.ready) return; // no data yet: tables alone are printed
      for (const place of charts.places()) {
        if (charts.isVisible(place) && place.dataset.state !== "failed") draw(place).catch(console.error);
      }
    });
    addEventListener("afterprint", () => {
      for (const remove of removers) remove();
      removers = [];
    });
    document.getElementById("print").addEventListener("click", () => print());
  }

  return { start };
})();
