"""A model's chat template, rendered so that contents can never become control text.

The template is rendered once with placeholders for the contents. What stands between them is the
template's own text, in which special tokens mean what they say; the contents are put in afterwards
and stay text. So a template cannot trim, escape or branch on a content, an empty system turn is
really sent, and a question that holds ``<|im_end|>`` asks about ``<|im_end|>``.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from jinja2 import TemplateError, meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from nongrata.errors import NongrataError
from nongrata.prompts import Messages

PINNED_DATE = dt.date(2024, 7, 26)
"""The day every template is told it is; the one Llama 3's template names when it has no clock."""

_SWITCHES: Mapping[str, Any] = {"enable_thinking": False, "thinking": False}

SystemRole = Literal["turn", "inside_user_turn", "none"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt.

    Parameters
    ----------
    text
        The piece.
    is_content
        True for what the study says: text and nothing else. False for what the template says:
        special tokens in it are control tokens.
    """

    text: str
    is_content: bool


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """The template's text, cut at the places of the contents (named ``system``, ``user``)."""

    pieces: tuple[str, ...]
    slots: tuple[str, ...]

    def before(self, slot: str) -> str:
        """Everything before a slot, other contents being empty."""
        return "".join(self.pieces[: self.slots.index(slot) + 1])

    def __str__(self) -> str:
        shown = [self.pieces[0]]
        for slot, piece in zip(self.slots, self.pieces[1:], strict=True):
            shown += [f"{{{slot}}}", piece]
        return "".join(shown)


class ChatTemplate:
    r"""A chat template, pinned: no clock, no default text, thinking switched off.

    Parameters
    ----------
    source
        Jinja source, as in a model file. Untrusted: it runs in a sandbox.
    tokens
        Texts of the special tokens by the names templates use: ``{"bos_token": "<s>"}``.

    Examples
    --------
    >>> template = ChatTemplate(
    ...     "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}\n{% endfor %}<|model|>"
    ... )
    >>> from nongrata.prompts import Decoding
    >>> decoding = Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=())
    >>> for segment in template.segments(Messages("", " Hi! ", "", decoding)):
    ...     segment
    Segment(text='<|system|>\n<|user|>', is_content=False)
    Segment(text=' Hi! ', is_content=True)
    Segment(text='\n<|model|>', is_content=False)
    """

    def __init__(self, source: str, tokens: Mapping[str, str] | None = None) -> None:
        self.source = source
        self.sha256 = hashlib.sha256(source.encode("utf-8", errors="surrogateescape")).hexdigest()
        self._tokens = dict(tokens or {})
        self._dates: list[str] = []
        self._environment = _environment(self._strftime)
        try:
            self._template = self._environment.from_string(source)
            asked = meta.find_undeclared_variables(self._environment.parse(source))
        except (TemplateError, RecursionError) as error:
            raise _broken(error) from error
        self.pinned = {name: value for name, value in _SWITCHES.items() if name in asked}
        self._plain = self._skeleton(("user",))
        self._full = self._skeleton_with_system()
        self.system_role: SystemRole = self._find_system_role()
        self.default_system_text = self._find_default_text()

    @property
    def has_system_role(self) -> bool:
        """Whether a system text has a place in this template."""
        return self.system_role != "none"

    @property
    def uses_date(self) -> bool:
        """Whether the template asked for today's date, and got the pinned one."""
        return bool(self._dates)

    def segments(self, messages: Messages) -> list[Segment]:
        """A prompt as template text and contents, in order; empty pieces are left out.

        Raises
        ------
        NongrataError
            If there is a system text, and the template has no place for one.
        """
        if messages.system and not self.has_system_role:
            raise NongrataError(
                "the model's chat template has no system role, and the prompt has a system text",
                fix="set role_placement: user",
            )
        skeleton = self._full if self._sends_system_turn(messages.system) else self._plain
        contents = {"system": messages.system, "user": messages.user}
        pieces = [Segment(skeleton.pieces[0], False)]
        for slot, piece in zip(skeleton.slots, skeleton.pieces[1:], strict=True):
            pieces += [Segment(contents[slot], True), Segment(piece, False)]
        pieces.append(Segment(messages.prefill, True))
        return _joined(pieces)

    def report(self) -> dict[str, Any]:
        """What was found in the template, and what was pinned, as JSON values."""
        bos = self._tokens.get("bos_token", "")
        return {
            "sha256": self.sha256,
            "has_system_role": self.has_system_role,
            "system_role": self.system_role,
            "default_system_text": self.default_system_text,
            "date": PINNED_DATE.isoformat() if self.uses_date else None,
            "date_texts": sorted(set(self._dates)),
            "pinned": dict(self.pinned),
            "bos_in_template": bool(bos) and self._plain.pieces[0].startswith(bos),
            "generation_prompt": self._generation_prompt(),
            "rendered": str(self._full if self.has_system_role else self._plain),
            "rendered_without_system": str(self._plain),
        }

    def _sends_system_turn(self, system: str) -> bool:
        if self.system_role == "turn" or system:
            return self.has_system_role
        # The text would stand in the user's turn: an empty one is sent as nothing, unless the
        # template would then put its own default there.
        return self.system_role == "inside_user_turn" and self.default_system_text is not None

    def _strftime(self, form: str) -> str:
        text = PINNED_DATE.strftime(form)
        self._dates.append(text)
        return text

    def _render(self, messages: list[dict[str, str]], generation_prompt: bool = True) -> str:
        try:
            return self._template.render(
                messages=messages,
                add_generation_prompt=generation_prompt,
                tools=None,
                documents=None,
                **self._tokens,
                **self.pinned,
            )
        except TemplateError:
            raise
        except Exception as error:  # a template can fail in any way a program can
            raise TemplateError(f"{type(error).__name__}: {error}") from error

    def _skeleton(self, roles: tuple[str, ...]) -> _Skeleton:
        """Render with a placeholder for each role's content, and cut the result at them."""
        marks = {role: f"nongrata{self.sha256[:24]}{role}" for role in roles}
        try:
            text = self._render([{"role": role, "content": marks[role]} for role in roles])
        except TemplateError as error:
            raise _broken(error) from error
        for role, mark in marks.items():
            count = text.count(mark)
            if count != 1:
                raise NongrataError(
                    f"the model's chat template shows the {role} text {count} times, not once",
                    fix="use a model file whose chat template can be rendered",
                )
        slots = tuple(sorted(roles, key=lambda role: text.index(marks[role])))
        pieces, rest = [], text
        for slot in slots:
            piece, rest = rest.split(marks[slot])
            pieces.append(piece)
        return _Skeleton((*pieces, rest), slots)

    def _skeleton_with_system(self) -> _Skeleton:
        """The skeleton with a system text; without one if the template refuses or drops it."""
        try:
            return self._skeleton(("system", "user"))
        except NongrataError:
            return self._plain

    def _find_system_role(self) -> SystemRole:
        if "system" not in self._full.slots:
            return "none"
        # Where the user's turn is opened before the system text, that text is part of the turn.
        opened = self._full.before("system").startswith(self._plain.before("user"))
        inside = opened or self._full.slots[0] != "system"
        return "inside_user_turn" if inside else "turn"

    def _find_default_text(self) -> str | None:
        """What the template says before the user without being asked, and would not say to us."""
        if self.system_role == "none":
            return None
        ours, theirs = self._full.before("user"), self._plain.before("user")
        start = _common_prefix(ours, theirs)
        end = _common_prefix(ours[start:][::-1], theirs[start:][::-1])
        return theirs[start : len(theirs) - end] or None

    def _generation_prompt(self) -> str:
        """The text with which the template opens the assistant's turn."""
        messages = [{"role": "user", "content": "x"}]
        with_prompt, without = self._render(messages), self._render(messages, False)
        return with_prompt[len(without) :] if with_prompt.startswith(without) else ""


class _GenerationBlock(Extension):
    """``{% generation %}``: marks the assistant's text for training; here its body is all it is."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment(strftime: Any) -> ImmutableSandboxedEnvironment:
    """The environment templates are written for: that of the transformers library, sandboxed."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlock, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = strftime
    return environment


def _to_json(
    value: Any,
    indent: int | None = None,
    ensure_ascii: bool = False,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        indent=indent,
        ensure_ascii=ensure_ascii,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _broken(error: Exception) -> NongrataError:
    return NongrataError(
        f"the model's chat template cannot be used: {str(error)[:200]!r}",
        fix="use a model file whose chat template can be rendered",
    )


def _common_prefix(a: str, b: str) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _joined(pieces: list[Segment]) -> list[Segment]:
    """Neighbours of one kind made one, empty ones left out."""
    joined: list[Segment] = []
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1].is_content == piece.is_content:
            joined[-1] = Segment(joined[-1].text + piece.text, piece.is_content)
        else:
            joined.append(piece)
    return joined
