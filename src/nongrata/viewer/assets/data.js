// What the server says, asked for once and remembered while it stays true.

/** Ask one address of the server; an error is a sentence. */
export async function ask(path, parameters = new URLSearchParams()) {
  const query = parameters.toString();
  const response = await fetch(query ? `${path}?${query}` : path, { credentials: "omit" });
  let found;
  try {
    found = await response.json();
  } catch {
    throw new Error(`the server said ${response.status}`);
  }
  if (found.error) throw new Error(found.error);
  return found;
}

/** Whatever is asked for last wins: earlier answers that come late are dropped. */
export class Newest {
  #turn = 0;

  async of(promise) {
    const turn = ++this.#turn;
    const found = await promise;
    return turn === this.#turn ? found : null;
  }
}
