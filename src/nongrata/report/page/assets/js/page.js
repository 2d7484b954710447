// What the page was given, and a helper to make elements: texts only, never markup.
const page = (() => {
  const given = JSON.parse(document.getElementById("data").textContent);

  function say(english, values = {}) {
    const template = given.words[english] ?? english;
    return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function announce(text) {
    document.getElementById("status").textContent = text;
  }

  // charts and their data are packed: base64 of gzip of JSON
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  return { given, unpacked, say, element, announce };
})();
