// Charts: drawn when they come near the window, told what is chosen, drawn anew in a new theme.
const charts = (() => {
  const NEAR = "700px";
  const shown = new Map(); // place -> what vegaEmbed returned
  const chosen = {};
  let given = { charts: {}, data: {} };
  const refuse = () => Promise.reject(new Error("a report loads nothing"));
  const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

  const places = () => [...document.querySelectorAll("[data-chart]")];
  const isVisible = (place) => place.getClientRects().length > 0;

  function rows(name) {
    const columns = Object.entries(given.data[name]).map(([field, { values, names, at }]) => [
      field,
      values ?? at.map((place) => names[place]),
    ]);
    const length = columns.length ? columns[0][1].length : 0;
    return Array.from({ length }, (_, row) =>
      Object.fromEntries(columns.map(([field, values]) => [field, values[row]])),
    );
  }

  function specification(id, isTitled = false) {
    const { spec, title, data } = given.charts[id];
    const head = isTitled ? { title: { text: title, anchor: "start" } } : {};
    // each drawing gets rows of its own: Vega writes into them
    return { ...spec, ...head, datasets: Object.fromEntries(data.map((name) => [name, rows(name)])) };
  }

  function embed(element, spec, options) {
    return vegaEmbed(element, spec, {
      mode: "vega-lite",
      actions: false,
      ast: true, // expressions are interpreted, never compiled: the page allows no eval
      defaultStyle: false,
      loader,
      formatLocale: page.given.locale,
      tooltip: tooltip.show,
      renderer: "canvas",
      config: page.given.themes[theme.current()],
      bind: page.element("div"), // nowhere, but where the chart itself is drawn
      ...options,
    });
  }

  // sets those of the values that a chart has a parameter for
  function tell(result, values = chosen) {
    const known = new Set((result.vgSpec.signals ?? []).map((signal) => signal.name));
    const news = Object.entries(values).filter(([name]) => known.has(name));
    for (const [name, value] of news) result.view.signal(name, value);
    return news.length ? result.view.runAsync() : null;
  }

  // what a reader has set at a chart's own inputs, and what is chosen for the whole page
  function settings(id) {
    const result = shown.get(document.querySelector(`[data-chart="${id}"]`));
    const bound = (given.charts[id].spec.params ?? []).filter((param) => param.bind);
    const own = result ? bound.map(({ name }) => [name, result.view.signal(name)]) : [];
    return { ...chosen, ...Object.fromEntries(own) };
  }

  async function draw(place) {
    if (place.dataset.state === "drawing") return;
    place.dataset.state = "drawing";
    try {
      const id = place.dataset.chart;
      const set = settings(id);
      const bind = document.getElementById(`${id}-controls`);
      shown.get(place)?.finalize();
      place.replaceChildren();
      bind.replaceChildren();
      const result = await embed(place, specification(id), { bind });
      shown.set(place, result);
      await tell(result, set);
      place.dataset.state = "drawn";
    } catch (error) {
      fail(place, error);
    }
  }

  function fail(place, error) {
    place.dataset.state = "failed";
    place.textContent = page.say("This chart could not be drawn.");
    console.error(place.dataset.chart, error);
  }

  // tells charts of a choice: a parameter of that name gets the value, empty for all
  function choose(name, value) {
    if ((chosen[name] ?? "") === value) return; // its own default stands until something is chosen
    chosen[name] = value;
    for (const result of shown.values()) tell(result);
  }

  async function start() {
    try {
      given = await page.unpacked(page.given.packed);
    } catch (error) {
      for (const place of places()) fail(place, error);
      return;
    }
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting && !target.dataset.state) draw(target);
        }
      },
      { rootMargin: NEAR },
    );
    for (const place of places()) watcher.observe(place);
    theme.changed.addEventListener("change", () => {
      for (const place of places()) {
        if (place.dataset.state === "drawn" && isVisible(place)) draw(place);
        else if (place.dataset.state === "drawn") forget(place);
      }
    });
    // a hidden chart has no width: it is drawn anew when it is seen again
    function forget(place) {
      shown.get(place)?.finalize();
      shown.delete(place);
      place.replaceChildren();
      delete place.dataset.state;
      watcher.unobserve(place);
      watcher.observe(place);
    }
  }

  return { start, choose, embed, specification, settings, places, isVisible, tell };
})();
