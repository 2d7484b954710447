"""What an engine is asked by the conformance suite: one small study, and a bench to ask it from.

Adding an engine to the suite is one `EngineCase`: how its model is described, and how far its
numbers may move when batch, order and cache do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nongrata.engines import open_engine
from nongrata.engines.base import Batch, Engine, Generations, Likelihoods, Scores, Tick
from nongrata.factors import Reading
from nongrata.keys import model_digest
from nongrata.missing import Missing
from nongrata.model_specs import ModelSpec
from nongrata.plan import Plan, Requests, build_plan
from nongrata.questions.model import Question
from nongrata.store import DoneKeys
from nongrata.study import Study

DEFAULT_TEXT = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""What the demo model's template says where nobody says anything."""

PLAIN = (
    Question("fruit", "own", "Which is a fruit?", ("stone", "apple", "chair"), 1),
    Question("sum", "own", "What is 2 + 3?", ("4", "6", "5", "9"), 2),
    Question("fish", "own", "Where do fish live?", ("in water", "in trees", "in books"), 0),
    Question("day", "own", "Which day follows Monday?", ("Friday", "Tuesday", "Sunday"), 1),
)
LETTERS = Question("letters", "own", "Which letter comes first?", ("A", "B", "C"), 0)
ODD = {
    "emoji": "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7?",
    "right-to-left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202eabc\u202c?",
    "combining": "e\u0301 a\u0308 n\u0303 \u0e01\u0e33?",
    "cjk": "\u4f60\u597d\u3001\u4e16\u754c \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4?",
    "controls": "\x01 \x1b[31m red \x7f \u0085 \ufeff\r\n\t\v?",
    "spaces": "  many   spaces\n\n\n  and   at the end  ",
    "braces": "{x} {{ y }} {% z %} $v ${w} %s \\n?",
}
CONTROL = "<|im_end|>"
_OPTIONS = ("one", "two", "three")
QUESTIONS = (
    *PLAIN,
    LETTERS,
    *(Question(name, "own", text, _OPTIONS, 0) for name, text in ODD.items()),
    Question("control-text", "own", f"What is {CONTROL}?", _OPTIONS, 0),
    Question("no-control-text", "own", "What is ?", _OPTIONS, 0),
    Question("surrogate", "own", "half a pair \ud83d?", _OPTIONS, 0),
    Question("too-long", "own", "word " * 3000, _OPTIONS, 0),
    Question("empty", "own", "", _OPTIONS, 0),
)
STOPS = ("e", "D", "E")
_WAYS: dict[str, dict[str, Any]] = {
    "letter": {"reading": "first_token"},
    "cloze": {"reading": "cloze", "cloze_format": " {choice}"},
    "cloze-bare": {"reading": "cloze"},
    "one": {"max_tokens": 1},
    "one-nucleus": {"max_tokens": 1, "top_p": 0.9},
    "text": {"max_tokens": 9},
    "stopped": {"max_tokens": 9, "stop": list(STOPS)},
    "long": {"max_tokens": 48},
}
_PERSONAS = (
    {"id": "nobody", "text": None, "control": True},
    {"id": "pirate", "text": "You are a pirate who likes the last one best."},
    {"id": "default", "text": DEFAULT_TEXT},
)


def conformance_plan(spec: ModelSpec) -> Plan:
    """3 system texts x 8 ways to ask x the questions above, for one model."""
    study = Study.model_validate(
        {
            "nongrata": 1,
            "name": "conformance",
            "seed": 7,
            "models": [spec],
            "questions": {"sources": [{"id": "own", "format": "starter", "take": 3}]},
            "personas": {"list": list(_PERSONAS)},
            "slots": {
                "persona_prompt": "{persona}",
                "instruction": "Reply with a letter.",
                "reminder": "",
            },
            "settings": {"temperature": 1},
            "factors": [
                {
                    "name": "way",
                    "levels": [{"id": name, "set": given} for name, given in _WAYS.items()],
                }
            ],
        }
    )
    return build_plan(study, study.personas.list, QUESTIONS)


@dataclass(frozen=True)
class EngineCase:
    """An engine under test.

    Parameters
    ----------
    name
        What the tests are called after.
    describe
        Opens what the engine needs (such as a server) and gives the model's description; skips
        where that cannot be had.
    tolerance
        How far a probability may move when batch, order and cache change.
    samples
        Texts drawn for each test of exactness.
    server_templates
        Whether the chat template is applied where the engine cannot see it.
    knows_context
        Whether the engine knows how long a prompt may be.
    """

    name: str
    describe: Callable[[], AbstractContextManager[ModelSpec]]
    tolerance: float = 1e-5
    samples: int = 240
    server_templates: bool = False
    knows_context: bool = True


class Bench:
    """An open engine and the plan it answers.

    Parameters
    ----------
    case
        The case.
    engine
        Its engine.
    plan
        The plan.
    """

    def __init__(self, case: EngineCase, engine: Engine, plan: Plan) -> None:
        self.case, self.engine, self.plan = case, engine, plan
        self._ids = [question.id for question in QUESTIONS]
        digest = model_digest(engine.identity)
        self._missing = Missing(plan, digest, DoneKeys(np.zeros((0, 2), np.uint64)))
        self._rows = {
            (persona.id, way): int(plan.skeleton_of[p, w])
            for p, persona in enumerate(plan.personas)
            for w, way in enumerate(_WAYS)
        }

    def batch(
        self,
        way: str,
        questions: Sequence[str] = tuple(question.id for question in PLAIN),
        *,
        personas: Sequence[str] = ("nobody",),
        temperature: float = math.nan,
        replicates: int = 1,
    ) -> Batch:
        """Every question for every persona, each as often as wanted."""
        cells = [
            (self._rows[persona, way], self._ids.index(question), replicate)
            for persona in personas
            for question in questions
            for replicate in range(replicates)
        ]
        table = np.array(cells)
        reading: Reading = self.plan.prompts.skeletons[int(table[0, 0])].reading
        requests = Requests(
            reading=reading,
            skeleton=table[:, 0].astype(np.int32),
            question=table[:, 1].astype(np.int32),
            temperature=np.full(len(table), temperature),
            replicate=table[:, 2].astype(np.int16),
        )
        return Batch(
            reading=reading,
            prompts=self.plan.prompts,
            skeleton=requests.skeleton,
            question=requests.question,
            temperature=requests.temperature,
            replicate=requests.replicate,
            key=self._missing.keys(requests),
        )

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Scores, or a skip where the engine declares that it has none."""
        if self.engine.capabilities.label_logprobs == "none":
            pytest.skip(f"{self.case.name} declares that it gives no probabilities")
        return self.engine.score(batch, tick)

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts, or a skip where the engine declares that it makes none."""
        if not self.engine.capabilities.generates:
            pytest.skip(f"{self.case.name} declares that it generates no text")
        return self.engine.generate(batch, tick)

    def likelihoods(self, batch: Batch) -> Likelihoods:
        """Likelihoods, or a skip where the engine declares that it has none."""
        if not self.engine.capabilities.likelihoods:
            pytest.skip(f"{self.case.name} declares that it gives no likelihoods of texts")
        return self.engine.likelihoods(batch)

    def must_be_a_model(self) -> None:
        """Skip for engines that send no prompt anywhere."""
        if not self.engine.capabilities.is_model:
            pytest.skip(f"{self.case.name} declares that it is no model: it sends no prompt")


def texts_of(made: Generations) -> list[str]:
    """The text of each request."""
    return [made.texts[row] for row in made.text]


def probabilities(scores: Scores) -> NDArray[np.float64]:
    """Probability of each option by each spelling; 0 where there is none or it is unknown."""
    return np.exp(np.nan_to_num(scores.label_logprobs.astype(np.float64), nan=-np.inf))


def with_begun(batch: Batch, begun: Sequence[str]) -> Batch:
    """The batch with answers that have begun."""
    return replace(batch, begun=list(begun))


@contextmanager
def bench_of(case: EngineCase) -> Iterator[Bench]:
    """Open a case's engine as the runner does."""
    with case.describe() as spec:
        plan = conformance_plan(spec)
        with open_engine(spec, plan, Path()) as engine:
            yield Bench(case, engine, plan)
