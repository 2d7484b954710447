"""Texts, generated side by side: each row draws with its own seed, and leaves when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nongrata.engines.hf_forward import KvRows, merged
from nongrata.engines.hf_prefixes import Tokens
from nongrata.engines.hf_readout import NOT_FINITE
from nongrata.engines.hf_runner import Runner, Text
from nongrata.engines.hf_sampling import Sampling, draw

_TOKENS_PER_ROW = 32
_WORTH_MOVING = 0.75


@dataclass(frozen=True, slots=True)
class Ask:
    """A text to be generated.

    Parameters
    ----------
    tokens
        The prompt.
    sampling
        How its tokens are drawn.
    limit
        Most tokens.
    stop
        Texts that end it.
    """

    tokens: Tokens
    sampling: Sampling
    limit: int
    stop: tuple[str, ...]


@dataclass(slots=True)
class Row:
    """A text in the making.

    Parameters
    ----------
    number
        Which of the texts asked for.
    ask
        What was asked.
    cached
        Tokens of the prompt that had been computed before.
    tokens
        Tokens drawn; the one that ended the text is the last.
    text
        The text so far, or the finished one.
    done, truncated, error
        Whether it is finished, whether the limit ended it, why there is none.
    """

    number: int
    ask: Ask
    cached: int = 0
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    done: bool = False
    truncated: bool = False
    error: str | None = None

    def add(self, token: int, ends: frozenset[int], spell: Callable[[Sequence[int]], str]) -> None:
        """Take a drawn token, and see whether it ends the text."""
        self.tokens.append(token)
        if token in ends:
            self.text = spell(self.tokens[:-1])
            self.done = True
        elif self.ask.stop or len(self.tokens) >= self.ask.limit:
            self.text = spell(self.tokens)
            at = [k for stop in self.ask.stop if stop and (k := self.text.find(stop)) >= 0]
            if at:
                self.text = self.text[: min(at)]
            self.truncated = not at and len(self.tokens) >= self.ask.limit
            self.done = bool(at) or self.truncated

    def fail(self, reason: str) -> None:
        """Give it up."""
        self.error, self.done = reason, True


def generated(
    runner: Runner,
    asks: Sequence[Ask],
    ends: frozenset[int],
    spell: Callable[[Sequence[int]], str],
) -> Iterator[Row]:
    """Generate texts, and yield each as it is finished.

    Parameters
    ----------
    runner
        Computes.
    asks
        What is asked for, each text once.
    ends
        Tokens that end a text.
    spell
        The text of tokens.
    """
    order = sorted(range(len(asks)), key=lambda i: (asks[i].tokens, asks[i].limit, i))
    at = 0
    while at < len(order):
        end = _chunk_end(runner, asks, order, at)
        yield from _chunk(runner, [Row(i, asks[i]) for i in order[at:end]], ends, spell)
        at = end


def _chunk_end(runner: Runner, asks: Sequence[Ask], order: Sequence[int], start: int) -> int:
    """Where the texts that are generated side by side end."""
    most = max(1, runner.batch_tokens // _TOKENS_PER_ROW)
    width = end = 0
    for end in range(start, len(order)):
        ask = asks[order[end]]
        width = max(width, len(ask.tokens) + ask.limit)
        rows = end - start + 1
        if rows > 1 and rows > min(most, runner.rows_at_once(2 * width)):
            return end
    return end + 1


def _chunk(
    runner: Runner,
    rows: list[Row],
    ends: frozenset[int],
    spell: Callable[[Sequence[int]], str],
) -> Iterator[Row]:
    import torch

    rows, kv, logits = _begun(runner, rows)
    device = runner.model.device
    while True:
        drawn = draw(
            logits, [row.ask.sampling for row in rows], [len(row.tokens) for row in rows]
        ).tolist()
        finite = torch.isfinite(logits.max(dim=1).values).tolist()
        for row, token, is_number in zip(rows, drawn, finite, strict=True):
            if row.done:
                continue
            if is_number:
                row.add(token, ends, spell)
            else:
                row.fail(NOT_FINITE)
            if row.done:
                yield row
        alive = [i for i, row in enumerate(rows) if not row.done]
        if not alive:
            return
        if len(alive) <= _WORTH_MOVING * len(rows):
            chosen = torch.tensor(alive, device=device)
            kv, rows = kv.take(chosen), [rows[i] for i in alive]
            drawn = [drawn[i] for i in alive]
        tokens = torch.tensor(drawn, device=device)[:, None]
        # those that are done are carried along for a while; nobody reads what they say
        place = [len(row.ask.tokens) + len(row.tokens) - 1 for row in rows]
        logits = runner.model.forward(kv, tokens, torch.tensor(place, device=device)[:, None])[:, 0]


def _begun(runner: Runner, rows: list[Row]) -> tuple[list[Row], KvRows, Any]:
    """The rows behind their prompts, each prompt computed once, and what may come next."""
    import torch

    by_prompt: dict[Tokens, list[Row]] = {}
    for row in rows:
        by_prompt.setdefault(row.ask.tokens, []).append(row)
    prompts = list(by_prompt)
    parts: list[tuple[KvRows, Any]] = []
    logits = []
    ordered: list[Row] = []
    for computed in runner.run([Text(tokens) for tokens in prompts]):
        chosen = []
        for place, member in enumerate(computed.members):
            same = by_prompt[prompts[member]]
            for number, row in enumerate(same):
                row.cached = computed.cached[place] if number == 0 else len(row.ask.tokens)
            chosen += [place] * len(same)
            ordered += same
        index = torch.tensor(chosen, device=runner.model.device)
        parts.append((computed.kv, index))
        logits.append(computed.logits[:, -1][index])
    room = max(row.ask.limit for row in rows)
    return ordered, merged(parts, room), torch.cat(logits)
