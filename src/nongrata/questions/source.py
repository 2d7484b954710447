"""Where questions come from, as a study declares it.

A source names a file form, files or a Hub data set at a pinned commit, and how many questions to
take. It reads nothing: `nongrata.questions.loaders` does.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from nongrata.yaml_files import StrictModel, did_you_mean


class SourceFormat(StrEnum):
    """The forms in which people have these data sets."""

    NORMALISED = "normalised"
    MMLU_HUB = "mmlu_hub"
    MMLU_ORIGINAL = "mmlu_original"
    SOCIALIQA_ORIGINAL = "socialiqa_original"
    SOCIALIQA_HUB = "socialiqa_hub"
    NORMAD_CSV = "normad_csv"
    TABLE = "table"
    STARTER = "starter"


class AnswerForm(StrEnum):
    """How a table states the right answer."""

    INDEX0 = "index0"
    INDEX1 = "index1"
    LETTER = "letter"
    TEXT = "text"


class NormadCondition(StrEnum):
    """What of a NormAd row is told beside its story, most to least general."""

    NONE = "none"
    COUNTRY = "country"
    VALUE = "value"
    RULE_OF_THUMB = "rule_of_thumb"


DATASET_OF_FORMAT = {
    SourceFormat.MMLU_HUB: "mmlu",
    SourceFormat.MMLU_ORIGINAL: "mmlu",
    SourceFormat.SOCIALIQA_ORIGINAL: "socialiqa",
    SourceFormat.SOCIALIQA_HUB: "socialiqa",
    SourceFormat.NORMAD_CSV: "normad_eti",
}
"""The data set a form belongs to: the name under which the domain mapping lists its subjects."""

_COMMIT = re.compile(r"[0-9a-f]{40}")


class HubFiles(StrictModel):
    """Files of a data set on the Hugging Face Hub, at one commit.

    Examples
    --------
    >>> HubFiles(repo="cais/mmlu", revision="c30699e8356da336a370243923dbaf21066bb9fe",
    ...          files=["all/test-00000-of-00001.parquet"]).repo
    'cais/mmlu'
    """

    repo: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$",
            description="Data set, as owner/name.",
        ),
    ]
    revision: str = Field(description="A commit: 40 hexadecimal digits. Branches and tags move.")
    files: tuple[str, ...] = Field(min_length=1, description="Files inside the data set.")

    @field_validator("revision")
    @classmethod
    def _is_a_commit(cls, value: str) -> str:
        if not _COMMIT.fullmatch(value):
            raise ValueError(
                f"the revision '{value}' is not a commit, and a branch or tag can move; give the "
                "40 hexadecimal digits shown in the data set's history"
            )
        return value

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts or "\\" in name:
                raise ValueError(f"'{name}' is not a path inside the data set")
        return value


class Columns(StrictModel):
    """Which column of a table holds what; columns not named here are kept as fields.

    Examples
    --------
    >>> Columns(question="stem", choices=["a", "b"], answer="key").choices
    ('a', 'b')
    """

    question: str
    choices: str | tuple[str, ...] = Field(
        description="One column that holds a list, or one column per choice."
    )
    answer: str
    id: str | None = None
    context: str | None = None
    subject: str | None = None
    cluster: str | None = Field(
        default=None,
        description="Questions with the same text here (a shared passage) form one cluster.",
    )

    @model_validator(mode="after")
    def _each_column_once(self) -> Self:
        if not isinstance(self.choices, str) and len(self.choices) < 2:
            raise ValueError("a question needs at least two choice columns, or one list column")
        named = self.named
        for twice in sorted({name for name in named if named.count(name) > 1}):
            raise ValueError(f"the column '{twice}' is given two meanings")
        return self

    @property
    def choice_columns(self) -> tuple[str, ...]:
        """The choice columns, also where there is one."""
        return (self.choices,) if isinstance(self.choices, str) else self.choices

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that is named here."""
        optional = (self.id, self.context, self.subject, self.cluster)
        return (
            self.question,
            *self.choice_columns,
            self.answer,
            *(name for name in optional if name is not None),
        )


class Where(StrictModel):
    """Which questions of a source to consider, before any are drawn."""

    subject: tuple[str, ...] | None = Field(default=None, description="Keep these subjects.")
    id: tuple[str, ...] | None = Field(default=None, description="Keep these question ids.")


class SourceSpec(StrictModel):
    """One source of questions; in a composite, one stratum.

    Examples
    --------
    >>> SourceSpec(id="mmlu", format="mmlu_hub", path="mmlu/*_test.csv", take=1671).dataset_name
    'mmlu'
    """

    id: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$",
            max_length=80,
            description="Name of the source; ids of its questions begin with it.",
        ),
    ]
    format: SourceFormat = Field(description="The form of the files.")
    path: str | tuple[str, ...] | None = Field(
        default=None,
        description="File, list of files, folder or glob pattern; relative to the study file.",
    )
    hub: HubFiles | None = Field(default=None, description="Files on the Hub, instead of a path.")
    labels: str | None = Field(
        default=None, description="The labels file that belongs to socialiqa_original."
    )
    columns: Columns | None = Field(default=None, description="Column mapping of a table.")
    answer_form: AnswerForm | None = Field(
        default=None, description="How a table states the right answer."
    )
    condition: NormadCondition | None = Field(
        default=None,
        description="NormAd only: what is told beside the story: none, country, value (the country "
        "and the value) or rule_of_thumb.",
    )
    dataset: str | None = Field(
        default=None,
        description="Name under which the domain mapping lists the subjects; follows the format.",
    )
    where: Where = Where()
    take: int | None = Field(
        default=None, ge=1, description="How many questions to draw; left out: all."
    )
    stratify: Literal["subject", "domain", "none"] = Field(
        default="subject", description="Draw in proportion to this grouping."
    )
    mean_chars: float | None = Field(
        default=None,
        gt=0,
        description="Mean length of a question in characters, for plans made without the data.",
    )

    @model_validator(mode="after")
    def _fits_its_format(self) -> Self:
        self._check_origin()
        form = self.format
        if (self.labels is None) == (form is SourceFormat.SOCIALIQA_ORIGINAL):
            raise ValueError(
                "the format socialiqa_original needs 'labels', the file with one of 1, 2, 3 a line"
                if self.labels is None
                else f"'labels' belongs to the format socialiqa_original, not to {form}"
            )
        for key in ("columns", "answer_form"):
            given = getattr(self, key) is not None
            if given != (form is SourceFormat.TABLE):
                raise ValueError(
                    f"'{key}' belongs to the format table, not to {form}"
                    if given
                    else f"the format table needs '{key}'"
                )
        if form is SourceFormat.NORMAD_CSV and self.condition is None:
            raise ValueError(
                "NormAd needs 'condition': none, country, value or rule_of_thumb; a story names "
                "no country, so what is told beside it decides what is measured"
            )
        if self.condition is not None and form not in {
            SourceFormat.NORMAD_CSV,
            SourceFormat.NORMALISED,
        }:
            raise ValueError(f"'condition' belongs to NormAd data, not to the format {form}")
        return self

    def _check_origin(self) -> None:
        if self.format is SourceFormat.STARTER:
            if self.path is not None or self.hub is not None:
                raise ValueError("the starter set comes with the package: give no path and no hub")
        elif (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' or 'hub', and not both")
        if self.path is not None and (not self.path or "" in self.path_list):
            raise ValueError("'path' is empty")

    @property
    def path_list(self) -> tuple[str, ...]:
        """The declared paths, also where there is one or none."""
        if self.path is None:
            return ()
        return (self.path,) if isinstance(self.path, str) else self.path

    @property
    def dataset_name(self) -> str | None:
        """Data set whose subjects these are, if the format or the author says so."""
        return self.dataset or DATASET_OF_FORMAT.get(self.format)


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """Say what a missing name could have meant, or what there is.

    Examples
    --------
    >>> suggestion("answr", ("question", "answer"))
    "did you mean 'answer'?"
    """
    guess = did_you_mean(word, known)
    if guess is not None:
        return f"did you mean '{guess}'?"
    shown = ", ".join(repr(name) for name in known[:12]) + (" ..." if len(known) > 12 else "")
    return f"there is: {shown}" if known else "there is none at all"
