"""What can be seen of a page: charts that are drawn, widths, ink on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from playwright.sync_api import Locator, Page

CHARTS = "[data-chart]"
"""The elements that a chart is drawn in."""

_DRAWN = """
(element) => {
  const canvas = element.querySelector("canvas");
  if (!canvas) {
    const marks = element.querySelectorAll("svg :is(path, rect, text)");
    return { colours: 0, ink: 0, marks: marks.length };
  }
  // a copy, for reading a canvas slows it down for good
  const copy = new OffscreenCanvas(Math.max(canvas.width, 1), Math.max(canvas.height, 1));
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(
    context.getImageData(0, 0, copy.width, copy.height).data.buffer
  );
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return {
    colours: counts.size, ink: 1 - Math.max(...counts.values()) / pixels.length, marks: 0,
  };
}
"""


def draw(chart: Locator) -> None:
    """Scroll to a chart and wait until it is drawn."""
    chart.scroll_into_view_if_needed()
    chart.locator("canvas, svg").first.wait_for(state="visible", timeout=20_000)


def fault_of_chart(chart: Locator) -> str:
    """Why a chart is not drawn; empty if it is: it has ink, in more colours than axes need."""
    draw(chart)
    seen = chart.evaluate(_DRAWN)
    if seen["marks"] > 10:
        return ""
    if seen["colours"] < 8:
        return f"only {seen['colours']} colours"
    return "" if seen["ink"] > 0.005 else f"only {seen['ink']:.2%} ink"


def faults_of_charts(page: Page) -> dict[str, str]:
    """What is wrong with each chart of a page that can be seen, by the chart's name."""
    charts = [chart for chart in page.locator(CHARTS).all() if chart.is_visible()]
    faults = {str(chart.get_attribute("data-chart")): fault_of_chart(chart) for chart in charts}
    return {name: fault for name, fault in faults.items() if fault}


def overflow(page: Page) -> list[str]:
    """What sticks out to the right of a page that must not scroll sideways; empty if all fits."""
    found: list[str] = page.evaluate(
        """() => {
          const root = document.scrollingElement;
          if (root.scrollWidth <= root.clientWidth) return [];
          const wide = [...document.body.querySelectorAll("*")].filter(
            (each) => each.getBoundingClientRect().right > root.clientWidth + 1
              && !each.parentElement.closest(".scroll, [style*=overflow]")
          );
          return [`${root.scrollWidth} > ${root.clientWidth}`].concat(
            wide.slice(0, 5).map((each) => `${each.tagName}#${each.id}.${each.className}`)
          );
        }"""
    )
    return found


def paper(page: Page, scale: float = 0.5) -> list[NDArray[np.uint8]]:
    """The pages that printing a report on A4 gives, as grey images."""
    import pypdfium2

    page.locator("html[data-ready]").wait_for(state="attached")
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    with pypdfium2.PdfDocument(printed) as document:
        return [
            sheet.render(scale=scale, grayscale=True).to_numpy().squeeze().copy()
            for sheet in document
        ]


def ink(sheet: NDArray[np.uint8]) -> float:
    """Share of a sheet that is not paper."""
    return float((sheet < 200).mean())
