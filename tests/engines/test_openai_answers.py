"""What is read from an answer, and what is refused because it contradicts itself."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nongrata.engines.openai_answers import TopTokens, read_echo, read_text, read_top
from nongrata.engines.openai_results import Counts, Read, collect_scores
from nongrata.engines.openai_troubles import MalformedError, WithheldError

PAIRS = [("A", 0.5), (" A", 0.2), ("B", 0.1), ("x", 0.05)]


def entry(token: str, p: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(p), "bytes": list(token.encode())}


def chat(
    pairs: list[tuple[str, float]] = PAIRS, drawn: tuple[str, float] = ("A", 0.5)
) -> dict[str, Any]:
    place = entry(*drawn) | {"top_logprobs": [entry(*pair) for pair in pairs]}
    message = {"role": "assistant", "content": drawn[0]}
    choice = {"message": message, "finish_reason": "length", "logprobs": {"content": [place]}}
    return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}


def legacy(
    pairs: list[tuple[str, float]] = PAIRS, drawn: tuple[str, float] = ("A", 0.5)
) -> dict[str, Any]:
    told = {
        "tokens": [drawn[0]],
        "token_logprobs": [math.log(drawn[1])],
        "top_logprobs": [{token: math.log(p) for token, p in pairs}],
        "text_offset": [3],
    }
    return {"choices": [{"text": drawn[0], "finish_reason": "length", "logprobs": told}]}


def in_completions(answer: dict[str, Any]) -> dict[str, Any]:
    """llama-server's completions: log-probabilities in the form of the chat API."""
    choice = copy.deepcopy(answer["choices"][0])
    choice["text"] = choice.pop("message")["content"]
    return {"choices": [choice]}


def told(top: TopTokens) -> dict[str, float]:
    return {text.decode(): round(math.exp(value), 6) for text, value in top.entries}


@pytest.mark.parametrize("answer", [chat(), legacy(), in_completions(chat())])
def test_all_forms_say_the_same(answer: dict[str, Any]) -> None:
    top = read_top(answer, 4)
    assert told(top) == {"A": 0.5, " A": 0.2, "B": 0.1, "x": 0.05}
    assert top.beyond is None


def test_a_drawn_token_beyond_the_first_n_is_known_but_bounds_nothing() -> None:
    drawn = ("C", 0.01)
    for answer in (chat(drawn=drawn), chat([*PAIRS, drawn], drawn), chat([drawn, *PAIRS], drawn)):
        top = read_top(answer, 4)
        assert len(top.entries) == 4
        assert top.beyond == (b"C", math.log(0.01))
    read = Read(read_top(chat(drawn=drawn), 4), (5, 0, 1))
    scores = collect_scores([("A", "C")], ("{label}",), {0: read}, Counts({}, 1), {})
    assert math.exp(scores.label_logprobs[0, 1, 0]) == pytest.approx(0.01)
    assert np.exp(np.nanmin(scores.other_logprobs)) == pytest.approx(0.05)
    assert scores.tail_mass[0] == pytest.approx(1 - 0.5 - 0.01 - 0.2 - 0.1 - 0.05, abs=1e-6)


def test_the_drawn_token_first_or_twice_is_counted_once() -> None:
    first = [PAIRS[2], PAIRS[0], PAIRS[1], PAIRS[3]]
    assert told(read_top(chat(first, PAIRS[2]), 4)) == told(read_top(chat(), 4))
    twice = [PAIRS[2], *PAIRS]
    assert told(read_top(chat(twice, PAIRS[2]), 4)) == told(read_top(chat(), 4))
    numbered = chat([PAIRS[0], *PAIRS])
    for number, item in enumerate(numbered["choices"][0]["logprobs"]["content"][0]["top_logprobs"]):
        item["id"] = max(number, 1)
    assert told(read_top(numbered, 4)) == told(read_top(chat(), 4))


def test_two_tokens_of_one_spelling_both_count() -> None:
    """A server that does not tell a word's space lists 'A' twice, with two probabilities."""
    read = Read(read_top(chat([("A", 0.5), ("A", 0.2), ("B", 0.1)]), 3), (5, 0, 1))
    scores = collect_scores([("A", "B")], ("{label}", " {label}"), {0: read}, Counts({}, 1), {})
    np.testing.assert_allclose(np.exp(scores.label_logprobs[0, :, 0]), [0.7, 0.1], rtol=1e-6)
    assert np.isnan(scores.label_logprobs[0, :, 1]).all()
    assert scores.tail_mass[0] == pytest.approx(0.2)


def test_tokenizers_marks_for_a_space_are_spaces() -> None:
    pairs = [("\u2581A", 0.5), ("\u0120B", 0.3)]
    answer = chat(pairs, pairs[0])
    place = answer["choices"][0]["logprobs"]["content"][0]
    answer["choices"][0]["message"]["content"] = " A"
    for item in (place, *place["top_logprobs"]):
        del item["bytes"]
    assert set(told(read_top(answer, 2))) == {" A", " B"}


def broken(change: Callable[[dict[str, Any], list[Any]], None]) -> dict[str, Any]:
    answer = chat()
    choice = answer["choices"][0]
    change(choice, choice["logprobs"]["content"][0]["top_logprobs"])
    return answer


BROKEN: dict[str, Callable[[dict[str, Any], list[Any]], Any]] = {
    "none": lambda c, t: c.update(logprobs=None),
    "no place": lambda c, t: c["logprobs"].update(content=[]),
    "two places": lambda c, t: c["logprobs"]["content"].append(c["logprobs"]["content"][0]),
    "too few": lambda c, t: t.pop(),
    "too many": lambda c, t: t.extend([entry("y", 0.01), entry("z", 0.01)]),
    "positive": lambda c, t: t[0].update(logprob=0.4),
    "nan": lambda c, t: t[3].update(logprob=math.nan),
    "text": lambda c, t: t[3].update(logprob="-1"),
    "truth": lambda c, t: t[3].update(logprob=True),
    "mass": lambda c, t: (
        [e.update(logprob=e["logprob"] + 0.4) for e in t]
        and c["logprobs"]["content"][0].update(logprob=t[0]["logprob"])
    ),
    "order": lambda c, t: t.reverse(),
    "other position": lambda c, t: c["message"].update(content="Hello"),
    "other position, by its space": lambda c, t: c["message"].update(content=" "),
    "other value": lambda c, t: c["logprobs"]["content"][0].update(logprob=-3.0),
    "a drawn token that should be listed": lambda c, t: (
        c["logprobs"]["content"][0].update(entry("D", 0.4)),
        c["message"].update(content="D"),
    ),
    "no text": lambda c, t: c.pop("message"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_log_probabilities_that_cannot_be_are_refused(name: str) -> None:
    read_top(chat(), 4)
    with pytest.raises(MalformedError):
        read_top(broken(BROKEN[name]), 4)


@pytest.mark.parametrize(
    "answer",
    [{}, {"choices": []}, {"choices": [{}, {}]}, {"choices": ["x"]}, {"choices": [{"message": 3}]},
     {"choices": [{"text": None, "finish_reason": "stop"}]}],
)  # fmt: skip
def test_answers_that_are_none(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        read_text(answer, 8)
    with pytest.raises(MalformedError):
        read_top(answer, 4)


def text(message: dict[str, Any], reason: Any = "stop", used: int = 1) -> dict[str, Any]:
    choice = {"message": message, "finish_reason": reason}
    return {"choices": [choice], "usage": {"completion_tokens": used}}


def test_texts_and_how_they_ended() -> None:
    assert read_text(text({"content": "B"}), 8).said == "B"
    assert not read_text(text({"content": "B"}), 8).truncated
    assert read_text(text({"content": "B"}, "length"), 8).truncated
    assert read_text(text({"content": None}), 8).said == ""
    assert read_text(text({"content": "", "refusal": "No."}), 8).said == "No."
    assert read_text(text({"content": "C is it"}), 8, begun="C is").said == " it"
    parts = [{"type": "thinking", "thinking": "A?"}, {"type": "text", "text": "B"}]
    assert read_text(text({"content": parts}), 8).said == "B"
    thought = {"content": None, "reasoning_content": "A? Yes, A."}
    assert read_text(text(thought, "length"), 8).said == ""  # thinking is no answer


def test_what_is_no_answer() -> None:
    for message, reason in (
        ({"content": "B"}, "content_filter"),
        ({"content": None, "tool_calls": [{}]}, "tool_calls"),
        ({"content": "B"}, "function_call"),
    ):
        with pytest.raises(WithheldError):
            read_text(text(message, reason), 8)
    with pytest.raises(WithheldError, match="9 tokens, 8 were allowed"):
        read_text(text({"content": "B"}, used=9), 8)
    for reason in (None, "abort", "\x1b[31m"):
        with pytest.raises(MalformedError) as caught:
            read_text(text({"content": "B"}, reason), 8)
        assert "\x1b" not in str(caught.value)


def echo(tokens: list[str], values: list[Any], offsets: list[int]) -> dict[str, Any]:
    told = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets}
    choice = {"text": "".join(tokens), "finish_reason": "length", "logprobs": told}
    return {"choices": [choice], "usage": {"completion_tokens": 1}}


def test_the_likelihood_of_the_end_of_an_echo() -> None:
    plain = echo(["Say", ":", " in", " sea", "!"], [None, -1, -2, -3, -9], [0, 3, 4, 7, 11])
    assert read_echo(plain, " in sea") == (-5.0, 2)
    with_bos = echo(["<s>", "Say", ":", " up", "!"], [None, -1, -2, -3, -9], [0, 3, 6, 7, 10])
    assert read_echo(with_bos, " up") == (-3.0, 1)
    with pytest.raises(WithheldError, match="joins"):
        read_echo(plain, "n sea")
    with pytest.raises(MalformedError):
        read_echo(plain, " on sea")
    with pytest.raises(MalformedError):
        read_echo(echo(["Say", ":", " up", "!"], [None, -1, None, -9], [0, 3, 4, 7]), " up")
    with pytest.raises(MalformedError):
        read_echo(echo(["Say", " up", "!"], [None, -9], [0, 3, 6]), " up")
    with pytest.raises(MalformedError):
        read_echo(chat(), " up")
