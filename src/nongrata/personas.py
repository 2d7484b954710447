"""Persona labels: what a prompt attributes to a model, and the controls that attribute nothing.

A label is a text that is put into a prompt. Its scores say how a model answers under that text;
they say nothing about the people the text may name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from pydantic import Field, field_validator, model_validator

from nongrata.yaml_files import (
    StrictModel,
)

_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")
NO_PERSONA_HINT = "write a label, or control=true and no text (null in YAML) for NO PERSONA"


class Persona(StrictModel):
    """A persona label, or a control.

    Examples
    --------
    >>> Persona(id="a-chef", text="a chef").control
    False
    >>> Persona(id="no-persona", text=None, control=True).text is None
    True
    """

    id: str = Field(
        max_length=80,
        description="A slug, unique in a study: lower-case letters, digits, '-', '_' and '.'.",
        json_schema_extra={"pattern": f"^{_ID.pattern}$"},
    )
    text: str | None = Field(
        description="A noun phrase that completes 'You are ...', kept byte for byte; null (only "
        "for a control) means no persona text at all, in any format or reminder."
    )
    group: str = Field(default="", description="What kind of label it is, such as 'religion'.")
    control: bool = Field(
        default=False, description="A baseline; averages over labels leave it out."
    )
    source: str = Field(default="", description="Who published the label.")
    pair: str | None = Field(default=None, description="The id of its opposite.")
    published: str | None = Field(
        default=None, description="The label as published, where the text differs."
    )
    note: str = ""

    @field_validator("id")
    @classmethod
    def _slug(cls, value: str) -> str:
        if not _ID.fullmatch(value):
            raise ValueError(
                f"the id {value!r} is not made of lower-case letters, digits, '-', '_' and '.' "
                "(the first a letter or digit)"
            )
        return value

    @field_validator("text", "group", "source", "published", "note")
    @classmethod
    def _is_unicode(cls, value: str | None) -> str | None:
        if value is not None and any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError(f"the text {value!r} holds half a character (a lone surrogate)")
        return value

    @field_validator("text")
    @classmethod
    def _has_text(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError(f"the text is empty; {NO_PERSONA_HINT}")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.text is None and not self.control:
            raise ValueError(f"there is no text, and this is no control; {NO_PERSONA_HINT}")
        if self.pair == self.id:
            raise ValueError(f"'{self.id}' cannot be the opposite of itself; mend 'pair'")
        return self


def persona_warnings(personas: Iterable[Persona]) -> list[str]:
    """Tell what in the texts is probably not meant; the texts are sent as they are all the same.

    Examples
    --------
    >>> persona_warnings([Persona(id="x", text="a helpful assistant ")])
    ["persona 'x': the text 'a helpful assistant ' begins or ends with white space"]
    """
    return [
        f"persona '{persona.id}': the text {persona.text!r} {fault}"
        for persona in personas
        if persona.text is not None
        for fault in _faults(persona.text)
    ]


def check_personas(personas: Sequence[Persona]) -> None:
    """Refuse personas that would be the same label twice.

    Raises
    ------
    ValueError
        If an id or a text is given twice.
    """
    ids: set[str] = set()
    texts: dict[str | None, str] = {}
    for persona in personas:
        if persona.id in ids:
            raise ValueError(f"the persona '{persona.id}' is given twice")
        if persona.text in texts:
            raise ValueError(
                f"the personas '{texts[persona.text]}' and '{persona.id}' have the same text "
                f"{persona.text!r}; their prompts would be the same"
            )
        ids.add(persona.id)
        texts[persona.text] = persona.id


def _faults(text: str) -> Iterator[str]:
    if text != text.strip():
        yield "begins or ends with white space"
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        yield "holds a line break or another control character"
    if text.rstrip().endswith((".", "!", "?")):
        yield "ends a sentence, which most templates do after it"
    # words in u- are left alone: "a unique", "an uneducated"
    if re.match(r"a\s+(?!one\b|once|eu|ewe)([aeio]|8|1[18]\b)", text.strip(), re.IGNORECASE):
        yield "has the article 'a' where 'an' is usual"
    # so are h- and capitals that may be spelt out: "an hour", "an MRI technician"
    if re.match(r"[Aa]n\s+(?![A-Z]{2})[b-df-gj-np-tv-zB-DF-GJ-NP-TV-Z]", text.strip()):
        yield "has the article 'an' where 'a' is usual"
