"""A study's name, file and overrides -> everything it declares, resolved."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongrata.errors import NongrataError
from nongrata.model_specs import SimulatedSpec
from nongrata.personas import Persona
from nongrata.presets import PRESETS, preset_document
from nongrata.questions.model import Question, QuestionSet
from nongrata.study import Study
from nongrata.yaml_files import Document, Key, did_you_mean, parse_yaml, read_yaml, validate


@dataclass(frozen=True, slots=True)
class LoadedStudy:
    """A validated study and where it came from.

    Parameters
    ----------
    study
        The study.
    document
        The file it was read from, for messages.
    base
        Folder that relative paths in it start from.
    """

    study: Study
    document: Document
    base: Path

    def personas(self) -> tuple[Persona, ...]:
        """The study's personas, resolved."""
        try:
            found = self.study.personas.resolve(self.base)
        except ValueError as error:
            raise NongrataError(str(error), where=self.document.where(["personas"])) from None
        ids = [persona.id for persona in found]
        for m, spec in enumerate(self.study.models):
            if isinstance(spec, SimulatedSpec):
                for name in spec.persona_effects:
                    if name not in ids:
                        guess = did_you_mean(name, ids)
                        raise NongrataError(
                            f"there is no persona '{name}'",
                            where=self.document.where(["models", m, "persona_effects", name]),
                            fix=f"did you mean '{guess}'?" if guess else None,
                        )
        return found

    def questions_at_hand(self) -> bool:
        """Whether all question files are on this machine."""
        from nongrata.questions.files import at_hand

        return all(at_hand(source, self.base) for source in self.study.questions.sources)

    def questions(self, limit: int | None = None) -> QuestionSet:
        """The study's questions, loaded and drawn; with a limit, only the first of each source."""
        from nongrata.questions.composite import build_questions

        declared = self.study.questions
        try:
            questions = build_questions(
                declared.sources,
                seed=declared.seed,
                base=self.base,
                domains=None if declared.domains is None else self.base / declared.domains,
            )
        except NongrataError as error:
            if error.where is None or not Path(error.where.split(":")[0]).exists():
                error = NongrataError(
                    error.what, where=self.document.where(["questions", "sources"]), fix=error.fix
                )
            raise error from None
        return questions if limit is None else limit_questions(questions, limit)


def load_study(reference: str, overrides: Sequence[str] = ()) -> LoadedStudy:
    """Load a study from a file or a preset's name.

    Parameters
    ----------
    reference
        Path of a YAML file, or the name of a preset.
    overrides
        ``a.b=value`` assignments; list items are named by index, id or name, and values are YAML.

    Examples
    --------
    >>> load_study("paper", ["replicates=5"]).study.replicates
    5
    """
    path = Path(reference)
    if reference in PRESETS and not path.is_file():  # a run's folder may have a preset's name
        document, base = preset_document(reference), Path()
    elif path.exists():
        document, base = read_yaml(path), path.parent
    else:
        guess = did_you_mean(reference, PRESETS)
        raise NongrataError(
            "there is no such file and no such preset",
            where=reference,
            fix=f"did you mean the preset '{guess}'?"
            if guess
            else f"give a study file, or one of the presets {', '.join(PRESETS)}",
        )
    for override in overrides:
        document = _override(document, override)
    return LoadedStudy(validate(Study, document), document, base)


def limit_questions(questions: QuestionSet, limit: int) -> QuestionSet:
    """The first questions of each source in turn, up to `limit`, in their old order."""
    by_source: dict[str, list[Question]] = {}
    for question in questions:
        by_source.setdefault(question.source, []).append(question)
    in_turn = [q for row in itertools.zip_longest(*by_source.values()) for q in row if q]
    kept = {question.id for question in in_turn[:limit]}
    return QuestionSet(tuple(question for question in questions if question.id in kept))


def _override(document: Document, override: str) -> Document:
    """Apply one ``a.b=value`` assignment to a document's data."""
    path_text, equals, value_text = override.partition("=")
    where = f"--set {override}"
    if not equals or not path_text:
        raise NongrataError("an override is written KEY.KEY=VALUE", where=where)
    value = parse_yaml(value_text, where).data
    keys = path_text.split(".")

    place: list[Key] = []

    def assign(node: Any, depth: int) -> Any:
        if depth == len(keys):
            return value
        key = keys[depth]
        place.append(key)
        if isinstance(node, Mapping):
            child = node.get(key, {} if depth + 1 < len(keys) else None)
            return {**node, key: assign(child, depth + 1)}
        if isinstance(node, list):
            index, used = _find(node, keys[depth:], ".".join(keys[:depth]), where)
            place[-1] = index
            return [*node[:index], assign(node[index], depth + used), *node[index + 1 :]]
        if node is None:
            return {key: assign(None, depth + 1)}
        raise NongrataError(
            f"'{'.'.join(keys[:depth])}' is a plain value and has no '{key}'", where=where
        )

    data = assign(document.data, 0)
    overrides = {**document.overrides, tuple(place): where}
    return Document(document.name, data, document.lines, overrides)


def _find(items: list[Any], keys: list[str], above: str, where: str) -> tuple[int, int]:
    """The place of the item that the next keys name, and how many keys its name takes.

    Ids may hold dots (``llama-3.2-1b-instruct``): the longest id that the keys begin with counts.
    """
    key = keys[0]
    names = [
        str(item.get("id", item.get("name", ""))) if isinstance(item, Mapping) else str(item)
        for item in items
    ]
    for used in range(len(keys), 0, -1):
        name = ".".join(keys[:used])
        if name in names:
            return names.index(name), used
    if key.isdigit() and int(key) < len(items):
        return int(key), 1
    guess = did_you_mean(key, names)
    known = [name for name in names if name]
    raise NongrataError(
        f"there is no '{above}.{key}'",
        where=where,
        fix=f"did you mean '{guess}'?" if guess else f"known: {', '.join(known)}",
    )
