"""Factors, their levels and the settings they give: in what ways configurations differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from nongrata.templates import fields_of
from nongrata.yaml_files import StrictModel, did_you_mean

Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=80)]
"""A name that is safe in file names, tables and command lines."""

Reading = Literal["first_token", "free", "cloze"]
"""How an answer is read: from the next-token distribution over the labels, from generated text, or
from the likelihood of the options' own texts."""

Scalar = str | int | float | bool
RESERVED_FACTORS = frozenset(
    {
        # names that the labelled answers and the run's tables use themselves
        *("model", "persona", "replicate", "question", "configuration", "skeleton", "reading"),
        *("option", "outcome", "theta", "duplicate", "sampling_temperature"),
        *("final", "final_mass", "shown_option", "shown_place"),
        *("is_control", "persona_group", "answer", "n_options", "domain", "cluster", "source"),
    }
)


def _digit_as_text(value: Any) -> Any:
    return str(value) if value == 1 and not isinstance(value, bool) else value


class Settings(StrictModel):
    """Everything besides text that decides how a prompt is shown and an answer is read.

    Every value is explicit: what a study leaves out has the value written here, and the resolved
    values are stored with the run. A setting is given once for the study, or by one factor.
    """

    temperature: float = Field(default=0.0, ge=0, le=5, description="Sampling temperature.")
    reading: Reading = Field(
        default="free",
        description="first_token: the next-token distribution over the labels, exact at every "
        "temperature from one pass; free: generate text and parse it; cloze: the likelihood of the "
        "options' texts, for models too small for letters.",
    )
    final_letter: Literal["sampled", "distribution"] = Field(
        default="sampled",
        description="With reading: free. distribution: the letter that ends a generated text is "
        "read as a distribution too, by one more pass over the text before it.",
    )
    cloze_format: str = Field(
        default="{choice}",
        description="With reading: cloze. The text whose likelihood is taken, as the answer.",
    )
    cloze_score: Literal["total", "per_token", "per_byte", "corrected"] = Field(
        default="per_byte",
        description="With reading: cloze. The log-likelihood of an option: total; divided by its "
        "tokens or UTF-8 bytes; or corrected, less its log-likelihood without the question.",
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
    labels: Annotated[Literal["A", "a", "1"], BeforeValidator(_digit_as_text)] = Field(
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

    @field_validator("stop")
    @classmethod
    def _stop_is_text(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "" in value:
            raise ValueError("an empty text under stop would end every answer before it begins")
        return value

    @field_validator("choice_format")
    @classmethod
    def _names_label_and_choice(cls, value: str) -> str:
        if sorted(fields_of(value)) != ["choice", "label"]:
            raise ValueError("choice_format must contain {label} and {choice}, once each")
        return value

    @field_validator("cloze_format")
    @classmethod
    def _names_choice(cls, value: str) -> str:
        if list(fields_of(value)) != ["choice"]:
            raise ValueError("cloze_format must contain {choice}, once")
        return value

    @model_validator(mode="after")
    def _shows_question_and_choices(self) -> Self:
        needed = {"question"} if self.reading == "cloze" else {"question", "choices"}
        if not needed <= set(self.layout) or len(set(self.layout)) != len(self.layout):
            raise ValueError(f"layout must name {' and '.join(sorted(needed))}, each part once")
        return self


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
        for name in (self.name, *(sub for level in self.levels for sub in level.sub)):
            if name in RESERVED_FACTORS:
                raise ValueError(f"'{name}' is not a free factor name; choose another")
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
