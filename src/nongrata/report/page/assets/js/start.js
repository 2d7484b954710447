// Everything begins here; what needs no filter comes before the filter is applied.
for (const part of [
  theme, sorting, folding, copying, inspector, contents, saving, printing, filters,
]) {
  part.start();
}
await charts.start();
document.documentElement.dataset.ready = "true";
