// The fragment of the address: a place and what is chosen, as in #ranks&model=a&domain=law.
const address = (() => {
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function read() {
    const parts = location.hash.slice(1).split("&").filter(Boolean);
    const place = parts.length && !parts[0].includes("=") ? decoded(parts.shift()) : "";
    const chosen = {};
    for (const part of parts) {
      const cut = part.indexOf("=");
      if (cut > 0) chosen[decoded(part.slice(0, cut))] = decoded(part.slice(cut + 1));
    }
    return { place, chosen };
  }

  function write(place, chosen) {
    const pairs = Object.entries(chosen).map((pair) => pair.map(encodeURIComponent).join("="));
    const fragment = "#" + [encodeURIComponent(place), ...pairs].filter(Boolean).join("&");
    if (fragment === (location.hash || "#")) return;
    try {
      history.replaceState(null, "", fragment);
    } catch {
      // a browser that lets a local file keep no state shows the page all the same
    }
  }

  return { read, write };
})();
