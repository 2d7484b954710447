"""YAML in, validated pydantic models out, with mistakes told by file, line and field.

The dialect is YAML 1.2's core schema in what matters here: ``no``, ``yes``, ``on`` and ``off`` are
text, not booleans; dates and sexagesimal numbers stay text; a key given twice is an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from nongrata.errors import NongrataError

MOST_PLACES = 200_000
"""Values a file may hold: an alias of an alias of an alias can stand for billions."""

Key = str | int
Model = TypeVar("Model", bound=BaseModel)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` is most likely a slip for, if any.

    Examples
    --------
    >>> did_you_mean("replicats", ["replicates", "seed"])
    'replicates'
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


_NUMBERS = frozenset({int, float, type(None)})


def _kinds(annotation: Any) -> set[Any]:
    """Types that an annotation allows."""
    return set(get_args(annotation)) or {annotation}


class Misplaced(ValueError):  # noqa: N818
    """A mistake found by looking at several places, told at the one to mend.

    Parameters
    ----------
    what
        The mistake.
    at
        Path of the place, from the model whose validator raises this.
    """

    def __init__(self, what: str, at: Sequence[Key]) -> None:
        super().__init__(what)
        self.at = tuple(at)


class StrictModel(BaseModel):
    """A part of a file a user writes: frozen, and unknown keys are refused with a suggestion."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key in value:
            if key not in known:
                guess = did_you_mean(str(key), known)
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key '{key}'",
                    {"key": str(key), "guess": guess, "known": ", ".join(sorted(known))},
                )
        for name, info in cls.model_fields.items():
            given = value.get(info.alias or name)
            if isinstance(given, bool | str) and _NUMBERS.issuperset(_kinds(info.annotation)):
                raise PydanticCustomError(
                    "not_a_number",
                    "input should be a number (found {given})",
                    {"key": info.alias or name, "given": repr(given)},
                )
        return value


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the implicit types narrowed (see the module)."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
        "-+0123456789.",
    ),
    ("tag:yaml.org,2002:merge", r"^<<$", "<"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


class _Dumper(yaml.SafeDumper):
    """Quotes whatever either dialect, YAML 1.1 or the one above, would not read back as text."""


_Dumper.yaml_implicit_resolvers = {
    first: [*yaml.SafeDumper.yaml_implicit_resolvers.get(first, []), *narrow]
    for first, narrow in _Loader.yaml_implicit_resolvers.items()
} | {
    first: rules
    for first, rules in yaml.SafeDumper.yaml_implicit_resolvers.items()
    if first not in _Loader.yaml_implicit_resolvers
}


def dump_yaml(data: Any) -> str:
    r"""Write plain values as YAML that `parse_yaml` reads back unchanged.

    Examples
    --------
    >>> dump_yaml({"a": "1e5", "b": "no"})
    "a: '1e5'\nb: 'no'\n"
    """
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


def _float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _int)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file that remembers where everything stood.

    Parameters
    ----------
    name
        What to call the file in messages.
    data
        Its content as plain Python values.
    lines
        1-based line of each place, by path: ``("factors", 0, "name")``.
    overrides
        What was put in place of parts of it, by path: ``--set seed=1``.
    """

    name: str
    data: Any
    lines: Mapping[tuple[Key, ...], int]
    overrides: Mapping[tuple[Key, ...], str] = field(default_factory=dict)

    def where(self, path: Sequence[Key]) -> str:
        """Name a place for a message: ``study.yaml:12, factors.0.name``."""
        for place, said in reversed(list(self.overrides.items())):
            # pydantic's own names stand between the keys
            keys = iter(path)
            if all(any(key == other for other in keys) for key in place):
                return said
        known = self._existing(path)
        line = self.lines.get(known, 1)
        field = ".".join(str(key) for key in known)
        return f"{self.name}:{line}" + (f", {field}" if field else "")

    def _existing(self, path: Sequence[Key]) -> tuple[Key, ...]:
        # pydantic puts union tags and function names into its paths; the file has no such places
        found: tuple[Key, ...] = ()
        for key in path:
            if (*found, key) in self.lines:
                found = (*found, key)
        return found


def parse_yaml(text: str, name: str) -> Document:
    r"""Parse YAML text, keeping positions.

    Parameters
    ----------
    text
        The text.
    name
        What to call it in messages, usually the file's path.

    Examples
    --------
    >>> document = parse_yaml("a: no\nb: [1, 2.5]", "x.yaml")
    >>> document.data, document.where(["b", 1])
    ({'a': 'no', 'b': [1, 2.5]}, 'x.yaml:2, b.1')
    """
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        lines: dict[tuple[Key, ...], int] = {(): 1}
        if root is not None:
            _walk(root, (), lines, name)
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise NongrataError(
            f"this is not YAML: {error.problem or error.context}", where=f"{name}:{line}"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NongrataError(f"this is not YAML: {error}".splitlines()[0], where=name) from None
    finally:
        if loader is not None:
            loader.dispose()
    return Document(name, data, lines)


def _walk(
    node: yaml.Node, path: tuple[Key, ...], lines: dict[tuple[Key, ...], int], name: str
) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if len(lines) > MOST_PLACES:
        raise NongrataError(
            f"the file holds more than {MOST_PLACES:,} values",
            where=name,
            fix="if it uses aliases (*name), they multiply; write the values out",
        )
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            line = key_node.start_mark.line + 1
            if key in seen and key != "<<":
                raise NongrataError(
                    f"key '{key}' is given twice (first in line {seen[key]})",
                    where=f"{name}:{line}",
                    fix="keep one of the two",
                )
            seen[key] = line
            lines[(*path, key)] = line
            _walk(value_node, (*path, key), lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, (*path, index), lines, name)


def read_yaml(path: Path) -> Document:
    """Read and parse a YAML file; every failure is one sentence."""
    return parse_yaml(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Read a UTF-8 file, or say in one sentence why it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise NongrataError("there is no such file", where=path) from None
    except IsADirectoryError:
        raise NongrataError("this is a folder, not a file", where=path) from None
    except UnicodeDecodeError as error:
        raise NongrataError(
            f"byte {error.start} is not UTF-8", where=path, fix="save the file as UTF-8"
        ) from None
    except OSError as error:
        raise NongrataError(f"cannot be read: {error.strerror}", where=path) from None


def validate(model: type[Model], document: Document) -> Model:
    """Validate a document; the first mistake becomes one sentence with its place."""
    if not isinstance(document.data, Mapping):
        raise NongrataError(
            "the file must hold a mapping of keys to values",
            where=document.name,
            fix="start from: nongrata init",
        )
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise explain(error, document) from None


def explain(error: ValidationError, document: Document) -> NongrataError:
    """Turn pydantic's error list into one sentence about the first mistake.

    Mistakes in the spelling of keys come first, for they cause others; missing keys come last.
    """
    found = error.errors(include_url=False, include_input=True)
    rank = {"unknown_key": 0, "extra_forbidden": 0, "missing": 2}
    found.sort(key=lambda item: rank.get(item["type"], 1))
    first = found[0]
    context = first.get("ctx") or {}
    path: tuple[Key, ...] = first["loc"]
    fix: str | None = None
    if first["type"] == "unknown_key":
        path = (*path, context["key"])
        guess = context["guess"]
        fix = f"did you mean '{guess}'?" if guess else f"known keys: {context['known']}"
        what = first["msg"]
    elif first["type"] == "not_a_number":
        path, what = (*path, context["key"]), first["msg"]
    elif first["type"] == "extra_forbidden":
        what = f"unknown key '{path[-1]}'"
    elif first["type"] == "missing":
        what = f"the key '{path[-1]}' is missing"
        fix = "add it"
    elif first["type"] in {"value_error", "assertion_error"}:
        cause = context.get("error", first["msg"])
        what = str(cause)
        path = (*path, *getattr(cause, "at", ()))
    else:
        what = _refusal(first)
        fix = _nearest(first)
    return NongrataError(what, where=document.where(path), fix=fix)


def one_sentence(error: ValidationError) -> str:
    """Tell the first mistake of a model that stands in no file of its own.

    Examples
    --------
    >>> class Size(StrictModel):
    ...     width: int
    >>> try:
    ...     Size(width="big")
    ... except ValidationError as error:
    ...     print(one_sentence(error))
    width: input should be a number (found 'big')
    """
    first = error.errors(include_url=False, include_input=True)[0]
    field = ".".join(str(key) for key in first["loc"])
    if first["type"] in {"not_a_number", "unknown_key"}:
        field, said = str((first.get("ctx") or {})["key"]), first["msg"]
    elif first["type"] in {"value_error", "assertion_error"}:
        said = str((first.get("ctx") or {}).get("error", first["msg"]))
    else:
        said = _refusal(first)
    return f"{field}: {said}" if field else said


def _refusal(item: Any) -> str:
    if item["type"] == "union_tag_invalid":
        key = str(item["ctx"]["discriminator"]).strip("'")
        return f"there is no {key} '{item['ctx']['tag']}'"
    given = repr(item["input"])
    shown = given if len(given) <= 60 else given[:57] + "..."
    message = re.sub("[Tt]uple", "list", item["msg"]).replace(" after validation", "")
    return f"{message[0].lower()}{message[1:]} (found {shown})"


def _nearest(item: Any) -> str | None:
    """Say which of the values that are allowed was probably meant."""
    context = item.get("ctx") or {}
    allowed = re.findall(r"'([^']*)'", str(context.get("expected_tags", context.get("expected"))))
    given = context.get("tag", item["input"])
    guess = did_you_mean(given, allowed) if isinstance(given, str) else None
    if guess:
        return f"did you mean '{guess}'?"
    return f"known: {', '.join(allowed)}" if "tag" in context else None
