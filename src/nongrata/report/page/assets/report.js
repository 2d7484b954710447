const stored = JSON.parse(document.getElementById("data").textContent);

function rows(name) {
  const columns = Object.entries(stored.data[name]);
  const length = columns.length ? columns[0][1].values.length : 0;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(columns.map(([key, column]) => [key, column.values[i]])));
}

for (const place of document.querySelectorAll("[data-chart]")) {
  const { spec } = stored.charts[place.dataset.chart];
  const names = JSON.stringify(spec).matchAll(/"data":\{"name":"([^"]+)"/g);
  const datasets = Object.fromEntries([...names].map(([, name]) => [name, rows(name)]));
  vegaEmbed(place, { ...spec, datasets }, {
    actions: false, renderer: "canvas", config: stored.themes.light,
  });
}
