"""persona x formats x question -> the messages that are sent.

A prompt is a *skeleton* (all text that does not depend on the question) around a *question block*
(all text that does). There are few skeletons and few ways to present a question, so both are
rendered once; a prompt is their concatenation. Two cells with equal skeletons send equal prompts:
that is what makes them structural duplicates.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.factors import Reading, Settings
from nongrata.keys import name_hash
from nongrata.personas import Persona
from nongrata.questions.model import Question
from nongrata.study import PromptLayout
from nongrata.templates import fill

LABELS = {
    "A": tuple(string.ascii_uppercase),
    "a": tuple(string.ascii_lowercase),
    "1": tuple(str(number) for number in range(1, 27)),
}


@dataclass(frozen=True, slots=True)
class Decoding:
    """Every sampling parameter but temperature and seed, resolved.

    Parameters
    ----------
    max_tokens
        Longest answer, in tokens.
    top_k, top_p, min_p
        Truncation of the distribution; 0, 1 and 0 mean none.
    stop
        Texts that end a generation.
    """

    max_tokens: int
    top_k: int
    top_p: float
    min_p: float
    stop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """One prompt, turn by turn; texts arrive at the model byte for byte, and only as text.

    Parameters
    ----------
    system
        Text of the system turn; an empty text is an explicit, empty system turn.
    user
        Text of the user turn.
    prefill
        Text with which the assistant's turn is begun for it; usually empty.
    decoding
        The skeleton's sampling parameters.
    """

    system: str
    user: str
    prefill: str
    decoding: Decoding


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a question block is written: labels, order and layout."""

    labels: Literal["A", "a", "1"]
    choice_format: str
    choice_order: str
    layout: tuple[str, ...]


@lru_cache(maxsize=1024)
def _fields(part: Presentation | Decoding) -> dict[str, Any]:
    """Fields of a part that many skeletons share; the result is only read."""
    return asdict(part)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """All of a prompt that does not depend on the question.

    Parameters
    ----------
    system
        The system turn.
    before, after
        The user turn's text before and after the question block.
    prefill
        Start of the assistant's turn.
    reading
        How the answer is read.
    decoding
        Sampling parameters, without temperature.
    presentation
        How the question block is written.
    final_letter
        Whether the letter that ends a generated text is read as a distribution too.
    cloze_format, cloze_score
        For the reading ``cloze``: the text that is scored, and how; else empty.
    """

    system: str
    before: str
    after: str
    prefill: str
    reading: Reading
    decoding: Decoding
    presentation: Presentation
    final_letter: bool = False
    cloze_format: str = ""
    cloze_score: str = ""
    digest: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        content: dict[str, Any] = {
            "system": self.system,
            "before": self.before,
            "after": self.after,
            "prefill": self.prefill,
            "reading": self.reading,
            "presentation": _fields(self.presentation),
            # one forward pass reads no generated token: no length limit, and its truncation is
            # applied to what was read
            "decoding": _fields(self.decoding) if self.reading == "free" else None,
        }
        if self.final_letter:
            content["final_letter"] = True
        if self.reading == "cloze":
            content |= {"cloze_format": self.cloze_format, "cloze_score": self.cloze_score}
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        digest = hashlib.blake2b(text.encode(), digest_size=16, person=b"skeleton").digest()
        object.__setattr__(self, "digest", digest)


@dataclass(frozen=True, slots=True)
class Block:
    """A question as it is shown.

    Parameters
    ----------
    text
        The block's text.
    labels
        Labels offered, in the order shown.
    order
        Identity (index in the source's order) of the option at each shown place.
    digest
        128-bit hash of what is shown and how labels map to options.
    """

    text: str
    labels: tuple[str, ...]
    order: tuple[int, ...]
    digest: bytes


def build_skeleton(
    persona: Persona, slots: dict[str, str], settings: Settings, layout: PromptLayout
) -> Skeleton:
    """Fill a configuration's slots for one persona.

    A persona without text (the control ``NO PERSONA``) leaves every persona slot out.
    """
    texts = {}
    for slot in layout.slots:
        if persona.text is None:
            texts[slot] = "" if slot in layout.persona_slots else fill(slots[slot], {})
        else:
            texts[slot] = fill(slots[slot], {"persona": persona.text})

    def join(names: Sequence[str]) -> str:
        return layout.separator.join(texts[name] for name in names if texts[name])

    place = layout.user.index("question")
    system, before, after = join(layout.system), layout.user[:place], layout.user[place + 1 :]
    before_text, after_text = join(before), join(after)
    if settings.role_placement == "user" and system:
        before_text = layout.separator.join(text for text in (system, before_text) if text)
        system = ""
    return Skeleton(
        system=system,
        before=before_text + layout.separator if before_text else "",
        after=layout.separator + after_text if after_text else "",
        prefill=join(layout.prefill),
        reading=settings.reading,
        decoding=Decoding(
            max_tokens=settings.max_tokens,
            top_k=settings.top_k,
            top_p=settings.top_p,
            min_p=settings.min_p,
            stop=settings.stop,
        ),
        presentation=Presentation(
            labels=settings.labels,
            choice_format=settings.choice_format,
            choice_order=settings.choice_order,
            layout=settings.layout,
        ),
        final_letter=settings.reading == "free" and settings.final_letter == "distribution",
        cloze_format=settings.cloze_format if settings.reading == "cloze" else "",
        cloze_score=settings.cloze_score if settings.reading == "cloze" else "",
    )


def present(question: Question, presentation: Presentation, seed: int) -> Block:
    r"""Write a question as it is shown.

    Parameters
    ----------
    question
        The question; its texts are used byte for byte.
    presentation
        Labels, order and layout.
    seed
        The study's seed, for ``choice_order: shuffled``.

    Examples
    --------
    >>> q = Question("own/1", "own", "2 + 2?", ("3", "4"), 1)
    >>> layout = ("context", "question", "choices")
    >>> shown = Presentation("A", "{label}. {choice}", "reversed", layout)
    >>> block = present(q, shown, seed=0)
    >>> block.text, block.order
    ('2 + 2?\nA. 4\nB. 3', (1, 0))
    """
    order = choice_order(question, presentation.choice_order, seed)
    labels = LABELS[presentation.labels][: len(order)]
    choices = "\n".join(
        fill(presentation.choice_format, {"label": label, "choice": question.choices[index]})
        for label, index in zip(labels, order, strict=True)
    )
    parts = {"context": question.context, "question": question.question, "choices": choices}
    text = "\n".join(parts[name] for name in presentation.layout if parts[name])
    shown = json.dumps([text, labels, order, question.choices], ensure_ascii=True)
    digest = hashlib.blake2b(shown.encode(), digest_size=16, person=b"block").digest()
    return Block(text, labels, order, digest)


def choice_order(question: Question, rule: str, seed: int) -> tuple[int, ...]:
    """Identity of the option at each shown place under an order rule.

    A shuffle is drawn from the seed and the question's id by hashing, so it depends neither on
    the platform nor on the other questions.
    """
    places = tuple(range(len(question.choices)))
    if rule == "as_given":
        return places
    if rule == "reversed":
        return places[::-1]
    if rule.startswith("rotated:"):
        shift = int(rule.removeprefix("rotated:")) % len(places)
        return places[shift:] + places[:shift]

    def draw(index: int) -> bytes:
        key = f"{seed}\x1f{question.id}\x1f{index}".encode()
        return hashlib.blake2b(key, digest_size=16, person=b"shuffle").digest()

    return tuple(sorted(places, key=draw))


@dataclass(frozen=True)
class PromptTable:
    """Skeletons x questions: the prompts of a study, rendered when asked for.

    Parameters
    ----------
    skeletons
        The distinct skeletons.
    questions
        The questions, in the study's order.
    seed
        The study's seed.
    """

    skeletons: tuple[Skeleton, ...]
    questions: Sequence[Question]
    seed: int

    @cached_property
    def presentations(self) -> tuple[Presentation, ...]:
        """The distinct presentations, in order of first use."""
        return tuple(dict.fromkeys(skeleton.presentation for skeleton in self.skeletons))

    @cached_property
    def presentation_of(self) -> NDArray[np.int32]:
        """Row in `presentations` of each skeleton."""
        index = {shown: i for i, shown in enumerate(self.presentations)}
        return np.array([index[s.presentation] for s in self.skeletons], dtype=np.int32)

    @cached_property
    def blocks(self) -> tuple[tuple[Block, ...], ...]:
        """``blocks[presentation][question]``."""
        return tuple(
            tuple(present(question, shown, self.seed) for question in self.questions)
            for shown in self.presentations
        )

    @cached_property
    def skeleton_digests(self) -> NDArray[np.uint64]:
        """Hash of each skeleton, uint64, shape (skeletons, 2)."""
        return as_words([skeleton.digest for skeleton in self.skeletons])

    @cached_property
    def block_digests(self) -> NDArray[np.uint64]:
        """Hash of each block, uint64, shape (presentations, questions, 2)."""
        return np.stack([as_words([block.digest for block in row]) for row in self.blocks])

    @cached_property
    def question_hashes(self) -> NDArray[np.uint64]:
        """64-bit hash of each question's id, by which responses refer to it."""
        return np.array([name_hash(question.id) for question in self.questions], dtype=np.uint64)

    @cached_property
    def orders(self) -> NDArray[np.int8]:
        """Identity of the option at each place, -1 where there is none.

        int8, shape (presentations, questions, options).
        """
        width = max(len(question.choices) for question in self.questions)
        table = np.full((len(self.presentations), len(self.questions), width), -1, dtype=np.int8)
        for i, row in enumerate(self.blocks):
            for j, block in enumerate(row):
                table[i, j, : len(block.order)] = block.order
        return table

    def block(self, skeleton: int, question: int) -> Block:
        """The question block of one prompt."""
        return self.blocks[int(self.presentation_of[skeleton])][question]

    def messages(self, skeleton: int, question: int) -> Messages:
        """The text of one prompt, turn by turn."""
        frame = self.skeletons[skeleton]
        user = frame.before + self.block(skeleton, question).text + frame.after
        return Messages(frame.system, user, frame.prefill, frame.decoding)

    def baseline(self, skeleton: int) -> Messages:
        """A skeleton's prompt without any question, turn by turn."""
        frame = self.skeletons[skeleton]
        return Messages(frame.system, frame.before + frame.after, frame.prefill, frame.decoding)

    def continuations(self, skeleton: int, question: int) -> tuple[str, ...]:
        """The answers whose likelihood the reading ``cloze`` takes, in the order shown."""
        form = self.skeletons[skeleton].cloze_format
        return tuple(fill(form, {"choice": text}) for text in self.options(skeleton, question))

    def by_identity(self, skeleton: int, question: int) -> tuple[str, ...]:
        """The answers of `continuations`, in the source's order."""
        form = self.skeletons[skeleton].cloze_format
        choices = self.questions[question].choices
        return tuple(fill(form, {"choice": choice}) for choice in choices)

    def labels(self, skeleton: int, question: int) -> tuple[str, ...]:
        """The labels offered in one prompt, in the order shown."""
        return self.block(skeleton, question).labels

    def options(self, skeleton: int, question: int) -> tuple[str, ...]:
        """The option texts in one prompt, in the order shown."""
        block = self.block(skeleton, question)
        return tuple(self.questions[question].choices[index] for index in block.order)


def as_words(digests: Sequence[bytes]) -> NDArray[np.uint64]:
    """Stack 16-byte digests as two little-endian 64-bit words each."""
    words: NDArray[Any] = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)
    return words.astype(np.uint64)
