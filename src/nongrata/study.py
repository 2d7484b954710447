"""What is asked: a study as its author declares it.

Factors are open. A study names its factors and their levels; a level may fill prompt slots, set
any setting, and belong to levels of sub-factors. Nothing else in this package knows how many
factors there are or what they are called.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from nongrata.factors import Factor, Level, Settings, Slug
from nongrata.model_specs import ModelSpec, SimulatedSpec
from nongrata.persona_files import load_personas, published_personas
from nongrata.personas import Persona, check_personas
from nongrata.questions.source import SourceSpec
from nongrata.templates import fields_of
from nongrata.yaml_files import Key, Misplaced, StrictModel, did_you_mean, one_sentence


class PromptLayout(StrictModel):
    """Which slots stand in which turn, in order; empty slots leave no trace.

    ``question`` is the question block. Slots named in ``persona_slots`` are left out for the
    control without a persona, whatever their text.
    """

    system: tuple[str, ...] = ("persona_prompt",)
    user: tuple[str, ...] = ("instruction", "reminder", "question")
    prefill: tuple[str, ...] = ()
    persona_slots: tuple[str, ...] = ("persona_prompt", "reminder")
    separator: str = "\n\n"

    @model_validator(mode="after")
    def _question_once(self) -> Self:
        everywhere = [*self.system, *self.user, *self.prefill]
        if self.user.count("question") != 1 or everywhere.count("question") != 1:
            raise ValueError("the slot 'question' must stand once, in the user turn")
        for slot in self.persona_slots:
            if slot not in everywhere or slot == "question":
                guess = did_you_mean(slot, everywhere)
                hint = f"; did you mean '{guess}'?" if guess else ""
                raise Misplaced(f"'{slot}' is no slot of a turn{hint}", ["persona_slots"])
        for twice in {name for name in everywhere if everywhere.count(name) > 1}:
            raise ValueError(f"the slot '{twice}' stands twice in the prompt layout")
        return self

    @property
    def slots(self) -> tuple[str, ...]:
        """Every slot that stands somewhere, except the question."""
        return tuple(
            name for name in (*self.system, *self.user, *self.prefill) if name != "question"
        )


class Personas(StrictModel):
    """Where the labels come from: the published selection, a file, a list, or several of them."""

    preset: Literal["published"] | None = None
    file: Path | None = None
    list: tuple[Persona, ...] = ()
    only: tuple[str, ...] | None = Field(default=None, description="Ids to keep, in this order.")

    def resolve(self, base: Path) -> tuple[Persona, ...]:
        """Return the personas, in the declared order; relative files are relative to `base`."""
        found: list[Persona] = []
        if self.preset == "published":
            found += published_personas()
        if self.file is not None:
            found += load_personas(base / self.file)
        found += self.list
        by_id = {persona.id: persona for persona in found}
        if len(by_id) != len(found):
            ids = [persona.id for persona in found]
            twice = sorted({i for i in ids if ids.count(i) > 1})
            raise ValueError(f"persona ids occur twice: {', '.join(twice)}")
        if self.only is not None:
            for wanted in self.only:
                if wanted not in by_id:
                    guess = did_you_mean(wanted, by_id)
                    hint = f"; did you mean '{guess}'?" if guess else ""
                    raise ValueError(f"there is no persona '{wanted}'{hint}")
            for wanted in self.only:
                if self.only.count(wanted) > 1:
                    raise ValueError(f"the persona '{wanted}' is chosen twice; name it once")
            found = [by_id[wanted] for wanted in self.only]
        if not found:
            raise ValueError("there is no persona; name a preset, a file or a list")
        check_personas(found)
        return tuple(found)


class Questions(StrictModel):
    """The composite: which sources, how many of each, drawn with which seed."""

    sources: tuple[SourceSpec, ...] = Field(min_length=1)
    seed: int = 0
    domains: Path | None = Field(
        default=None, description="A domain mapping of your own, in the published form."
    )

    @model_validator(mode="after")
    def _ids_unique(self) -> Self:
        ids = [source.id for source in self.sources]
        for twice in {i for i in ids if ids.count(i) > 1}:
            raise ValueError(f"two question sources are called '{twice}'")
        return self


class Study(StrictModel):
    """A crossed, persona-conditioned multiple-choice evaluation.

    Examples
    --------
    >>> study = Study.model_validate({
    ...     "nongrata": 1, "name": "tiny", "seed": 1,
    ...     "models": [{"id": "sim", "engine": "simulated"}],
    ...     "questions": {"sources": [{"id": "own", "format": "starter", "take": 3}]},
    ...     "personas": {"preset": "published", "only": ["a-human", "no-persona"]},
    ...     "slots": {"persona_prompt": "You are {persona}.", "instruction": "Pick one.",
    ...               "reminder": ""},
    ...     "factors": [{"name": "temperature", "sets": "temperature", "levels": [0, 1]}],
    ... })
    >>> [level.id for level in study.factors[0].levels]
    ['0', '1']
    """

    nongrata: Literal[1] = Field(description="Version of this file's form.")
    name: Slug
    title: str = ""
    note: str = ""
    seed: int = Field(ge=0, lt=2**63)
    models: tuple[ModelSpec, ...] = Field(min_length=1)
    questions: Questions
    personas: Personas
    prompt: PromptLayout = PromptLayout()
    slots: dict[str, str] = Field(
        default_factory=dict, description="Texts of slots that no factor varies."
    )
    settings: Settings = Settings()
    factors: tuple[Factor, ...] = Field(min_length=1)
    replicates: int = Field(
        default=1, ge=1, le=10_000, description="Repeats of every cell that draws at random."
    )
    repeat_at_zero: bool = Field(
        default=False,
        description="Repeat cells at temperature 0 too, as a check that the engine repeats itself.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _refuse_twice("model", [model.id for model in self.models], "models")
        _refuse_twice("factor", [factor.name for factor in self.factors], "factors")
        self._check_sub_factor_names()
        self._check_slots()
        self._check_one_owner_per_setting()
        self._check_simulated_effects()
        return self

    def _check_sub_factor_names(self) -> None:
        taken = {factor.name for factor in self.factors}
        for f, factor in enumerate(self.factors):
            for name in factor.sub_factors:
                if name in taken:
                    raise Misplaced(
                        f"the name '{name}' is used for two (sub-)factors", ("factors", f)
                    )
                taken.add(name)

    def _check_simulated_effects(self) -> None:
        """Check that every effect of a simulated truth belongs to a factor and a level."""
        levels = {factor.name: [level.id for level in factor.levels] for factor in self.factors}
        for m, spec in enumerate(self.models):
            if not isinstance(spec, SimulatedSpec):
                continue
            for key in ("factor_sd", "factor_effects", "persona_factor_sd"):
                named: dict[str, Any] = getattr(spec, key)
                for name, effects in named.items():
                    _check_known(name, levels, "factor", ("models", m, key, name))
                    if isinstance(effects, dict):
                        for level in effects:
                            at = ("models", m, key, name, level)
                            _check_known(level, levels[name], f"level of '{name}'", at)

    def _check_slots(self) -> None:
        standing = self.prompt.slots
        for slot, text, at in self._slot_texts():
            if slot not in standing:
                guess = did_you_mean(slot, standing)
                hint = f"did you mean '{guess}'?" if guess else f"known: {', '.join(standing)}"
                raise Misplaced(f"the slot '{slot}' stands in no turn of the prompt; {hint}", at)
            try:
                fields = fields_of(text)
            except ValueError as error:
                raise Misplaced(str(error), at) from None
            for name in fields:
                if name != "persona":
                    raise Misplaced(
                        f"the text of slot '{slot}' has the field {{{name}}}; only {{persona}} is "
                        "known there (write {{ and }} for braces)",
                        at,
                    )
                if slot not in self.prompt.persona_slots:
                    raise Misplaced(
                        f"the slot '{slot}' names {{persona}} but is not among "
                        "prompt.persona_slots, so it would be sent without a persona",
                        at,
                    )
        filled = {slot for slot, _, _ in self._slot_texts()}
        for slot in standing:
            if slot not in filled:
                raise Misplaced(
                    f"the slot '{slot}' is filled by no factor and not under slots", ["prompt"]
                )

    def _slot_texts(self) -> Iterator[tuple[str, str, tuple[Key, ...]]]:
        """Every slot text, with its place in the file."""
        for slot, text in self.slots.items():
            yield slot, text, ("slots", slot)
        for f, factor in enumerate(self.factors):
            for i, level in enumerate(factor.levels):
                for slot, text in level.slots.items():
                    yield slot, text, ("factors", f, "levels", i, "slots", slot)

    def _check_one_owner_per_setting(self) -> None:
        owner: dict[str, str] = {}
        for f, factor in enumerate(self.factors):
            keys = {f"setting '{key}'" for level in factor.levels for key in level.set}
            keys |= {f"slot '{key}'" for level in factor.levels for key in level.slots}
            for key in sorted(keys):
                if key in owner:
                    raise Misplaced(
                        f"the {key} is given by two factors, '{owner[key]}' and '{factor.name}'; "
                        "let one of them own it",
                        ("factors", f),
                    )
                owner[key] = factor.name
            for i, level in enumerate(factor.levels):
                missing = sorted(
                    {key for other in factor.levels for key in other.slots} - level.slots.keys()
                )
                if missing and missing[0] not in self.slots:
                    raise Misplaced(
                        f"level '{level.id}' does not fill the slot '{missing[0]}', which other "
                        f"levels of '{factor.name}' fill; give it a text, or an empty one",
                        ("factors", f, "levels", i),
                    )
        self._check_settings()

    def _check_settings(self) -> None:
        """Resolve every configuration, so that a bad value is found before anything runs."""
        for f, factor in enumerate(self.factors):
            for i, level in enumerate(factor.levels):
                try:
                    Settings.model_validate(self.settings.model_dump() | level.set)
                except ValidationError as error:
                    at = ("factors", f, "levels", i)
                    raise Misplaced(one_sentence(error), at) from None
        for configuration in self.configurations():
            try:
                self.resolve(configuration)
            except ValueError as error:
                raise Misplaced(str(error), self._place_of_reading(configuration)) from None

    def _place_of_reading(self, levels: Sequence[Level]) -> tuple[Key, ...]:
        """Where a configuration's reading is set."""
        for f, level in enumerate(levels):
            if "reading" in level.set:
                i = self.factors[f].levels.index(level)
                return ("factors", f, "levels", i, "set", "reading")
        return ("settings", "reading")

    def configurations(self) -> Iterator[tuple[Level, ...]]:
        """Every combination of levels, the last factor varying fastest."""
        return itertools.product(*(factor.levels for factor in self.factors))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(factor.levels) for factor in self.factors)

    def resolve(self, levels: Sequence[Level]) -> tuple[dict[str, str], Settings]:
        """Slot texts and settings of one configuration, nothing left open."""
        slots = dict(self.slots)
        values = self.settings.model_dump()
        for level in levels:
            slots |= level.slots
            values |= level.set
        settings = Settings.model_validate(values)
        if settings.temperature == 0:  # the most probable token is drawn, so nothing is left out
            settings = settings.model_copy(update={"top_k": 0, "top_p": 1.0, "min_p": 0.0})
        return slots, settings


def _refuse_twice(what: str, ids: Sequence[str], key: str) -> None:
    for place, name in enumerate(ids):
        if name in ids[:place]:
            raise Misplaced(f"two {what}s are called '{name}'", (key, place))


def _check_known(name: str, known: Iterable[str], what: str, at: Sequence[Key]) -> None:
    names = list(known)
    if name not in names:
        guess = did_you_mean(name, names)
        hint = f"did you mean '{guess}'?" if guess else f"known: {', '.join(names)}"
        raise Misplaced(f"there is no {what} '{name}'; {hint}", at)
