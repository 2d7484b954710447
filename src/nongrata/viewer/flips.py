"""How much the answers to a question change between configurations, and what became of them.

A label's *flips* on a question: the share of pairs of its configurations in which one answer is
right and the other is not, of all pairs in which both were obtained. Configurations that send the
same request count once: they cannot differ. With replicates, every answer of one configuration is
compared with every answer of the other. A question's flips are the mean over its labels, controls
left out. *Option flips* are the same for the option chosen, no option being one choice of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome
from nongrata.plan import Plan
from nongrata.response_tensors import MISSING, ModelTensors
from nongrata.rows import OUTCOMES

Floats = NDArray[np.float32]

FATES = ("right", "wrong", "unparsed", "refused", "truncated", "error", "missing")
"""What can have become of a cell's answer."""
RIGHT, WRONG, LOST = FATES.index("right"), FATES.index("wrong"), FATES.index("missing")
_ANSWERED = OUTCOMES.index(Outcome.ANSWERED)


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Figures of every question under one model; arrays over questions.

    Parameters
    ----------
    flips, option_flips
        As the module says, 0 to 1; ``nan`` where no pair was obtained.
    right
        Share of right answers among those obtained, over labels without controls; identical
        requests count once.
    most
        Place of the label that flips most, -1 where none flips.
    most_flips
        How much it flips.
    fates
        Number of cells and replicates by what became of them (`FATES`), over all labels and
        configurations, shape (questions, 7).
    """

    flips: Floats
    option_flips: Floats
    right: Floats
    most: NDArray[np.int32]
    most_flips: Floats
    fates: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[QuestionCounts]) -> QuestionCounts:
        """Figures of several ranges of questions, one after another."""
        names = ("flips", "option_flips", "right", "most", "most_flips", "fates")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def fates_of(
    outcome: NDArray[np.uint8], option: NDArray[np.int8], answer: NDArray[np.int8]
) -> NDArray[np.uint8]:
    """What became of each answer, as places in `FATES`.

    Parameters
    ----------
    outcome, option
        As in `nongrata.responses.load_run`, the last axis being questions.
    answer
        The right option of each question.

    Examples
    --------
    >>> outcome = np.array([[0], [0], [1], [255]], dtype=np.uint8)
    >>> option = np.array([[2], [1], [-1], [-1]], dtype=np.int8)
    >>> [FATES[fate] for fate in fates_of(outcome, option, np.array([2]))[:, 0]]
    ['right', 'wrong', 'unparsed', 'missing']
    """
    fate = np.where(outcome == MISSING, LOST, outcome + 1).astype(np.uint8)
    fate[(outcome == _ANSWERED) & (option == answer)] = RIGHT
    return fate


def count_questions(
    plan: Plan, cell_of: NDArray[np.int32], tensors: ModelTensors
) -> QuestionCounts:
    """Figures of every question of a plan.

    Parameters
    ----------
    plan
        The plan.
    cell_of
        Row of the tensors that holds each cell's answers, shape (personas, configurations).
    tensors
        The answers.
    """
    answer = np.array([q.answer for q in plan.prompts.questions], dtype=np.int8)
    labels = [p for p, persona in enumerate(plan.personas) if not persona.control]
    labels = labels or list(range(len(plan.personas)))
    fates = np.zeros((len(answer), len(FATES)), dtype=np.int32)
    by_label, by_option = [], []
    right, obtained = np.zeros(len(answer)), np.zeros(len(answer))
    repeats = np.array([plan.answers_at(float(heat)) for heat in plan.temperature])
    for p in range(len(plan.personas)):
        rows, first, back = np.unique(cell_of[p], return_index=True, return_inverse=True)
        kept = np.arange(tensors.outcome.shape[1]) < repeats[first][:, None]
        fate = fates_of(tensors.outcome[rows], tensors.option[rows], answer)
        fate[~kept] = len(FATES)  # a copy of the one answer at temperature 0
        times = np.bincount(back.ravel()).astype(np.int32)
        for name in range(len(FATES)):
            fates[:, name] += np.einsum("crq,c->q", fate == name, times, dtype=np.int32)
        if p not in labels:
            continue
        there = fate < FATES.index("error")
        is_right = fate == RIGHT
        right += is_right.sum(axis=(0, 1))
        obtained += there.sum(axis=(0, 1))
        by_label.append(_differing(np.stack([is_right, there & ~is_right]), there))
        option = np.where(fate <= WRONG, tensors.option[rows], -1)
        kinds = range(-1, int(option.max(initial=-1)) + 1)
        by_option.append(_differing(np.stack([(option == k) & there for k in kinds]), there))
    return _summary(np.stack(by_label), np.stack(by_option), right, obtained, labels, fates)


def _differing(kinds: NDArray[np.bool_], there: NDArray[np.bool_]) -> Floats:
    """Share of pairs of configurations that differ in kind, of pairs in which both are there.

    Parameters
    ----------
    kinds
        Whether an answer is of each kind, shape (kinds, configurations, replicates, questions).
    there
        Whether there is one, shape (configurations, replicates, questions).
    """
    n = there.sum(axis=1)
    share = kinds.sum(axis=2) / np.maximum(n, 1)  # (kinds, configurations, questions)
    has = (n > 0).sum(axis=0).astype(np.float64)
    pairs = has * (has - 1)
    same = (share.sum(axis=1) ** 2 - (share**2).sum(axis=1)).sum(axis=0)
    return np.where(pairs > 0, 1 - same / np.maximum(pairs, 1), np.nan).astype(np.float32)


def _summary(
    by_label: Floats,
    by_option: Floats,
    right: NDArray[np.float64],
    obtained: NDArray[np.float64],
    labels: list[int],
    fates: NDArray[np.int32],
) -> QuestionCounts:
    known = np.where(np.isnan(by_label), -1.0, by_label)
    best = known.argmax(axis=0)
    most_flips = known.max(axis=0).astype(np.float32)
    return QuestionCounts(
        flips=_mean(by_label),
        option_flips=_mean(by_option),
        right=np.where(obtained > 0, right / np.maximum(obtained, 1), np.nan).astype(np.float32),
        most=np.where(most_flips > 0, np.array(labels)[best], -1).astype(np.int32),
        most_flips=np.maximum(most_flips, 0),
        fates=fates,
    )


def _mean(values: Floats) -> Floats:
    """Mean over labels of what is known; nan where nothing is."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0).sum(axis=0, dtype=np.float64)
    count = known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)
