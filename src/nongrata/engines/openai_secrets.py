"""The key to a server: read from the environment, sent to the server, seen by nobody else."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from nongrata.errors import NongrataError

_MASK = "[key]"
# A shorter one is a placeholder such as "none" or "EMPTY", and may be a word of an answer.
_SECRET_IN_ANSWERS, _SECRET_IN_ERRORS = 16, 6
# Their records may hold a response's headers, in which a server may send the key back.
_LOGGERS = (
    *("openai", "openai._base_client", "httpx", "httpx2"),
    *(f"{core}.{part}" for core in ("httpcore", "httpcore2") for part in (
        "connection", "http11", "http2", "proxy", "socks",
    )),
)  # fmt: skip


class Key:
    """A key, or none.

    Parameters
    ----------
    value
        The key; empty if there is none.

    Examples
    --------
    >>> key = Key("sk-123456")
    >>> key, key.redact("wrong key: sk-123456")
    (Key(***), 'wrong key: [key]')
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    @classmethod
    def read(cls, variable: str | None, where: str) -> Key:
        """Read the key from an environment variable; no variable, no key.

        Parameters
        ----------
        variable
            Its name.
        where
            The place in the study that an error names.
        """
        if variable is None:
            return cls()
        value = os.environ.get(variable, "").strip()
        if not value:
            raise NongrataError(
                f"the environment variable {variable}, which holds the server's key, is not set",
                where=where,
                fix=f"set it: export {variable}=... (the key is never stored)",
            )
        if not value.isascii() or not value.isprintable() or " " in value:
            raise NongrataError(
                f"the environment variable {variable} does not hold a key: it has characters that "
                "cannot be sent",
                where=where,
                fix="copy the key again, without line breaks",
            )
        return cls(value)

    def __repr__(self) -> str:
        return "Key(***)" if self._value else "Key()"

    def __bool__(self) -> bool:
        return bool(self._value)

    def reveal(self) -> str:
        """The key itself, for the one place that sends it."""
        return self._value

    def redact(self, text: str) -> str:
        """The text without the key."""
        if len(self._value) < _SECRET_IN_ERRORS:
            return text
        return text.replace(self._value, _MASK).replace(quote(self._value, safe=""), _MASK)

    def redact_answer(self, body: bytes) -> bytes:
        """A response's body without the key, should a server send it back."""
        if len(self._value) < _SECRET_IN_ANSWERS:
            return body
        return body.replace(self._value.encode(), _MASK.encode())

    @contextmanager
    def kept_out_of_logs(self) -> Iterator[None]:
        """Take the key out of the client libraries' log records, whatever their level."""
        mask = _LogMask(self)
        loggers = [logging.getLogger(name) for name in _LOGGERS] if self._value else []
        for logger in loggers:
            logger.addFilter(mask)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(mask)


class _LogMask(logging.Filter):
    def __init__(self, key: Key) -> None:
        super().__init__()
        self._key = key

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            said = record.getMessage()
        except (TypeError, ValueError):  # a record that could not be printed anyway
            return False
        clean = self._key.redact(said)
        if clean != said:
            record.msg, record.args = clean, ()
        if record.exc_info or record.exc_text:
            # a traceback's text could hold it too, and the record says what happened
            record.exc_info = record.exc_text = None
        return True
