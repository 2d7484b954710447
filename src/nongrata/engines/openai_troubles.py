"""Why a request has no answer yet, and whether asking again can help."""

from __future__ import annotations

import email.utils
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from nongrata.engines.openai_secrets import Key
from nongrata.terminal import shorten

_SHOWN = 300
_BUSY = frozenset({429, 503, 529})
_PASSING = frozenset({408, 409, 425, 429})
_WRONG_KEY, _PAY, _FORBIDDEN, _NOT_FOUND = 401, 402, 403, 404
_REFUSED_PARAMETER = frozenset({"unsupported_parameter", "unknown_parameter", "unsupported_value"})


class MalformedError(ValueError):
    """An answer that cannot be what was asked for: damaged or mixed up, so it is asked for again.

    Where every answer is like that, the server cannot do what is asked: its sentence says so.
    """


class WithheldError(ValueError):
    """An answer that is no answer, and would not be one if it were asked for again."""


class Trouble(Exception):  # noqa: N818
    """Why a request was not answered.

    Parameters
    ----------
    kind
        One word for it, by which troubles are counted: ``"429"``, ``"timeout"``.
    sentence
        What happened, in words that may be shown.
    again
        Whether asking again can help.
    busy
        Whether the server has too much to do.
    wait
        Seconds the server asks to wait.
    stop
        ``"always"`` if no request can be answered any more, ``"at_first"`` if that is so unless one
        was answered before; what to do is in `fix`.
    fix
        What the user can do.
    """

    def __init__(
        self,
        kind: str,
        sentence: str,
        *,
        again: bool = False,
        busy: bool = False,
        wait: float | None = None,
        stop: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(sentence)
        self.kind, self.sentence = kind, sentence
        self.again, self.busy, self.wait = again, busy, wait
        self.stop, self.fix = stop, fix


@dataclass(frozen=True)
class Patience:
    """How often and how long a request is tried.

    Parameters
    ----------
    attempts
        How often at most.
    first_wait
        Seconds before the first repeat; they double, up to `longest_wait`.
    seconds
        How long in all.
    longest_wait
        Longest wait that the server did not ask for.

    Examples
    --------
    >>> patience = Patience(attempts=3, first_wait=1.0, seconds=60.0)
    >>> 0.5 <= patience.wait(1, 0.0, None) <= 1.0
    True
    >>> patience.wait(3, 0.0, None) is None  # the third attempt was the last
    True
    """

    attempts: int
    first_wait: float
    seconds: float
    longest_wait: float = 30.0

    def wait(self, attempt: int, spent: float, asked: float | None) -> float | None:
        """Seconds to wait after a failed attempt; None to give up.

        Parameters
        ----------
        attempt
            Number of the attempt that failed, from 1.
        spent
            Seconds since the first one began.
        asked
            Seconds that the server asks to wait.
        """
        if attempt >= self.attempts:
            return None
        luck = random.random()  # noqa: S311
        if asked is None:
            full = min(self.first_wait * 2.0 ** min(attempt - 1, 30), self.longest_wait)
            seconds = full * (0.5 + luck / 2)
        else:
            # not all at once when the time is up
            seconds = asked + luck * min(self.first_wait, 1.0)
        return seconds if spent + seconds <= self.seconds else None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that a response asks to wait, whether it gives seconds or a date.

    Examples
    --------
    >>> retry_after({"retry-after": "3"})
    3.0
    >>> retry_after({"retry-after": "Fri, 26 Jul 2024 00:00:10 GMT"}, now=1721952000.0)
    10.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers["retry-after"])
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - (time.time() if now is None else now))
    except (KeyError, ValueError, OverflowError):
        return None


def said(body: bytes | str, key: Key) -> str:
    """What an error's body says, in one short line that may be shown and stored.

    Examples
    --------
    >>> said(b'{"error": {"message": "too long", "type": "invalid_request_error"}}', Key())
    'too long'
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        found = _message(json.loads(text))
    except (ValueError, RecursionError):
        found = None
    return shorten(key.redact(found if found is not None else text[:10_000]).strip(), _SHOWN)


def _message(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        for name in ("error", "message", "detail"):
            if value.get(name):
                return _message(value[name]) or str(value[name])
    return None


def _code(body: bytes | str) -> tuple[str, str]:
    """Code and parameter of an error's body, where it has them."""
    try:
        error = json.loads(body)["error"]
        return str(error.get("code") or error.get("type")), str(error.get("param"))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return "", ""


def status_trouble(
    status: int, headers: Mapping[str, str], body: bytes | str, key: Key, variable: str | None
) -> Trouble:
    """What an HTTP status means for the request, and for the run.

    Parameters
    ----------
    status, headers, body
        The response.
    key
        Taken out of what is shown.
    variable
        Environment variable that holds the key.
    """
    sentence = f"the server says {status}: {said(body, key) or 'nothing more'}"
    kind = str(status)
    code, parameter = _code(body)
    if 300 <= status < 400:
        return Trouble(
            kind, f"the server says {status}, that the API is elsewhere", stop="always",
            fix="set base_url to the address where the API is",
        )  # fmt: skip
    if status == _PAY or code == "insufficient_quota":
        return Trouble(
            kind, sentence, stop="always",
            fix="see to the account, then run the same command again; finished answers are kept",
        )  # fmt: skip
    if status in _PASSING or status >= 500:
        return Trouble(kind, sentence, again=True, busy=status in _BUSY, wait=retry_after(headers))
    if status in (_WRONG_KEY, _FORBIDDEN):
        held = f"the key in the environment variable {variable}" if variable else "key_env"
        fix = f"check {held}" if variable else "name the key's environment variable in key_env"
        stop = "always" if status == _WRONG_KEY else "at_first"
        return Trouble(kind, sentence, stop=stop, fix=fix)
    if status == _NOT_FOUND:
        return Trouble(kind, sentence, stop="at_first", fix="check base_url, model and api")
    if code in _REFUSED_PARAMETER:
        return Trouble(
            kind, sentence, stop="at_first",
            fix=f"the server does not take {parameter or 'a parameter'}: see omit, token_limit, "
            "top_logprobs and the study's settings",
        )  # fmt: skip
    return Trouble(kind, sentence)
