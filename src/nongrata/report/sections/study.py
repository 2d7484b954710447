"""What every section needs to know about a study."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nongrata.report.document.cursor import Cursor


@dataclass(frozen=True)
class Study:
    """The results of a study, as the sections read them.

    Parameters
    ----------
    results
        Their JSON form, from `nongrata.study_results.StudyResults.as_dict`.
    """

    results: dict[str, Any]

    @cached_property
    def top(self) -> Cursor:
        """The whole of them."""
        return Cursor(self.results)

    @cached_property
    def models(self) -> list[str]:
        """Models, in the study's order."""
        return list(self.results["models"])

    @cached_property
    def factors(self) -> list[str]:
        """Factors, in the study's order."""
        return list(self.results["factors"])

    @cached_property
    def personas(self) -> list[str]:
        """Labels and controls, in the study's order."""
        return list(self.results["personas"])

    @cached_property
    def controls(self) -> list[str]:
        """Controls."""
        return list(self.results["controls"])

    @cached_property
    def domains(self) -> list[str]:
        """Domains of the questions."""
        return list(
            dict.fromkeys(
                row["name"]
                for each in self.results["noise"]["models"]
                for row in each["rows"]
                if row["scope"] == "domain"
            )
        )

    def of(self, part: str, model: str) -> Cursor:
        """The part about one model of a result that has ``models``: noise, ranking, findings ..."""
        return self.top[part]["models"].where(model=model)

    def id(self, what: str, model: str = "", *further: str) -> str:
        """An id of letters, digits and hyphens, unique as long as its parts are.

        Examples
        --------
        >>> Study({"models": ["a", "b"]}).id("bump", "b")
        'bump-b'
        """
        parts = [what]
        if model and len(self.models) > 1:
            parts.append(slug(model))
        return "-".join([*parts, *map(slug, further)])


def slug(name: str) -> str:
    """A name as letters, digits and hyphens; what that loses is told apart by a hash.

    Examples
    --------
    >>> slug("a-20-year-old"), slug("<b>")
    ('a-20-year-old', 'b-507c')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    if plain == name:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:4]
    return f"{plain}-{digest}" if plain else digest
