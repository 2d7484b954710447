"""The one error a user is meant to read."""

from __future__ import annotations

from pathlib import Path


class NongrataError(Exception):
    """Something the user can mend: what is wrong, where, and what to do.

    The command line prints it as one sentence and exits with status 2, without a traceback.

    Parameters
    ----------
    what
        What is wrong, as a clause without a final full stop.
    where
        File, line and field, as far as they are known: ``"study.yaml:12, factors.0.name"``.
    fix
        What to do about it, as an imperative without a final full stop.

    Examples
    --------
    >>> str(NongrataError("unknown key 'sed'", where="study.yaml:3", fix="write 'seed'"))
    "study.yaml:3: unknown key 'sed'; write 'seed'"
    """

    def __init__(
        self, what: str, *, where: str | Path | None = None, fix: str | None = None
    ) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.fix = fix
        place = f"{self.where}: " if self.where else ""
        remedy = f"; {fix}" if fix else ""
        super().__init__(f"{place}{what}{remedy}")


class MissingExtraError(NongrataError):
    """An optional part is not installed.

    Parameters
    ----------
    extra
        Name of the extra, as in ``pip install 'nongrata[extra]'``.
    needed_for
        What the user asked for that needs it.
    """

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(
            f"{needed_for} needs the extra '{extra}'", fix=f"run: pip install 'nongrata[{extra}]'"
        )
