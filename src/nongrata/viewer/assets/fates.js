// What can have become of an answer: a sign, a word and a colour each.

export const FATES = {
  right: { sign: "✓", word: "right" },
  wrong: { sign: "✗", word: "wrong" },
  unparsed: { sign: "?", word: "unparsed" },
  refused: { sign: "⊘", word: "refused" },
  truncated: { sign: "…", word: "truncated" },
  error: { sign: "!", word: "error" },
  missing: { sign: "·", word: "not obtained" },
};

/** What became of one answer as the server describes it. */
export function fateOf(answer) {
  if (answer.outcome === null) return "missing";
  if (answer.outcome !== "answered") return answer.outcome;
  return answer.correct ? "right" : "wrong";
}
