// Where two texts differ, word by word.

const MOST = 4e6;

/** Stretches of `one` that `other` has not, as [start, end] positions. */
export function differing(one, other) {
  const a = words(one);
  const b = words(other);
  let head = 0;
  while (head < a.length && head < b.length && a[head].text === b[head].text) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head &&
    a[a.length - 1 - tail].text === b[b.length - 1 - tail].text) tail++;
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const kept = left.length * right.length > MOST ? new Set() : common(left, right);
  const found = [];
  left.forEach((word, i) => {
    if (kept.has(i)) return;
    const last = found.at(-1);
    if (last && last[1] === word.start) last[1] = word.end;
    else found.push([word.start, word.end]);
  });
  return found;
}

function words(text) {
  return [...text.matchAll(/\s+|[\p{L}\p{N}_]+|./gsu)].map((match) => ({
    text: match[0], start: match.index, end: match.index + match[0].length,
  }));
}

/** Places in `a` of a longest common subsequence. */
function common(a, b) {
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i].text === b[j].text
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  const kept = new Set();
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i].text === b[j].text) { kept.add(i); i++; j++; }
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i++;
    else j++;
  }
  return kept;
}
