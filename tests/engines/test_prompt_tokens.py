"""Control tokens come from the template and from nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nongrata.engines.chat_template import Segment
from nongrata.engines.prompt_tokens import PromptTokenizer, Vocabulary

CONTROL = ["<s>", "<|a|>", "<|a|>b|>"]
VOCABULARY = Vocabulary([*CONTROL, "<think>", "A", "\u0120A"], [3, 3, 3, 4, 1, 1], "gpt2")


def tokenizer(bos: int | None = None) -> PromptTokenizer:
    return PromptTokenizer(VOCABULARY, lambda text: [100 + ord(c) for c in text], bos)


def spell(text: str) -> list[int]:
    return [100 + ord(c) for c in text]


def test_control_tokens_are_read_in_the_template_only() -> None:
    tokens = tokenizer()([Segment("<|a|>x", False), Segment("<|a|>", True), Segment("<s>", False)])
    assert tokens == (1, *spell("x<|a|>"), 0)


def test_the_longest_control_token_wins() -> None:
    assert tokenizer()([Segment("<|a|>b|>", False)]) == (2,)


def test_text_around_a_content_is_tokenised_with_it() -> None:
    pieces: list[str] = []

    def remember(text: str) -> list[int]:
        pieces.append(text)
        return spell(text)

    PromptTokenizer(VOCABULARY, remember)(
        [Segment("<|a|>user\n", False), Segment("\nHi", True), Segment("!<s>", False)]
    )
    assert pieces == ["user\n\nHi!"]


def test_each_text_is_tokenised_once() -> None:
    asked: list[str] = []

    def remember(text: str) -> list[int]:
        asked.append(text)
        return spell(text)

    tokens = PromptTokenizer(VOCABULARY, remember)
    for _ in range(3):
        tokens([Segment("Hi", True)])
    assert asked == ["Hi"]


def test_bos_is_put_first_and_never_twice() -> None:
    assert tokenizer(bos=0)([Segment("x", True)]) == (0, *spell("x"))
    assert tokenizer(bos=0)([Segment("<s>x", False)]) == (0, *spell("x"))
    assert tokenizer(bos=0)([Segment("<s>", True)]) == (0, *spell("<s>"))
    assert tokenizer()([Segment("x", True)]) == tuple(spell("x"))


@given(st.lists(st.sampled_from(["<s>", "<|a|>", "<|a|>b|>", "x", "|>"]), max_size=8))
def test_no_content_makes_a_control_token(parts: list[str]) -> None:
    tokens = tokenizer()([Segment("".join(parts), True)])
    assert all(token >= 100 for token in tokens)


def test_a_content_that_would_speak_for_the_template_is_named() -> None:
    frame = Segment("<|a|><think>", False)
    assert tokenizer().unsayable([frame, Segment("so <think> of", True)]) == "<think>"
    assert tokenizer().unsayable([frame, Segment("thinking", True)]) is None
    assert tokenizer().unsayable([Segment("<|a|>", False), Segment("<think>", True)]) is None


def test_a_vocabulary_knows_tokens_by_their_text() -> None:
    assert (VOCABULARY.id_of("A"), VOCABULARY.id_of(" A"), VOCABULARY.id_of("<s>")) == (4, 5, None)
    spm = Vocabulary(["<0x41>", "A", "\u2581A"], [6, 1, 1], "llama")
    assert (spm.id_of("A"), spm.id_of(" A")) == (1, 2)
    umlaut = Vocabulary(["\u00c3\u00bc"], [1], "gpt2")
    assert umlaut.id_of("ü") == 0
