"""How often the letter read from the next token and the letter that a text declares disagree.

A model may put most of its next-token probability on "B" and then write "Answer: C". Which of the
two readings a study uses is a choice, and how much hangs on it can be measured: the same prompts
are read both ways, both at temperature 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome
from nongrata.engines.base import Batch, Engine, Tick
from nongrata.errors import NongrataError
from nongrata.plan import Plan, Requests
from nongrata.prompts import PromptTable
from nongrata.rows import OUTCOMES, AnswerReader
from nongrata.temperature import answer_distribution

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """The two readings of some prompts, side by side; shares are in [0, 1], ``nan`` if undefined.

    Parameters
    ----------
    factor, level
        Which prompts: those of a factor's level; both empty for all.
    prompts
        How many were read both ways.
    texts_read
        In how many of them the text declares an option.
    disagree, share, low, high
        In how many of *those* the most probable label is another one; their share, and its 95%
        interval (Wilson 1927), prompts taken as independent.
    unread
        Share of prompts whose text declares nothing.
    no_label
        Share of prompts whose most probable next token is no label at all.
    label_mass
        Mean probability of all labels together as the next token.
    accuracy_first_token, accuracy_text
        Share of prompts answered rightly by each reading; what is not read is not right.
    """

    factor: str
    level: str
    prompts: int
    texts_read: int
    disagree: int
    share: float
    low: float
    high: float
    unread: float
    no_label: float
    label_mass: float
    accuracy_first_token: float
    accuracy_text: float


@dataclass(frozen=True, slots=True)
class ReadingCheck:
    """How often the two readings of one model disagree.

    Parameters
    ----------
    model
        The model's id.
    max_tokens
        Longest text that was generated.
    errors
        Prompts that ended in an error and were left out.
    rows
        All prompts first, then those of each factor's levels.
    """

    model: str
    max_tokens: int
    errors: int
    rows: tuple[ReadingRow, ...]
    kind: str = "reading_check"

    @property
    def overall(self) -> ReadingRow:
        """All prompts together."""
        return self.rows[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        row = self.overall
        if not row.texts_read:
            return f"{self.model}: no text of {row.prompts} declares an option"
        return (
            f"{self.model}: the most probable label is not the one the text declares in "
            f"{row.disagree} of {row.texts_read} prompts ({row.share:.0%}, 95% interval "
            f"{row.low:.0%} to {row.high:.0%}); {row.unread:.0%} of texts declare none"
        )


def check_reading(
    engine: Engine,
    plan: Plan,
    model: str,
    *,
    prompts: int = 60,
    max_tokens: int = 64,
    tick: Tick | None = None,
) -> ReadingCheck:
    """Read the same prompts from the next token and from generated text, and compare.

    Parameters
    ----------
    engine
        The engine, open.
    plan
        A plan of the study; its prompts of reading ``first_token`` are asked.
    model
        The model's id in it.
    prompts
        How many prompts, at most; spread over formats, labels and questions.
    max_tokens
        Longest text.
    tick
        Told of each finished request: two for each prompt.
    """
    skeleton, question = _sample(plan, prompts)
    letters = _requests(engine, plan.prompts, skeleton, question, "first_token", plan.study.seed)
    scores = engine.score(letters, tick)
    free = _as_texts(plan.prompts, max_tokens)
    texts = _requests(engine, free, skeleton, question, "free", plan.study.seed)
    said = engine.generate(texts, tick)
    requests = Requests("free", texts.skeleton, texts.question, texts.temperature, texts.replicate)
    outcome, option, _ = AnswerReader(free).read(requests, said)
    good = np.ones(len(skeleton), dtype=np.bool_)
    good[[*scores.errors, *said.errors]] = False
    with np.errstate(invalid="ignore"):
        whole = answer_distribution(
            scores.label_logprobs, scores.other_logprobs, scores.tail_mass, 1.0
        )
        greedy = answer_distribution(
            scores.label_logprobs, scores.other_logprobs, scores.tail_mass, 0.0
        )
    place = np.nan_to_num(whole.options, nan=-1.0).argmax(axis=1)
    shown = plan.prompts.orders[plan.prompts.presentation_of[skeleton], question]
    by_letter = shown[np.arange(len(place)), place].astype(np.int64)
    answer = np.array([q.answer for q in plan.prompts.questions], dtype=np.int64)[question]
    found = _Readings(
        letter=by_letter,
        text=np.where(outcome == OUTCOMES.index(Outcome.ANSWERED), option, -1).astype(np.int64),
        no_label=greedy.options.sum(axis=1) == 0,
        mass=whole.options.sum(axis=1),
        answer=answer,
    )
    rows = [found.row("", "", good)]
    rows += [
        found.row(factor, level, good & which)
        for factor, level, which in _levels(plan, skeleton)
        if (good & which).any()
    ]
    return ReadingCheck(model, max_tokens, int((~good).sum()), tuple(rows))


@dataclass(frozen=True)
class _Readings:
    """Both readings by prompt: identities of options, -1 where a text declares none."""

    letter: Ints
    text: Ints
    no_label: Bools
    mass: NDArray[np.float64]
    answer: Ints

    def row(self, factor: str, level: str, which: Bools) -> ReadingRow:
        letter, text, answer = self.letter[which], self.text[which], self.answer[which]
        read = text >= 0
        disagree = int((letter != text)[read].sum())
        low, high = _wilson(disagree, int(read.sum()))
        n = len(text)
        strictly = (letter == answer) & ~self.no_label[which]
        return ReadingRow(
            factor=factor,
            level=level,
            prompts=n,
            texts_read=int(read.sum()),
            disagree=disagree,
            share=disagree / int(read.sum()) if read.any() else float("nan"),
            low=low,
            high=high,
            unread=float((~read).mean()) if n else float("nan"),
            no_label=float(self.no_label[which].mean()) if n else float("nan"),
            label_mass=float(self.mass[which].mean()) if n else float("nan"),
            accuracy_first_token=float(strictly.mean()) if n else float("nan"),
            accuracy_text=float((text == answer).mean()) if n else float("nan"),
        )


def _wilson(count: int, n: int) -> tuple[float, float]:
    if n == 0:
        return float("nan"), float("nan")
    from scipy.stats import binomtest

    interval = binomtest(count, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def _sample(plan: Plan, prompts: int) -> tuple[Ints, Ints]:
    """Distinct prompts of reading ``first_token``, spread over skeletons and questions."""
    skeletons = plan.passes["first_token"][:, 0].astype(np.int64)
    n_questions = len(plan.prompts.questions)
    if not len(skeletons) or not n_questions:
        raise NongrataError(
            "no prompt of this study is read from the next token, so there is nothing to compare",
            where=plan.study.name,
            fix="give some levels reading: first_token, or check another study",
        )
    count = min(prompts, len(skeletons) * n_questions)
    turn = np.arange(count)
    # a round through the questions, then the next round a step further in the skeletons
    rounds, question = np.divmod(turn, n_questions)
    step = max(1, len(skeletons) // max(1, min(count, len(skeletons))))
    skeleton = skeletons[(turn * step + rounds) % len(skeletons)]
    chosen = np.unique(np.stack([skeleton, question], axis=1), axis=0)
    return chosen[:, 0], chosen[:, 1]


def _as_texts(prompts: PromptTable, max_tokens: int) -> PromptTable:
    """The same prompts, answered with a text."""
    frames = tuple(
        replace(
            frame,
            reading="free",
            final_letter=False,
            cloze_format="",
            cloze_score="",
            decoding=replace(frame.decoding, max_tokens=max_tokens),
        )
        for frame in prompts.skeletons
    )
    return PromptTable(frames, prompts.questions, prompts.seed)


def _requests(
    engine: Engine, prompts: PromptTable, skeleton: Ints, question: Ints, reading: Any, seed: int
) -> Batch:
    from nongrata.keys import model_digest, request_keys
    from nongrata.prompts import as_words

    n = len(skeleton)
    temperature = np.full(n, 0.0 if reading == "free" else np.nan)
    replicate = np.zeros(n, dtype=np.int16)
    keys = request_keys(
        as_words([model_digest(engine.identity)])[0],
        prompts.skeleton_digests[skeleton],
        prompts.block_digests[prompts.presentation_of[skeleton], question],
        temperature,
        replicate,
        seed,
    )
    return Batch(
        reading=reading,
        prompts=prompts,
        skeleton=skeleton.astype(np.int32),
        question=question.astype(np.int32),
        temperature=temperature,
        replicate=replicate,
        key=keys,
    )


def _levels(plan: Plan, skeleton: Ints) -> Iterator[tuple[str, str, Bools]]:
    """Each factor's levels that some prompts belong to, and which prompts."""
    coordinates = [plan.coordinates[int(row)][1] for row in skeleton]
    for f, factor in enumerate(plan.study.factors):
        there = [levels[f] for levels in coordinates]
        if len({level for level in there if level is not None}) < 2:
            continue
        for level in factor.levels:
            yield factor.name, level.id, np.array([name == level.id for name in there])
