"""What is asked: a study as its author declares it.

Factors are open. A study names its factors and their levels; a level may fill prompt slots, set
any setting, and belong to levels of sub-factors. Nothing else in this package knows how many
factors there are or what they are called.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from nongrata.model_specs import ModelSpec
from nongrata.personas import Persona, load_personas, published_personas
from nongrata.questions.source import SourceSpec
from nongrata.templates import fields_of
from nongrata.yaml_files import Key, Misplaced, StrictModel, did_you_mean, one_sentence

Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=80)]
"""A name that is safe in file names, tables and command lines."""

Scalar = str | int | float | bool
RESERVED_FACTORS = frozenset({"model", "persona", "replicate", "question", "configuration"})


class Settings(StrictModel):
    """Everything besides text that decides how a prompt is shown and an answer is read.

    Every value is explicit: what a study leaves out has the value written here, and the resolved
    values are stored with the run. A setting is given once for the study, or by one factor.
    """

    temperature: float = Field(default=0.0, ge=0, le=5, description="Sampling temperature.")
    reading: Literal["first_token", "free"] = Field(
        default="free",
        description="first_token: the next-token distribution over the labels, exact at every "
        "temperature from one pass; free: generate text and parse it.",
    )
    max_tokens: int = Field(default=256, ge=1, le=32_768, description="Longest generated answer.")
    top_k: int = Field(default=0, ge=0, description="Keep the k most probable tokens; 0: all.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Nucleus sampling; 1: off.")
    min_p: float = Field(default=0.0, ge=0, le=1, description="Minimum relative p; 0: off.")
    stop: tuple[str, ...] = Field(default=(), description="Texts that end a generation.")
    role_placement: Literal["system", "user"] = Field(
        default="system",
        description="Whether the system blocks stand in the system turn or before the user turn's "
        "text, for models whose chat template has no system role.",
    )
    labels: Literal["A", "a", "1"] = Field(
        default="A", description="Labels offered: A B C, a b c or 1 2 3."
    )
    choice_format: str = Field(
        default="{label}. {choice}", description="How one option is written."
    )
    choice_order: str = Field(
        default="as_given",
        pattern=r"^(as_given|reversed|shuffled|rotated:[0-9]+)$",
        description="as_given, reversed, rotated:N, or shuffled (once per question, from the "
        "study's seed). An option keeps its identity whatever its place.",
    )
    layout: tuple[Literal["context", "question", "choices"], ...] = Field(
        default=("context", "question", "choices"),
        description="Parts of the question block, one per line group; empty ones are left out.",
    )

    @field_validator("choice_format")
    @classmethod
    def _names_label_and_choice(cls, value: str) -> str:
        if sorted(fields_of(value)) != ["choice", "label"]:
            raise ValueError("choice_format must contain {label} and {choice}, once each")
        return value

    @field_validator("layout")
    @classmethod
    def _shows_question_and_choices(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not {"question", "choices"} <= set(value) or len(set(value)) != len(value):
            raise ValueError("layout must name question and choices, each part once")
        return value


class Level(StrictModel):
    """One level of a factor.

    ``slots`` fills prompt slots with templates, ``set`` gives settings their values, ``sub`` says
    which level of each sub-factor this level has.
    """

    id: Slug
    slots: dict[str, str] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)
    sub: dict[Slug, Slug] = Field(default_factory=dict)
    note: str = ""

    @field_validator("set")
    @classmethod
    def _known_settings(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in value:
            if key not in Settings.model_fields:
                guess = did_you_mean(key, Settings.model_fields)
                hint = f"; did you mean '{guess}'?" if guess else ""
                raise ValueError(f"there is no setting '{key}'{hint}")
        return value


class Factor(StrictModel):
    """A named way in which configurations differ.

    With ``sets: temperature``, plain values may be listed as levels.
    """

    name: Slug
    sets: str | None = Field(
        default=None, description="The setting whose values the plain levels below are."
    )
    levels: tuple[Level, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _expand_plain_levels(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get("levels"), list | tuple):
            return value
        setting = value.get("sets")
        levels = []
        for level in value["levels"]:
            if isinstance(level, Mapping | Level):
                levels.append(level)
            elif setting is None:
                raise ValueError(
                    f"the plain level {level!r} needs 'sets: SETTING' beside 'levels', "
                    "or an id and slots of its own"
                )
            else:
                levels.append({"id": _level_id(level), "set": {setting: level}})
        return {**value, "levels": levels}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.name in RESERVED_FACTORS:
            raise ValueError(f"'{self.name}' is not a free factor name; choose another")
        ids = [level.id for level in self.levels]
        for twice in {i for i in ids if ids.count(i) > 1}:
            raise ValueError(f"factor '{self.name}' has two levels called '{twice}'")
        subs = {tuple(sorted(level.sub)) for level in self.levels}
        if len(subs) > 1:
            raise ValueError(
                f"the levels of factor '{self.name}' name different sub-factors; give each level "
                "all of them"
            )
        return self

    @property
    def sub_factors(self) -> dict[str, tuple[str, ...]]:
        """Sub-factor -> its level for each level of this factor, in order."""
        return {
            name: tuple(level.sub[name] for level in self.levels)
            for name in sorted(self.levels[0].sub)
        }


def _level_id(value: Scalar) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-") or "level"


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
            found = [by_id[wanted] for wanted in self.only]
        if not found:
            raise ValueError("there is no persona; name a preset, a file or a list")
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

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _refuse_twice("model", [model.id for model in self.models])
        _refuse_twice("factor", [factor.name for factor in self.factors])
        self._check_sub_factor_names()
        self._check_slots()
        self._check_one_owner_per_setting()
        return self

    def _check_sub_factor_names(self) -> None:
        taken = {factor.name for factor in self.factors} | RESERVED_FACTORS
        for factor in self.factors:
            for name in factor.sub_factors:
                if name in taken:
                    raise ValueError(f"the name '{name}' is used for two (sub-)factors")
                taken.add(name)

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
            self.resolve(configuration)

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
        if settings.reading == "first_token":
            if settings.temperature > 1:
                raise ValueError(
                    "reading: first_token is computed for temperatures up to 1; use reading: free"
                )
            if settings.top_k or settings.top_p < 1 or settings.min_p:
                raise ValueError(
                    "reading: first_token does not yet apply top_k, top_p or min_p; switch them "
                    "off (0, 1, 0) or use reading: free"
                )
        return slots, settings


def _refuse_twice(what: str, ids: Sequence[str]) -> None:
    for twice in sorted({i for i in ids if ids.count(i) > 1}):
        raise ValueError(f"two {what}s are called '{twice}'")
