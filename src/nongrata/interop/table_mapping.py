"""What the columns of somebody's table mean: the mapping, from a file, options or keywords."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from nongrata.errors import NongrataError
from nongrata.factors import RESERVED_FACTORS
from nongrata.yaml_files import StrictModel, did_you_mean, one_sentence, read_yaml, validate

MOST_OPTIONS = 100
"""Options a question may have: their identities are stored in one byte."""
DEFAULT_FACTOR = "setting"
"""The one factor of a table that names none, or of a wide table without a pattern."""


class TableMapping(StrictModel):
    """Which column holds what; every name is a column's, exactly as in the header.

    Examples
    --------
    >>> mapping = TableMapping(item="id", answer="said", gold="key", factors=["prompt"])
    >>> mapping.columns()
    ('id', 'prompt', 'said', 'key')
    """

    item: tuple[str, ...] = Field(
        default=(), description="The question; several columns are joined with '/'."
    )
    answer: str | None = Field(default=None, description="The answer given.")
    correct: str | None = Field(default=None, description="Whether it is right: 0/1, true/false.")
    gold: str | None = Field(default=None, description="The right answer.")
    persona: str | None = Field(default=None, description="The label or persona.")
    factors: dict[str, str] = Field(
        default_factory=dict, description="Factor -> its column; or a list of columns."
    )
    temperature: str | None = Field(
        default=None, description="The column of the sampling temperature, a factor too."
    )
    replicate: str | None = Field(default=None, description="Which repeat of the same request.")
    model: str | None = Field(default=None, description="The model.")
    cluster: str | None = Field(default=None, description="Questions that belong together.")
    domain: str | None = Field(default=None, description="The field of the question.")
    source: str | None = Field(default=None, description="The data set of the question.")
    controls: tuple[str, ...] = Field(default=(), description="Personas that are controls.")
    options: int | tuple[str, ...] | None = Field(
        default=None, description="How many options a question has, or their labels."
    )
    options_column: str | None = Field(
        default=None, description="The column that says how many options the question has."
    )
    separator: str | None = Field(
        default=None, description="What stands between repeats packed in one cell."
    )
    delimiter: str | None = Field(
        default=None, description="What stands between the cells of a CSV file, if not a comma."
    )
    wide: Literal["items", "configurations"] | None = Field(
        default=None, description="A matrix whose rows are items, or configurations."
    )
    header: str | None = Field(
        default=None, description="How a configuration's name is made: '{persona}/{prompt}'."
    )
    empty: Literal["unparsed", "missing"] | None = Field(
        default=None, description="What an empty answer means."
    )
    missing: tuple[str, ...] = Field(
        default=(), description="Answers that mean: not obtained, such as NA."
    )
    fold_case: bool = Field(default=False, description="Whether 'a' and 'A' are the same answer.")

    @field_validator("item", "controls", "missing", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("factors", mode="before")
    @classmethod
    def _list_of_factors(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = [value]
        if isinstance(value, Sequence):
            if len(set(value)) < len(value):
                raise ValueError("a factor is named twice")
            return {str(name): name for name in value}
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_mapping(self)
        return self

    @property
    def empty_means(self) -> Literal["unparsed", "missing"]:
        """What an empty answer means, by default: no answer in a matrix, else an unread one."""
        return self.empty or ("missing" if self.wide else "unparsed")

    @property
    def value_column(self) -> str | None:
        """The column of the answers; None in a matrix."""
        return self.answer or self.correct

    @property
    def factor_columns(self) -> dict[str, str]:
        """Factor -> column, the temperature's among them."""
        found = dict(self.factors)
        if self.temperature is not None and self.temperature not in found.values():
            found["temperature"] = self.temperature
        return found

    @property
    def temperature_factor(self) -> str | None:
        """The factor whose levels are sampling temperatures."""
        if self.temperature is None:
            return None
        return next((n for n, c in self.factor_columns.items() if c == self.temperature), None)

    def columns(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        single = (self.persona, self.replicate, self.model, self.cluster, self.domain, self.source)
        factors = self.factor_columns.values()
        wanted = [*self.item, *factors, self.value_column, self.gold, self.options_column, *single]
        return tuple(dict.fromkeys(name for name in wanted if name is not None))

    def as_dict(self) -> dict[str, Any]:
        """What was said, without what was not."""
        return self.model_dump(mode="json", exclude_defaults=True)


def check_mapping(mapping: TableMapping) -> None:
    """Refuse a mapping that cannot be meant, whatever the table."""
    for name in mapping.factor_columns:
        if name in RESERVED_FACTORS or not name:
            raise ValueError(
                f"a factor cannot be called '{name}'; give it another name: "
                f"--factor my_{name}=COLUMN, in a file 'factors: {{my_{name}: COLUMN}}'"
            )
    if mapping.wide is None:
        if not mapping.item:
            raise ValueError("no column is the item; say which one: --item COLUMN")
        if (mapping.answer is None) == (mapping.correct is None):
            raise ValueError(
                "one column must hold the answers; say which one: --answer COLUMN with "
                "--gold COLUMN, or --correct COLUMN, not both"
            )
        if mapping.header is not None:
            raise ValueError("'header' splits the names of a matrix; say which kind: --wide items")
    elif mapping.answer is not None or mapping.correct is not None:
        raise ValueError("the cells of a matrix are the answers: leave out 'answer' and 'correct'")
    if mapping.answer is not None and mapping.gold is None:
        raise ValueError("'answer' needs the right answer beside it: --gold COLUMN")
    if mapping.gold is not None and mapping.correct is not None:
        raise ValueError("'gold' goes with 'answer', and 'correct' needs none: leave one out")
    if mapping.wide == "configurations" and mapping.gold is not None:
        raise ValueError(
            "in a matrix whose columns are items there is no place for 'gold': hold 0 and 1 in it, "
            "or turn it: --wide items"
        )
    if mapping.separator == "":
        raise ValueError("the separator is empty; write what stands between repeats, such as '|'")
    if mapping.separator is not None and mapping.replicate is not None:
        raise ValueError("repeats are packed in a cell or have a column: leave one out")
    if mapping.delimiter is not None and (
        len(mapping.delimiter) != 1 or mapping.delimiter in '\r\n"\0'
    ):
        raise ValueError("the delimiter must be one character, such as ';'")
    if isinstance(mapping.options, int) and not 2 <= mapping.options <= MOST_OPTIONS:
        raise ValueError(f"'options' is {mapping.options}; use 2 to {MOST_OPTIONS}")
    if isinstance(mapping.options, tuple):
        _check_labels(mapping.options)


def _check_labels(labels: tuple[str, ...]) -> None:
    if not 2 <= len(set(labels)) <= MOST_OPTIONS or len(set(labels)) < len(labels):
        raise ValueError(
            f"'options' are {', '.join(labels)}; give 2 to {MOST_OPTIONS} different ones"
        )


def read_mapping(path: Path | None, given: Mapping[str, Any]) -> TableMapping:
    """Return the mapping of a file with what was given besides put over it.

    Parameters
    ----------
    path
        A YAML file whose keys are those of `TableMapping`, or None.
    given
        Values by key; None and what is empty count as not given.

    Raises
    ------
    NongrataError
        If a key is unknown, or the mapping cannot be meant.

    Examples
    --------
    >>> read_mapping(None, {"item": "id", "correct": "ok"}).item
    ('id',)
    """
    given = {key: value for key, value in given.items() if value not in (None, (), [], {}, False)}
    if path is None:
        return mapping_from(given)
    document = read_yaml(path)
    if not isinstance(document.data, Mapping):
        raise NongrataError(
            "the file must hold a mapping of keys to columns", where=path, fix="write item: COLUMN"
        )
    unknown = [key for key in document.data if key not in TableMapping.model_fields]
    if not given or unknown:
        return validate(TableMapping, document)
    return mapping_from({**document.data, **given}, where=str(path))


def mapping_from(values: Mapping[str, Any], where: str = "the mapping") -> TableMapping:
    """Return a mapping from plain values; a mistake is one sentence."""
    try:
        return TableMapping.model_validate(dict(values))
    except ValidationError as error:
        raise NongrataError(one_sentence(error), where=where) from None


def find_columns(wanted: Sequence[str], header: Sequence[str], where: str) -> dict[str, int]:
    """Return the place of each column that is wanted.

    Parameters
    ----------
    wanted
        Names.
    header
        The table's names, in order.
    where
        The file, or its first line, for messages.

    Raises
    ------
    NongrataError
        If a column is not there, or two have its name.

    Examples
    --------
    >>> find_columns(["b"], ["a", "b"], "t.csv:1")
    {'b': 1}
    """
    place = {name: i for i, name in reversed(list(enumerate(header)))}
    times = Counter(header)
    for name in wanted:
        if name not in place:
            guess = did_you_mean(name, header[:1000])
            known = ", ".join(repr(column) for column in header[:12])
            more = f" and {len(header) - 12:,} more" if len(header) > 12 else ""
            raise NongrataError(
                f"there is no column '{name:.200}'",
                where=where,
                fix=f"did you mean '{guess}'?" if guess else f"the columns are {known}{more}",
            )
        if times[name] > 1:
            raise NongrataError(
                f"{times[name]} columns are called '{name:.200}'",
                where=where,
                fix="rename all but the one that is meant",
            )
    return {name: place[name] for name in wanted}
