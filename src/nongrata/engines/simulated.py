"""Not a model: answers drawn from a known truth, for tests, planning and statistics.

Every draw derives from the request's key and every effect from a seed and names, so neither order
nor batches, kills or other requests can change an answer. A block is one pass of array code.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.base import Batch, Capabilities, Generations, Likelihoods, Scores, Tick
from nongrata.keys import mix, name_hash, uniforms
from nongrata.model_specs import SimulatedSpec
from nongrata.plan import Plan
from nongrata.truncation import Known, truncate

Floats = NDArray[np.float64]

_REFUSAL = "I'm sorry, but I can't answer that question."
_UNPARSED = "It depends on several things."
_CUT = "Let me think about this step by step. First of all, the"
_STYLES = ("A", "a", "1")
_PLACES = 26
_NO_CUT = (0, 1.0, 0.0)


class SimulatedEngine:
    """Answers a plan's requests from the truth in a `SimulatedSpec`.

    Parameters
    ----------
    spec
        The truth.
    plan
        Whose requests will be asked; it says which persona and levels a skeleton stands for.
    """

    kind = "simulated"
    capabilities = Capabilities(
        label_logprobs="full", deterministic_at_zero=True, is_model=False, likelihoods=True
    )

    def __init__(self, spec: SimulatedSpec, plan: Plan) -> None:
        self.spec = spec
        self.block = spec.block
        truth = spec.model_dump(mode="json", exclude={"id", "delay", "block"})
        self.identity: Mapping[str, Any] = {"engine": self.kind, "version": 2, "truth": truth}
        self.provenance: Mapping[str, Any] = {"note": "simulated answers; no model was asked"}
        self._prompts = plan.prompts
        factors = [factor.name for factor in plan.study.factors]
        self._skeleton_effect = np.array(
            [self._effect(persona, factors, levels) for persona, levels in plan.coordinates]
        )
        ids = [question.id for question in plan.prompts.questions]
        self._question_hash = np.array([name_hash(i) for i in ids], dtype=np.uint64)
        self._difficulty = spec.question_sd * _normals(
            self._question_hash ^ np.uint64(name_hash(f"{spec.seed} difficulty"))
        )
        self._answer = np.array([q.answer for q in plan.prompts.questions], dtype=np.int8)
        self._style = np.array(
            [_STYLES.index(skeleton.presentation.labels) for skeleton in plan.prompts.skeletons]
        )
        self._cuts = [
            (d.top_k, d.top_p, d.min_p) for d in (s.decoding for s in plan.prompts.skeletons)
        ]
        self._texts = _texts()

    def _effect(self, persona: str, factors: list[str], levels: tuple[str | None, ...]) -> float:
        spec = self.spec
        total = spec.ability
        named = spec.persona_effects.get(persona)
        total += spec.persona_sd * self._draw("persona", persona) if named is None else named
        for factor, level in zip(factors, levels, strict=True):
            if level is None:  # the factor makes no difference here
                continue
            effect = spec.factor_effects.get(factor, {}).get(level)
            if effect is None:
                effect = spec.factor_sd.get(factor, 0.0) * self._draw("level", factor, level)
            total += effect
            together = spec.persona_factor_sd.get(factor, 0.0)
            if together:
                total += together * self._draw("interaction", persona, factor, level)
        return total

    def _draw(self, *names: str) -> float:
        word = name_hash("\x1f".join((str(self.spec.seed), *names)))
        return float(_normals(np.array([word], dtype=np.uint64))[0])

    def _scores(self, batch: Batch) -> Floats:
        """Logit of the option at each shown place, shape (n, options); -inf where there is none."""
        skeleton, question = batch.skeleton, batch.question
        right = self._skeleton_effect[skeleton] - self._difficulty[question]
        if self.spec.question_configuration_sd:
            words = self._prompts.skeleton_digests[skeleton, 0] ^ self._question_hash[question]
            words = words ^ np.uint64(name_hash(f"{self.spec.seed} cell"))
            right = right + self.spec.question_configuration_sd * _normals(words)
        shown = self._prompts.presentation_of[skeleton]
        order = self._prompts.orders[shown, question]
        bias = np.zeros(order.shape[1])
        given = self.spec.position_bias[: len(bias)]
        bias[: len(given)] = given
        scores = np.where(order >= 0, bias, -np.inf)
        return scores + np.where(order == self._answer[question][:, None], right[:, None], 0.0)

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """The truth's next-token distribution; mass outside the labels is the unparsed rate."""
        labels, n = self._option_logprobs(batch), len(batch)
        other = np.full((n, 1), np.log(self.spec.unparsed) if self.spec.unparsed else np.nan)
        self._pretend(n, tick)
        zeros = np.zeros(n, dtype=np.int32)
        return Scores(
            label_logprobs=labels.astype(np.float32)[:, :, None],
            other_logprobs=other.astype(np.float32),
            tail_mass=np.zeros(n),
            prompt_tokens=zeros,
            cached_tokens=zeros,
            prompt_digest=np.zeros(n, dtype=np.uint64),
            errors=self._errors(batch),
            # every token there is was returned
            tail_logsums=np.full((n, len(batch.heats)), -np.inf) if batch.heats else None,
        )

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:
        """The truth's probability of each option, as if its text were one token.

        Without the question no option is likelier than another.
        """
        options, n = self._option_logprobs(batch), len(batch)
        offered = ~np.isnan(options)
        share = (1 - self.spec.unparsed) / offered.sum(axis=1, keepdims=True)
        self._pretend(n, tick)
        zeros = np.zeros(n, dtype=np.int32)
        return Likelihoods(
            option_logprobs=options,
            baseline_logprobs=np.where(offered, np.log(share), np.nan),
            option_tokens=offered.astype(np.int32),
            prompt_tokens=zeros,
            cached_tokens=zeros,
            prompt_digest=np.zeros(n, dtype=np.uint64),
            errors=self._errors(batch),
        )

    def forget(self) -> bool:
        """Nothing is kept from one request to the next, so nothing is left to forget."""
        return True

    def _option_logprobs(self, batch: Batch) -> Floats:
        """Log-probability of each option, shape (n, options); ``nan`` where there is none."""
        scores = self._scores(batch)
        probability = _softmax(scores) * (1 - self.spec.unparsed)
        with np.errstate(divide="ignore"):
            logs = np.log(probability)
        result: Floats = np.where(np.isneginf(scores), np.nan, logs)
        return result

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts that declare an option drawn at each request's temperature, or fail to."""
        spec, n = self.spec, len(batch)
        scores = self._truncated(self._scores(batch), batch)
        place = _draw_option(scores, batch.temperature, uniforms(batch.key, 0.0, 1, spec.seed))
        text = self._style[batch.skeleton] * _PLACES + place
        luck = uniforms(batch.key, 0.0, 2, spec.seed) - spec.error
        last = len(self._texts)
        text = np.where(luck < spec.unparsed + spec.refused + spec.truncated, last - 1, text)
        text = np.where(luck < spec.unparsed + spec.refused, last - 2, text)
        text = np.where(luck < spec.unparsed, last - 3, text)
        self._pretend(n, tick)
        zeros = np.zeros(n, dtype=np.int32)
        return Generations(
            texts=self._texts,
            text=text.astype(np.int32),
            truncated=text == last - 1,
            completion_tokens=zeros,
            prompt_tokens=zeros,
            cached_tokens=zeros,
            prompt_digest=np.zeros(n, dtype=np.uint64),
            errors=self._errors(batch),
        )

    def _truncated(self, scores: Floats, batch: Batch) -> Floats:
        """The logits, ``-inf`` for options that top-k, top-p and min-p leave out."""
        for cut in set(self._cuts) - {_NO_CUT}:
            cuts = np.array([cut == other for other in self._cuts])
            rows = np.flatnonzero(cuts[batch.skeleton] & (batch.temperature > 0))
            weights = _softmax(scores[rows] / batch.temperature[rows, None])
            there, none = weights > 0, np.zeros(len(rows))
            kept = truncate(Known(weights, there, there, none, none, none), *cut)
            scores[rows] = np.where(kept.certain, scores[rows], -np.inf)
        return scores

    def _pretend(self, requests: int, tick: Tick | None) -> None:
        """Take the time that the truth says, and report progress."""
        if self.spec.delay:
            for _ in range(requests):
                time.sleep(self.spec.delay)
                if tick:
                    tick(1)
        elif tick:
            tick(requests)

    def _errors(self, batch: Batch) -> dict[int, str]:
        if not self.spec.error:
            return {}
        failed = uniforms(batch.key, 0.0, 2, self.spec.seed) < self.spec.error
        return {int(i): "simulated failure" for i in np.flatnonzero(failed)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


def _texts() -> list[str]:
    from nongrata.prompts import LABELS

    forms = ("Because of what is said. Answer: {}", "The answer is ({}).", "**{}**")
    texts = [
        forms[place % len(forms)].format(LABELS[style][place])
        for style in _STYLES
        for place in range(_PLACES)
    ]
    return [*texts, _UNPARSED, _REFUSAL, _CUT]


def _normals(words: NDArray[np.uint64]) -> Floats:
    """One standard normal number per word (Box and Muller 1958)."""
    with np.errstate(over="ignore"):
        first, second = mix(words + np.uint64(1)), mix(words ^ np.uint64(0xA5A5A5A5A5A5A5A5))
    u = ((first >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
    v = (second >> np.uint64(11)).astype(np.float64) * 2.0**-53
    normals: Floats = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)
    return normals


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Floats = weights / weights.sum(axis=1, keepdims=True)
    return result


def _draw_option(scores: Floats, temperature: Floats, luck: Floats) -> NDArray[np.int64]:
    """Draw a place per row from softmax(scores / temperature); the largest score at 0."""
    greedy = scores.argmax(axis=1)
    heat = np.where(temperature > 0, temperature, 1.0)
    total = _softmax(scores / heat[:, None]).cumsum(axis=1)
    drawn = (luck[:, None] * total[:, -1:] >= total).sum(axis=1)
    place: NDArray[np.int64] = np.where(
        temperature > 0, np.minimum(drawn, scores.shape[1] - 1), greedy
    )
    return place
