// What is folded on narrow screens; the section in view is marked in the table of contents.
const contents = (() => {
  const WIDE = matchMedia("(min-width: 75rem)");
  const nav = document.getElementById("contents");
  const fold = nav.querySelector("details");
  const bar = document.querySelector("form.bar > details");
  const FITS = matchMedia("(min-width: 48rem)");
  const links = [...nav.querySelectorAll("a")];

  function mark(id) {
    for (const link of links) {
      if (link.hash === `#${id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  function start() {
    for (const [details, query] of [[fold, WIDE], [bar, FITS]]) {
      details.open = query.matches;
      query.addEventListener("change", () => (details.open = query.matches));
    }
    nav.addEventListener("click", ({ target }) => {
      if (target.closest("a") && !WIDE.matches) fold.open = false;
    });
    const inView = new Set();
    const sections = [...document.querySelectorAll("main > section")];
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) inView.add(target);
          else inView.delete(target);
        }
        const first = sections.find((section) => inView.has(section));
        if (first) mark(first.id);
      },
      { rootMargin: "-15% 0px -70% 0px" },
    );
    for (const section of sections) watcher.observe(section);
  }

  return { start };
})();
