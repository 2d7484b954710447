"""Parts that all output on a terminal shares: names, numbers, tables and bars.

Names of models, labels, levels and domains come from users' files and are shown through
`nongrata.terminal.visible`, as `rich.text.Text`, so that nothing in them is interpreted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from nongrata.stats.figure import Figure
from nongrata.terminal import visible

PEOPLE = (
    "A label's accuracy is a property of these prompts and this model; "
    "it says nothing about people."
)


@dataclass(frozen=True)
class Bar:
    """A bar of fixed width for a share between 0 and 1."""

    share: float
    width: int = 10

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self.width, self.width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        share = min(max(self.share, 0.0), 1.0) if math.isfinite(self.share) else 0.0
        if options.ascii_only:
            body = "#" * round(share * self.width)
        else:
            eighths = round(share * self.width * 8)
            body = "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
        yield Text(body.ljust(self.width), style="cyan", no_wrap=True)


def shown(text: object) -> str:
    """A text from a file, on one line, with nothing in it that could steer a terminal."""
    return visible(str(text), one_line=True)


def as_name(text: object, style: str = "") -> Text:
    """A name from a file, for a table."""
    return Text(shown(text), style=style, overflow="fold")


def count(n: int, thing: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "label"), count(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def number(figure: Figure, digits: int = 2) -> Text:
    """A figure, or a dash."""
    return Text(f"{figure.value:.{digits}f}") if figure.defined else Text("-", style="dim")


def percent(value: float, digits: int = 1) -> str:
    """A number, or a dash where there is none.

    Examples
    --------
    >>> percent(12.345), percent(float("nan"))
    ('12.3', '-')
    """
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def new_table(title: str) -> Table:
    """An empty table in the common style."""
    return Table(
        title=Text(f"\n{title}", style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
